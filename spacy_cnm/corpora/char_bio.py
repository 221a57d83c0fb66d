"""Character-level BIO files: one `character<TAB>tag` a line, a blank line between sentences.

A single space instead of the tab is read too. A token may be longer than one code point (an emoji
with joiners). A token may be white space, but a line of nothing but white space ends a sentence.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator

from .records import Finding, Place, Reason, Record, Rejected, Span
from .text_files import read_lines

_TAG = re.compile(r"O|[BI]-\S+")

#: Turns the token of a line into the characters that it stands for, and a reason to note, if any.
#: RAISES: ValueError (with a reason) when it is no such token.
TokenReader = Callable[[str], tuple[str, str | None]]


def read_char_bio(path: str | os.PathLike[str]) -> Iterator[Record | Rejected]:
    """Read a character-level BIO file.

    An `I-x` that does not follow `B-x` or `I-x` begins an entity (as conlleval reads it) and is
    reported as a repair.

    path: the file.
    YIELDS: for each sentence its record, or why it cannot be used.
    RAISES: CNMError when the file cannot be read or is not UTF-8.
    """
    for number, lines in sentences(read_lines(path)):
        yield read_sentence(lines, os.fspath(path), number, lambda token: (token, None))


def sentences(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Cut lines at blank ones.

    YIELDS: the number of the first line (from 1) and the lines of each sentence.
    """
    block: list[str] = []
    first = 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            if not block:
                first = number
            block.append(line)
        elif block:
            yield first, block
            block = []
    if block:
        yield first, block


def read_sentence(
    lines: Iterable[str], path: str, number: int, read_token: TokenReader
) -> Record | Rejected:
    """Read the lines of one sentence.

    lines: `token<TAB>tag` each.
    path, number: the file and the number of the first line, for the report.
    read_token: gives the characters of a token.
    RETURNS: the record, or the first thing that makes the sentence unusable.
    """
    text = ""
    spans: list[Span] = []
    repairs: list[Finding] = []
    notes: list[Finding] = []
    open_label: str | None = None
    for i, line in enumerate(lines):
        place = Place(path, number + i)
        try:
            token, tag = _columns(line)
            characters, note = read_token(token)
        except ValueError as error:
            return Rejected(Finding(str(error), place))
        if note:
            notes.append(Finding(note, place))
        start, text = len(text), text + characters
        label = None if tag == "O" else tag[2:]
        if label is not None:
            continues = tag.startswith("I-")
            if continues and label == open_label:
                spans[-1] = Span(spans[-1].start, len(text), label)
            else:
                if continues:
                    repairs.append(Finding(Reason.ORPHAN, place))
                spans.append(Span(start, len(text), label))
        open_label = label
    place = Place(path, number)
    return Record(text, place, tuple(spans), repairs=tuple(repairs), notes=tuple(notes))


def _columns(line: str) -> tuple[str, str]:
    """Split a line into token and tag; ValueError carries the reason why it cannot be done."""
    separator = "\t" if "\t" in line else " "
    columns = line.split(separator) if separator == "\t" else line.rsplit(separator, 1)
    if len(columns) > 2:
        raise ValueError(Reason.EXTRA_COLUMN)
    if len(columns) < 2 or not columns[0] or not columns[1]:
        raise ValueError(Reason.MISSING_COLUMN)
    token, tag = columns
    if not _TAG.fullmatch(tag):
        raise ValueError(Reason.BAD_TAG)
    return token, tag
