"""A terminal that lacks a character, an argument that is no text, and SIGTERM ended in a mess."""

import signal
import subprocess
import sys

import pytest

MAIN = "import sys; from spacy_cnm.cli import main; "


def run(*arguments, code=MAIN + "main()", encoding="utf-8"):
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        timeout=100,
        env={"PYTHONIOENCODING": encoding, "PYTHONUTF8": "1", "PATH": ""},
    )


def test_what_a_terminal_lacks_is_escaped():
    done = run("ids", "show", "辯", encoding="gbk")
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode("gbk").startswith("辯  U+8FAF  \\u2ff2辛言辛\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ids", "show", b"\xff"], "is no text"),
        (["ids", "show", ""], "nothing to show"),
        (["show", "model", "有", ""], "nothing to show"),
    ],
)
def test_one_line_for_an_argument_that_cannot_be_used(arguments, message):
    done = run(*arguments)
    assert done.returncode == 1
    assert done.stdout == b""
    assert done.stderr.startswith(b"Error: ")
    assert message in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1


def test_sigterm_cleans_up(tmp_path):
    stop = "import os; os.replace = lambda *_: os.kill(os.getpid(), 15); "
    picture = tmp_path / "picture.svg"
    done = run("ids", "show", "辯", "--svg", str(picture), code=stop + MAIN + "main()")
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert done.stderr == b""
    assert list(tmp_path.iterdir()) == []
