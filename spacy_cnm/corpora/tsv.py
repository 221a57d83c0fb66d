"""Texts with a label: tab-separated values with a header."""

import os
from collections.abc import Iterator

from spacy_cnm.errors import CNMError, Errors

from .records import Finding, Place, Reason, Record, Rejected
from .text_files import read_lines


def read_tsv(
    path: str | os.PathLike[str], text: str = "text", label: str = "label"
) -> Iterator[Record | Rejected]:
    """Read texts with one label each. Every record has all labels of the file, one of them as 1.0.

    Cells are taken as they stand, quotation marks too, but for white space around them. A blank
    line is no row. Of texts that have two labels all rows stay; those with another label than the
    first are noted.

    path: the file.
    text, label: names of the columns.
    YIELDS: for each row its record, or why it cannot be used.
    RAISES: CNMError when the file cannot be read, is not UTF-8 or lacks a column.
    """
    lines = [(i, line) for i, line in enumerate(read_lines(path), start=1) if line.strip(" ")]
    if not lines:
        return
    header = lines[0][1].split("\t")
    for column in (text, label):
        if column not in header:
            names = ", ".join(map(repr, header))
            raise CNMError(Errors.E319.format(path=path, column=column, found=names))
    places = header.index(text), header.index(label)
    rows = [_row(line, len(header), places) for _, line in lines[1:]]
    labels = dict.fromkeys(sorted(row[1] for row in rows if isinstance(row, tuple)), 0.0)
    seen: dict[str, str] = {}
    for (number, _), row in zip(lines[1:], rows, strict=True):
        place = Place(os.fspath(path), number)
        if isinstance(row, str):
            yield Rejected(Finding(row, place))
            continue
        content, name = row
        other = seen.setdefault(content, name) != name
        notes = (Finding(Reason.OTHER_LABEL, place),) if other else ()
        yield Record(content, place, cats={**labels, name: 1.0}, notes=notes)


def _row(line: str, n_columns: int, places: tuple[int, int]) -> tuple[str, str] | str:
    """Text and label of a row, or the reason why there is none."""
    cells = line.split("\t")
    if len(cells) != n_columns:
        return Reason.MISSING_COLUMN if len(cells) < n_columns else Reason.EXTRA_COLUMN
    content, name = (cells[place].strip() for place in places)
    return (content, name) if name else Reason.NO_LABEL
