"""Divide records into train, dev and test: which part each is in, no text in two, one order."""

import hashlib
from collections.abc import Mapping, Sequence

from .records import Record

#: In the order in which a text that several splits claim is given away.
SPLITS = ("test", "dev", "train")
#: Percent of dev and of test; the rest is train.
HELD_OUT = 5


def split_of_position(index: int, total: int) -> str:
    """Split by order: the first 90 % are train, the next 5 % dev, the last 5 % test.

    index, total: position of a document (from 0) and number of documents.
    """
    percent = 100 * index // total
    if percent < 100 - 2 * HELD_OUT:
        return "train"
    return "dev" if percent < 100 - HELD_OUT else "test"


def split_of_text(text: str) -> str:
    """Split by content: SHA-256 of the UTF-8 text, modulo 100; 0-4 is test, 5-9 dev, else train.

    The same text lands in the same split whatever else is in the corpus.
    """
    bucket = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big") % 100
    if bucket < HELD_OUT:
        return "test"
    return "dev" if bucket < 2 * HELD_OUT else "train"


def deduplicate(
    parts: Mapping[str, Sequence[Record]],
) -> tuple[dict[str, list[Record]], list[Record], list[Record]]:
    """Keep each exact text once: in test rather than dev, in dev rather than train, and there at
    its first place.

    parts: split -> records in order.
    RETURNS: split -> records kept, in order; the repeats within a split; the repeats of a text that
        another split has.
    """
    owner: dict[str, str] = {}
    kept: dict[str, list[Record]] = {}
    within: list[Record] = []
    across: list[Record] = []
    for split in SPLITS:
        kept[split] = []
        for record in parts.get(split, ()):
            if record.text not in owner:
                owner[record.text] = split
                kept[split].append(record)
            else:
                (within if owner[record.text] == split else across).append(record)
    return kept, within, across


def interleave(sources: Sequence[Sequence[Record]]) -> list[Record]:
    """Mix several lists evenly, each in its own order, so that a reader that does not shuffle meets
    all of them from the start.

    The i-th of n records goes to the relative position (i + 1/2) / n; at the same position the
    earlier list goes first.
    """
    keyed = [
        ((2 * i + 1) / (2 * len(records)), number, i)
        for number, records in enumerate(sources)
        for i in range(len(records))
    ]
    return [sources[number][i] for _, number, i in sorted(keyed)]
