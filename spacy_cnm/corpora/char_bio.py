"""Character-level BIO and BMES files: one `character<TAB>tag` a line, a blank line a sentence.

A single space instead of the tab is read too. A token may be longer than one code point (an emoji
with joiners). A token may be white space, but a line of nothing but white space ends a sentence. At
a line whose token is -DOCSTART- a document begins; it is no text.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from .records import Finding, Place, Reason, Record, Rejected, Span
from .text_files import read_lines

DOCUMENT_START = "-DOCSTART-"


@dataclass(frozen=True)
class Scheme:
    """What the letters before the labels of a scheme mean.

    continues: the token goes on with the entity before it.
    ends: it is the last one of its entity; empty where the scheme does not mark the last one.
    letters: all of them.
    """

    letters: str
    continues: str
    ends: str


_LAST_TAG = re.compile(r"[\t ]([BMIES])-\S+$")

BIO = Scheme("BI", continues="I", ends="")
#: BIOES as well: M and I mean the same.
BMES = Scheme("BMIES", continues="MIE", ends="ES")

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
    return read_characters(path, BIO)


def read_char_bmes(path: str | os.PathLike[str]) -> Iterator[Record | Rejected]:
    """Read a character-level BMES or BIOES file, otherwise as `read_char_bio` does.

    An entity that has no last token (E, S) ends where it cannot go on, which is a repair too.
    """
    return read_characters(path, BMES)


def looks_like_bmes(lines: Iterable[str]) -> bool:
    """Tell BMES and BIOES from BIO: there are at least as many tags with M, E, S as with B."""
    letters = Counter(found[1] for line in lines if (found := _LAST_TAG.search(line)))
    return letters["M"] + letters["E"] + letters["S"] >= max(1, letters["B"])


def read_characters(
    path: str | os.PathLike[str],
    scheme: Scheme = BIO,
    token_reader: Callable[[], TokenReader] = lambda: _plain,
) -> Iterator[Record | Rejected]:
    """Read a file of characters with tags.

    path: the file.
    scheme: of the tags.
    token_reader: makes the reader of the tokens of one sentence.
    YIELDS: for each sentence its record, or why it cannot be used.
    """
    document: str | None = None
    for number, lines in sentences(read_lines(path)):
        if is_document_start(lines[0]):
            document = str(number)
        else:
            place = Place(os.fspath(path), number)
            yield _read_sentence(lines, place, scheme, token_reader(), document)


def is_document_start(line: str) -> bool:
    """Tell whether a line says that a document begins: its token is -DOCSTART-."""
    return line.startswith(DOCUMENT_START) and line[len(DOCUMENT_START) :][:1] in ("", " ", "\t")


def sentences(lines: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Cut lines at blank ones, and around those at which a document begins.

    YIELDS: the number of the first line (from 1) and the lines of each sentence.
    """
    block: list[str] = []
    first = 0
    for number, line in enumerate(lines, start=1):
        border = is_document_start(line)
        if block and (border or not line.strip()):
            yield first, block
            block = []
        if border:
            yield number, [line]
        elif line.strip():
            if not block:
                first = number
            block.append(line)
    if block:
        yield first, block


def _plain(token: str) -> tuple[str, str | None]:
    return token, None


def _read_sentence(
    lines: Iterable[str],
    first: Place,
    scheme: Scheme,
    read_token: TokenReader,
    document: str | None,
) -> Record | Rejected:
    """Read the lines of one sentence.

    lines: `token<TAB>tag` each.
    first: the first line, for the report.
    read_token: gives the characters of a token.
    RETURNS: the record, or the first thing that makes the sentence unusable.
    """
    parts: list[str] = []
    end = 0
    spans: list[Span] = []
    repairs: list[Finding] = []
    notes: list[Finding] = []
    place = first
    open_label: str | None = None  # of the entity that the next token may continue
    for number, line in enumerate(lines, start=first.line):
        place = Place(first.path, number)
        try:
            token, tag = _columns(line, scheme)
            characters, note = read_token(token)
        except ValueError as error:
            return Rejected(Finding(str(error), place))
        if note:
            notes.append(Finding(note, place))
        parts.append(characters)
        start, end = end, end + len(characters)
        letter, label = tag[0], tag[2:]
        goes_on = letter in scheme.continues and label == open_label
        if goes_on:
            spans[-1] = Span(spans[-1].start, end, label)
        elif open_label is not None and scheme.ends:
            repairs.append(Finding(Reason.OPEN_ENTITY, place))
        if label and not goes_on:
            spans.append(Span(start, end, label))
            if letter in scheme.continues:
                repairs.append(Finding(Reason.ORPHAN, place))
        open_label = label if label and letter not in scheme.ends else None
    if open_label is not None and scheme.ends:
        repairs.append(Finding(Reason.OPEN_ENTITY, place))
    return Record(
        "".join(parts),
        first,
        tuple(spans),
        repairs=tuple(repairs),
        notes=tuple(notes),
        document=document,
    )


def _columns(line: str, scheme: Scheme) -> tuple[str, str]:
    """Split a line into token and tag; ValueError carries the reason why it cannot be done."""
    separator = "\t" if "\t" in line else " "
    columns = line.split(separator) if separator == "\t" else line.rsplit(separator, 1)
    if len(columns) > 2:
        raise ValueError(Reason.EXTRA_COLUMN)
    if len(columns) < 2 or not columns[0] or not columns[1]:
        raise ValueError(Reason.MISSING_COLUMN)
    token, tag = columns
    if separator == " ":  # one or several; a token may be a blank itself
        token = token.rstrip(" ") or " "
    if tag != "O" and not re.fullmatch(rf"[{scheme.letters}]-\S+", tag):
        raise ValueError(Reason.BAD_TAG)
    return token, tag
