"""Divide records into train, dev and test: which part each is in, nothing in two, one order."""

import hashlib
from collections.abc import Mapping, Sequence

from .records import Reason, Record
from .sentences import sentence_keys

#: In the order in which a text that several splits claim is given away.
SPLITS = ("test", "dev", "train")
#: Percent of dev and of test; the rest is train.
HELD_OUT = 5
#: Share of the texts that go to the dev set where one is cut from a published train set.
DEV_SHARE = 0.05


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


def place_of_text(text: str) -> float:
    """Give a text a place in [0, 1) by its SHA-256, the same whatever else is in a corpus."""
    return int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big") / 2**64


def deduplicate(
    parts: Mapping[str, Sequence[Record]],
) -> tuple[dict[str, list[Record]], list[tuple[str, Record]]]:
    """Keep each text once, and each sentence in one split only.

    A text stays in test rather than dev, in dev rather than train, and there at its first place. A
    text with a sentence (see `sentences.sentence_keys`) that stands in a split before its own, in
    the order test, dev, train, is left out as a whole.

    parts: split -> records in order.
    RETURNS: split -> records kept, in order; and the records left out, each with its reason.
    """
    owner: dict[str, str] = {}
    taken: set[str] = set()
    kept: dict[str, list[Record]] = {}
    left_out: list[tuple[str, Record]] = []
    for split in SPLITS:
        kept[split] = []
        found: set[str] = set()
        for record in parts.get(split, ()):
            keys = sentence_keys(record.text)
            if record.text in owner:
                same = owner[record.text] == split
                left_out.append((Reason.DUPLICATE if same else Reason.DUPLICATE_ACROSS, record))
            elif not taken.isdisjoint(keys):
                left_out.append((Reason.SHARED_SENTENCE, record))
            else:
                owner[record.text] = split
                kept[split].append(record)
                found |= keys
        taken |= found
    return kept, left_out


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
