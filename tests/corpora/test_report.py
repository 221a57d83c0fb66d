"""Nothing unusable passes, everything is counted by reason, and too much of it fails."""

import re
from pathlib import Path

import pytest

from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.records import Finding, Place, Reason, Record, Rejected, Span
from spacy_cnm.corpora.report import Report, usable
from spacy_cnm.errors import CNMError

PLACE = Place("x.bio", 7)


def sound(text: str = "王红来沪") -> Record:
    return Record(text, PLACE, entities=(Span(0, 2, "PER", text[:2]),))


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (Record("", PLACE), Reason.EMPTY_TEXT),
        (Record(" \u3000", PLACE), Reason.EMPTY_TEXT),
        (Record("王\x07红", PLACE), Reason.CONTROL_CHARACTER),
        (Record("王红", PLACE, entities=(Span(1, 3, "PER"),)), Reason.SPAN_OUTSIDE),
        (Record("王红", PLACE, entities=(Span(-1, 1, "PER"),)), Reason.SPAN_OUTSIDE),
        (Record("王红", PLACE, entities=(Span(1, 1, "PER"),)), Reason.SPAN_OUTSIDE),
        (Record("我王红", PLACE, entities=(Span(0, 2, "PER", "王红"),)), Reason.SPAN_TEXT),
        (Record("王 红", PLACE, entities=(Span(0, 2, "PER"),)), Reason.SPAN_SPACE),
        (Record("王红来", PLACE, entities=(Span(1, 3, "A"), Span(0, 2, "B"))), Reason.OVERLAP),
        (Record("王红", PLACE, entities=(Span(0, 1, ""),)), Reason.BAD_TAG),
        (Record("a b", PLACE, words=(Span(0, 3, "n"),)), Reason.WORD_SPACE),
    ],
)
def test_unusable_records_are_dropped_by_reason(record: Record, reason: str) -> None:
    report = Report("x.bio")
    assert list(usable([record, sound()], report)) == [sound()]
    assert report.dropped == {reason: 1}
    assert report.read == 2
    assert report.first[reason] == PLACE


def test_tabs_line_breaks_and_joiners_are_text() -> None:
    report = Report("x.bio")
    record = Record("王\t红\r\n👨\u200d👩\ufeff", PLACE, words=(Span(1, 2, "w"),))
    assert list(usable([record], report)) == [record]
    assert not report.dropped


def test_failure_names_reasons_counts_and_places() -> None:
    report = Report("x.bio")
    bad = Rejected(Finding(Reason.BAD_TAG, Place("x.bio", 12)))
    list(usable([sound()] * 97 + [bad, bad, Record("", PLACE)], report))
    report.check(max_bad=0.03)
    with pytest.raises(CNMError, match=r"x\.bio: 3 of 100 .*2 bad tag \(first: x\.bio:12\); 1 em"):
        report.check(max_bad=0.02)


def test_a_sentence_with_two_repairs_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.bmes"
    path.write_text("王 B-PER\n䶮 M-PER\n在 O\n内 M-LOC\n蒙 E-LOC\n", encoding="utf-8")
    report, _ = convert_ner(path, tmp_path / "out.spacy", max_repaired=1.0)
    assert (report.repaired.total(), report.n_repaired, report.read) == (2, 1, 1)
    assert "1 sentences read as bmes" in report.lines()[0]
    with pytest.raises(CNMError, match=r"1 of 1 sentences \(100\.0%\).*; 1 "):
        convert_ner(path, tmp_path / "out.spacy")


def test_why_nothing_can_be_used_is_told_with_any_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.bio"
    path.write_text("王\n红\n", encoding="utf-8")
    with pytest.raises(CNMError, match=r"nothing in it .*1 missing column \(first: .*a\.bio:1\)"):
        convert_ner(path, tmp_path / "out.spacy", max_bad=1.0)


@pytest.mark.parametrize("shift", [-2, -1, 1, 2])
def test_one_sentence_in_five_shifted(tmp_path: Path, shift: int) -> None:
    """Case 13: the tags of every fifth sentence have slipped by one or two characters."""
    rows = ["，王红来沪。", "王红，李明。", "“沪”、王红。", "他说，王红！", "王红（李明）"] * 20
    path = tmp_path / "shifted.bio"
    lines = []
    for i, text in enumerate(rows):
        tags = ["O"] * len(text)
        for name in re.finditer("王红|李明", text):
            tags[name.start() : name.end()] = ["B-PER", "I-PER"]
        if i % 5 == 3:
            tags = (["O"] * shift + tags)[: len(text)] if shift > 0 else tags[-shift:] + ["O"] * 2
        lines += [f"{c}\t{tag}" for c, tag in zip(text, tags, strict=False)] + [""]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(CNMError, match=r"20 of 100 .*20 shifted span: .* \(first: .*bio:2\d\)"):
        convert_ner(path, tmp_path / "out.spacy")
    assert [p.name for p in tmp_path.iterdir()] == ["shifted.bio"]
    report, (summary,) = convert_ner(path, tmp_path / "out.spacy", max_bad=0.2)
    assert report.doubtful == {Reason.SPAN_PUNCTUATION: 20}
    assert summary.docs == 100


def test_many_orphans_fail_too(tmp_path: Path) -> None:
    path = tmp_path / "a.bio"
    path.write_text("王\tB-PER\n红\tI-PER\n\n" * 9 + "红\tI-PER\n来\tO\n", encoding="utf-8")
    with pytest.raises(CNMError, match=r"1 of 10 .*10\.0%.*without B-.*a\.bio:28"):
        convert_ner(path, tmp_path / "out.spacy")
    report, (summary,) = convert_ner(path, tmp_path / "out.spacy", max_repaired=0.1)
    assert report.repaired == {Reason.ORPHAN: 1}
    assert summary.entities == {"PER": 10}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "no sentences"),
        (b"\n \n", "no sentences"),
        ("王\tO\n红\tO\n".encode("gb18030"), r"in\.bio:1: not UTF-8"),
        ("王\tO\n".encode() + b"\xff\tO\n", r"in\.bio:2: not UTF-8"),
        ("王\tO\n".encode("utf-16"), "UTF-16"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary"),
        ("王\n红\n\n".encode() * 9, r"9 of 9 .*9 missing column \(first: .*in\.bio:1\)"),
    ],
)
def test_bad_files_fail_and_leave_nothing(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "in.bio"
    path.write_bytes(data)
    with pytest.raises(CNMError, match=message):
        convert_ner(path, tmp_path / "new" / "out.spacy")
    assert [p.name for p in tmp_path.iterdir()] == ["in.bio"]


def test_missing_file_folder_and_format(tmp_path: Path) -> None:
    with pytest.raises(CNMError, match="cannot be read"):
        convert_ner(tmp_path / "none.bio", tmp_path / "out.spacy")
    with pytest.raises(CNMError, match="cannot be read"):
        convert_ner(tmp_path, tmp_path / "out.spacy")
    path = tmp_path / "a.bio"
    path.write_text("王\tO\n", encoding="utf-8")
    with pytest.raises(CNMError, match="known are: auto, bio, bmes, weibo"):
        convert_ner(path, tmp_path / "out.spacy", format="conll")
    with pytest.raises(CNMError, match="is a folder"):
        convert_ner(path, tmp_path)


@pytest.mark.parametrize("name", ["weibo", "msra", "resume", "cclue", "dvsktt"])
def test_published_corpora_pass(shared: Path, tmp_path: Path, name: str) -> None:
    report, (summary,) = convert_ner(
        shared / "corpora" / "ner" / name / "test.bio", tmp_path / "out.spacy"
    )
    assert summary.docs == report.read
