"""Sentences of one document as one record."""

import dataclasses
from collections.abc import Sequence
from itertools import accumulate, groupby

from spacy_cnm.errors import CNMError, Errors

from .records import MAX_LENGTH, Record, Span


def join_documents(records: Sequence[Record], source: str) -> list[Record]:
    """Join neighbouring records of the same document. Nothing is put between their texts.

    records: usable records in order; an annotation that one of a document lacks, the whole lacks.
    source: the file they come from, for the error.
    RETURNS: a record a document, with the starts of its sentences.
    RAISES: CNMError when the records do not say which document they are of, or when a document is
        longer than spaCy takes.
    """
    if all(record.document is None for record in records):
        raise CNMError(Errors.E318.format(path=source))
    groups = groupby(records, key=lambda record: record.document)
    joined = [_join(list(group)) for _, group in groups]
    for record in joined:
        if (length := len(record.text)) > MAX_LENGTH:
            place = record.place
            raise CNMError(Errors.E324.format(place=place, length=length, limit=MAX_LENGTH))
    return joined


def _join(records: list[Record]) -> Record:
    starts = list(accumulate((len(record.text) for record in records), initial=0))

    def together(parts: list[tuple[Span, ...] | None]) -> tuple[Span, ...] | None:
        if any(part is None for part in parts):
            return None
        return tuple(
            dataclasses.replace(span, start=span.start + start, end=span.end + start)
            for part, start in zip(parts, starts, strict=False)
            for span in part or ()
        )

    return dataclasses.replace(
        records[0],
        text="".join(record.text for record in records),
        entities=together([record.entities for record in records]),
        words=together([record.words for record in records]),
        sentences=tuple(starts[:-1]),
    )
