"""What a killed run left of a file inside of an unfinished one was never cleaned up."""

import subprocess
import sys

from spacy_cnm.files import atomic_path

KILLED = """
import os, signal, sys
from spacy_cnm.files import atomic_path
with atomic_path(sys.argv[1]) as outer, atomic_path(outer) as inner:
    inner.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_next_run_removes_both(tmp_path):
    target = tmp_path / "o.spacy"
    subprocess.run([sys.executable, "-c", KILLED, str(target)], check=False)
    left = sorted(path.name[:9] for path in tmp_path.iterdir())
    assert left == ["..o.spacy", ".o.spacy."]
    with atomic_path(target) as temporary:
        temporary.write_text("whole")
    assert [path.name for path in tmp_path.iterdir()] == ["o.spacy"]
