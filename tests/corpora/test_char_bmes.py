"""BMES and BIOES: the same entities as BIO, and repairs where an entity has no end."""

from pathlib import Path

import pytest

from spacy_cnm.corpora.char_bio import looks_like_bmes, read_char_bio, read_char_bmes
from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.records import Reason, Record, Rejected, Span


def bmes(path: Path, tags: str) -> Record:
    """Read one sentence of as many characters as there are tags."""
    content = "".join(f"{chr(0x4E00 + i)} {tag}\n" for i, tag in enumerate(tags.split()))
    path.write_text(content, encoding="utf-8")
    (item,) = read_char_bmes(path)
    assert isinstance(item, Record)
    return item


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("B-X M-X E-X O S-Y", [(0, 3, "X"), (4, 5, "Y")]),
        ("B-X I-X E-X S-X S-X", [(0, 3, "X"), (3, 4, "X"), (4, 5, "X")]),
        ("B-X E-X B-X E-X", [(0, 2, "X"), (2, 4, "X")]),
        ("O O", []),
    ],
)
def test_whole_entities(tmp_path: Path, tags: str, spans: list[tuple[int, int, str]]) -> None:
    record = bmes(tmp_path / "a.bmes", tags)
    assert record.entities == tuple(Span(*span) for span in spans)
    assert record.repairs == ()


@pytest.mark.parametrize(
    ("tags", "spans", "repairs"),
    [
        ("B-X M-X O", [(0, 2, "X")], [(Reason.OPEN_ENTITY, 3)]),
        ("B-X M-X", [(0, 2, "X")], [(Reason.OPEN_ENTITY, 2)]),
        ("B-X B-X E-X", [(0, 1, "X"), (1, 3, "X")], [(Reason.OPEN_ENTITY, 2)]),
        ("O E-X O", [(1, 2, "X")], [(Reason.ORPHAN, 2)]),
        ("S-X M-X E-X", [(0, 1, "X"), (1, 3, "X")], [(Reason.ORPHAN, 2)]),
        ("E-X E-X", [(0, 1, "X"), (1, 2, "X")], [(Reason.ORPHAN, 1), (Reason.ORPHAN, 2)]),
        ("B-X E-Y", [(0, 1, "X"), (1, 2, "Y")], [(Reason.OPEN_ENTITY, 2), (Reason.ORPHAN, 2)]),
    ],
)
def test_broken_entities_are_kept_and_reported(
    tmp_path: Path,
    tags: str,
    spans: list[tuple[int, int, str]],
    repairs: list[tuple[str, int]],
) -> None:
    record = bmes(tmp_path / "a.bmes", tags)
    assert record.entities == tuple(Span(*span) for span in spans)
    assert [(found.reason, found.place.line) for found in record.repairs] == repairs


def test_auto_tells_by_the_tags(tmp_path: Path) -> None:
    assert looks_like_bmes(["高 B-NAME", "勇 E-NAME"])
    assert not looks_like_bmes(["E O", "王\tB-E-PER", "S-1 O", ""])
    path = tmp_path / "a.txt"
    path.write_text("高 B-NAME\n勇 E-NAME\n\n来 O\n沪 S-LOC\n", encoding="utf-8")
    _, (summary,) = convert_ner(path, tmp_path / "a.spacy")
    assert summary.entities == {"NAME": 1, "LOC": 1}
    (rejected, _) = read_char_bio(path)
    assert isinstance(rejected, Rejected)


def test_same_as_bio_on_the_resume_corpus(shared: Path, tmp_path: Path) -> None:
    """The published files are BMES; the corpora here have been turned into BIO."""
    bio = list(read_char_bio(shared / "corpora/ner/resume/test.bio"))
    path = tmp_path / "test.bmes"
    with path.open("w", encoding="utf-8") as file:
        for item in bio:
            assert isinstance(item, Record)
            tags = ["O"] * len(item.text)
            for span in item.entities or ():
                middle = [f"M-{span.label}"] * (span.end - span.start - 2)
                whole = [f"B-{span.label}", *middle, f"E-{span.label}"]
                short = span.end - span.start == 1
                tags[span.start : span.end] = [f"S-{span.label}"] if short else whole
            file.writelines(f"{char} {tag}\n" for char, tag in zip(item.text, tags, strict=True))
            file.write("\n")
    again = list(read_char_bmes(path))
    assert [(r.text, r.entities, r.repairs) for r in again if isinstance(r, Record)] == [
        (r.text, r.entities, ()) for r in bio if isinstance(r, Record)
    ]
