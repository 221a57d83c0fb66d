"""A full disk ended `new` and `wrap` with a traceback, and `evaluate` with its results lost."""

import resource
import signal
import subprocess
import sys

import pytest
import spacy

from spacy_cnm.cli import main
from spacy_cnm.corpora import docs
from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.records import Place, Record, Span
from spacy_cnm.errors import CNMError


def no_large_files():
    """Let writes of more than 100 kB fail, as on a disk that is nearly full."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))


def test_the_weights_do_not_fit(tmp_path):
    text, out = tmp_path / "text.txt", tmp_path / "encoder"
    text.write_text("今天天气好\n今天", encoding="utf-8")
    command = [sys.executable, "-m", "spacy_cnm", "new", str(text), str(out), "--min-count", "1"]
    done = subprocess.run(command, preexec_fn=no_large_files, capture_output=True, timeout=200)
    assert done.returncode == 1
    error = done.stderr.decode()
    assert error.startswith(f"Error: {out}: cannot be written (")
    assert "File too large" in error
    assert error.count("\n") == 1
    assert list(tmp_path.iterdir()) == [text]


@pytest.mark.parametrize("last", ["write_texts", "write_json"])
def test_a_corpus_and_its_report_stay_together(last, tmp_path, monkeypatch):
    source, target, text = tmp_path / "in.bio", tmp_path / "out.spacy", tmp_path / "out.txt"
    source.write_text("王\tB-PER\n", encoding="utf-8")
    convert_ner(source, target, text=text)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*arguments):
        raise OSError(28, "No space left on device")

    source.write_text("王\tO\n", encoding="utf-8")
    before[source] = source.read_bytes()
    monkeypatch.setattr(f"spacy_cnm.corpora.convert.{last}", full)
    with pytest.raises(CNMError, match="No space left on device"):
        convert_ner(source, target, text=text)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_the_file_that_does_not_fit_is_named(tmp_path):
    source, target = tmp_path / "in.bio", tmp_path / "out.spacy"
    source.write_text("王\tB-PER\n", encoding="utf-8")
    with pytest.raises(CNMError, match=r"^/dev/full: cannot be written \(No space left"):
        convert_ner(source, target, text="/dev/full")
    assert list(tmp_path.iterdir()) == [source]


def test_results_are_shown_before_they_are_written(tmp_path, monkeypatch, capsys):
    model, test, out = tmp_path / "model", tmp_path / "test.spacy", tmp_path / "out.json"
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "LOC", "pattern": "北京"}])
    nlp.to_disk(model)
    docs.write_docs([Record("北京", Place("x", 1), entities=(Span(0, 2, "LOC"),))], test)

    def full(*arguments):
        raise OSError(28, "No space left on device", "hidden temporary")

    monkeypatch.setattr("os.replace", full)
    monkeypatch.setattr(sys, "argv", ["spacy-cnm", "evaluate", *map(str, (model, test, out))])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    shown = capsys.readouterr()
    assert "entities" in shown.out
    assert shown.err.startswith(f"Error: {out}: cannot be written (No space left on device).")
    assert "hidden" not in shown.err
    assert sorted(tmp_path.iterdir()) == [model, test]
