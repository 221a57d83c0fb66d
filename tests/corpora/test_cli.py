"""`spacy-cnm corpora`, run as a user runs it: the exit status, what is printed, what is written."""

import subprocess
import sys
from pathlib import Path

import pytest

from spacy_cnm.cli import main

SENTENCES = "王\tB-PER\n红\tI-PER\n来\tO\n\n" * 9
ORPHAN = "红\tI-PER\n"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["spacy-cnm", "corpora", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_ner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target = tmp_path / "in.bio", tmp_path / "out" / "train.spacy"
    source.write_text(SENTENCES + ORPHAN, encoding="utf-8")
    assert run(monkeypatch, "ner", source, target) == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert not target.parent.exists()

    text = tmp_path / "texts" / "train.txt"
    options = ["--max-repaired", "0.1", "--text", text]
    assert run(monkeypatch, "ner", source, target, *options) == 0
    assert text.read_text(encoding="utf-8") == "王红来\n" * 9 + "红\n"
    out = capsys.readouterr().out
    assert "10 sentences read" in out
    assert f"repaired: 1 I- (M-, E-) without B- (read as B-) (first: {source}:37)" in out
    assert "10 documents, 28 characters, PER 10" in out
    assert sorted(p.name for p in target.parent.iterdir()) == ["train.report.json", "train.spacy"]


def test_max_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = tmp_path / "in.bio", tmp_path / "out.spacy"
    source.write_text(SENTENCES + "红\n", encoding="utf-8")
    assert run(monkeypatch, "ner", source, target) == 1
    assert run(monkeypatch, "ner", source, target, "--max-bad", "0.1", "--format", "bio") == 0
    assert run(monkeypatch, "ner", source, target, "--max-bad", "1.1") == 2


def test_help_needs_no_spacy() -> None:
    code = (
        "import sys; from spacy_cnm.cli import corpora; "
        "sys.exit(' '.join(m for m in ('spacy', 'torch') if m in sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.strip() == ""
