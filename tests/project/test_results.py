"""The page of results says what was measured."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_page_is_made_from_the_metrics(tmp_path):
    out = tmp_path / "results.md"
    command = [sys.executable, "benchmarks/results.py", "metrics/seeds", str(out)]
    subprocess.run(command, check=True, cwd=ROOT)
    assert out.read_text("utf-8") == (ROOT / "docs/results.md").read_text("utf-8")


def test_nothing_measured_is_no_page(tmp_path):
    (tmp_path / "metrics/demo").mkdir(parents=True)
    out = tmp_path / "results.md"
    for content in (None, "", "[]", '{"scores": []}'):
        if content is not None:
            (tmp_path / "metrics/demo/cnm-0.json").write_text(content)
        command = [sys.executable, "benchmarks/results.py", str(tmp_path / "metrics"), str(out)]
        result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        assert result.returncode
        assert "Traceback" not in result.stderr
        assert not out.exists()
