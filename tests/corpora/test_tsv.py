"""Labelled texts from TSV: categories, what is refused, and the real sets."""

from pathlib import Path

import pytest

from spacy_cnm.corpora.convert import convert
from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.corpora.records import Reason, Record, Rejected
from spacy_cnm.corpora.tsv import read_tsv
from spacy_cnm.errors import CNMError


def read(path: Path, content: str) -> list[Record | Rejected]:
    path.write_text(content, encoding="utf-8")
    return list(read_tsv(path))


def test_every_text_has_every_label(tmp_path: Path) -> None:
    path, target = tmp_path / "a.tsv", tmp_path / "a.spacy"
    path.write_text('label\tid\ttext\n书籍\t1\t 很"好"看\n\n手机\t2\t很快\n', encoding="utf-8")
    convert(read_tsv, path, target)
    first, second = read_docs(target)
    assert (first.text, dict(first.cats)) == ('很"好"看', {"书籍": 1.0, "手机": 0.0})
    assert dict(second.cats) == {"书籍": 0.0, "手机": 1.0}
    assert not first.has_annotation("TAG")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1\t好\t多", Reason.EXTRA_COLUMN),
        ("1", Reason.MISSING_COLUMN),
        (" \t好", Reason.NO_LABEL),
        ("\t", Reason.NO_LABEL),
    ],
)
def test_unusable_rows(tmp_path: Path, line: str, reason: str) -> None:
    bad, good = read(tmp_path / "a.tsv", f"label\ttext\n{line}\n0\t差\n")
    assert isinstance(bad, Rejected)
    assert (bad.finding.reason, bad.finding.place.line) == (reason, 2)
    assert isinstance(good, Record)
    assert good.cats == {"0": 1.0}


def test_text_with_two_labels_stays_and_is_noted(tmp_path: Path) -> None:
    items = read(tmp_path / "a.tsv", "label\ttext\n1\t好\n0\t好\n1\t好\n")
    assert [[f.reason for f in item.notes] for item in items if isinstance(item, Record)] == [
        [],
        [Reason.OTHER_LABEL],
        [],
    ]


def test_missing_column_and_empty_file(tmp_path: Path) -> None:
    with pytest.raises(CNMError, match=r"no column 'label'; it names '标签', 'text'"):
        read(tmp_path / "a.tsv", "标签\ttext\n1\t好\n")
    path = tmp_path / "b.tsv"
    for content in ("", "label\ttext\n"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(CNMError, match="no sentences"):
            convert(read_tsv, path, tmp_path / "b.spacy")


def test_thucnews_titles(shared: Path, tmp_path: Path) -> None:
    path = shared / "corpora/textcat/thucnews_title/test.tsv"
    report, (summary,) = convert(read_tsv, path, tmp_path / "a.spacy")
    assert (report.read, summary.docs, report.dropped.total()) == (10_000, 10_000, 0)
    assert len(summary.cats) == 10
    assert set(summary.cats.values()) == {1000}
