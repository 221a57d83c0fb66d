"""Cut long paragraphs at sentence ends, so that no training document is huge."""

import dataclasses
from collections.abc import Sequence

from .records import Record, Span
from .sentences import sentence_ends

#: Characters that a document should not exceed.
MAX_CHARACTERS = 500


def split_long(record: Record, limit: int = MAX_CHARACTERS) -> list[Record]:
    """Cut a text of more than `limit` characters at sentence ends, losing nothing.

    Pieces are as long as `limit` allows; a single sentence beyond it stays whole. No entity and no
    word is cut. Categories belong to a whole text, so a record with categories is not cut at all.

    record: a usable record.
    limit: in characters.
    RETURNS: the pieces in order; their texts joined are the record's text.
    """
    if len(record.text) <= limit:
        return [record]
    if record.cats is not None:
        return [record]
    cuts = _cuts(record)
    pieces: list[Record] = []
    start = 0
    last = 0
    for cut in [*cuts, len(record.text)]:
        if cut - start > limit and last > start:
            pieces.append(_piece(record, start, last))
            start = last
        last = cut
    pieces.append(_piece(record, start, len(record.text)))
    return pieces


def _cuts(record: Record) -> list[int]:
    """Give the offsets at which the record may be cut."""
    spans = [*(record.entities or ()), *(record.words or ())]
    inside = {i for span in spans for i in range(span.start + 1, span.end)}
    ends = sentence_ends(record.text)
    return [end for end in ends if end not in inside and end < len(record.text)]


def _piece(record: Record, start: int, end: int) -> Record:
    """Take a stretch of a record with the annotations in it."""

    def within(spans: Sequence[Span] | None) -> tuple[Span, ...] | None:
        if spans is None:
            return None
        return tuple(
            dataclasses.replace(span, start=span.start - start, end=span.end - start)
            for span in spans
            if start <= span.start and span.end <= end
        )

    return dataclasses.replace(
        record,
        text=record.text[start:end],
        entities=within(record.entities),
        words=within(record.words),
    )
