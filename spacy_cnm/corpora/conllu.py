"""Words and tags from CoNLL-U (https://universaldependencies.org/format.html)."""

import os
from collections.abc import Iterator
from typing import NamedTuple

from .char_bio import sentences
from .records import Finding, Place, Reason, Record, Rejected, Span
from .text_files import read_lines

#: Where a tag may be taken from, and the column.
TAGS = {"upos": 3, "xpos": 4}
_COLUMNS = 10
#: Characters of a word's number at most; Python does not convert numbers of any length.
_LONGEST = 20


class _Row(NamedTuple):
    """A line: words `first` to `last` of the sentence, which are one but for a multi-word token."""

    place: Place
    first: int
    last: int
    form: str
    tag: str


def read_conllu(path: str | os.PathLike[str], tags: str = "upos") -> Iterator[Record | Rejected]:
    """Read the words of a CoNLL-U file.

    The text is that of `# text`, in which the words have to stand one after another; a sentence
    without one is its words without spaces between, as Chinese is written. A multi-word token
    (`3-4`) whose words make up its form is read as these words, any other as one word with the tag
    of its first; an empty node (`5.1`) stands for no characters and is passed over. Both are noted.

    path: the file.
    tags: "upos" or "xpos".
    YIELDS: for each sentence its record, or why it cannot be used.
    RAISES: CNMError when the file cannot be read or is not UTF-8.
    """
    document: str | None = None
    for number, lines in sentences(read_lines(path)):
        text: str | None = None
        rows: list[tuple[Place, str]] = []
        for i, line in enumerate(lines, start=number):
            if not line.startswith("#"):
                rows.append((Place(os.fspath(path), i), line))
            elif line.startswith("# text = "):
                text = line.removeprefix("# text = ")
            elif line.split(" =")[0] in ("# newdoc", "# newdoc id"):
                document = str(i)
        if rows:
            yield _read_sentence(rows, text, TAGS[tags], document)


def _read_sentence(
    lines: list[tuple[Place, str]], text: str | None, column: int, document: str | None
) -> Record | Rejected:
    tokens: list[_Row] = []
    notes: list[Finding] = []
    n_words = covered = 0  # the last word so far, and that of a multi-word token
    for place, line in lines:
        try:
            row = _row(line, place, column)
            if row is None:
                notes.append(Finding(Reason.EMPTY_NODE, place))
                continue
            if row.first != n_words + 1 or (row.last > row.first and row.first <= covered):
                raise ValueError(Reason.BAD_NUMBER)
        except ValueError as error:
            return Rejected(Finding(str(error), place))
        if row.first == row.last:
            n_words += 1
        else:
            covered = row.last
        tokens.append(row)
    if covered > n_words:
        return Rejected(Finding(Reason.BAD_NUMBER, lines[-1][0]))
    if n_words == 0:
        return Rejected(Finding(Reason.EMPTY_TEXT, lines[0][0]))
    units = list(_units(tokens, notes))
    if text is None:
        text = "".join(unit.form for unit in units)
    spans: list[Span] = []
    end = 0
    for unit in units:
        start = text.find(unit.form, end)
        if start < 0 or text[end:start].strip():
            return Rejected(Finding(Reason.WORDS_TEXT, unit.place))
        if unit.tag.strip() in ("", "_"):
            return Rejected(Finding(Reason.BAD_WORD, unit.place))
        end = start + len(unit.form)
        spans.append(Span(start, end, unit.tag))
    if text[end:].strip():
        return Rejected(Finding(Reason.WORDS_TEXT, lines[-1][0]))
    return Record(text, lines[0][0], words=tuple(spans), notes=tuple(notes), document=document)


def _row(line: str, place: Place, column: int) -> _Row | None:
    """Take a line apart; None for an empty node. ValueError carries what is wrong with it."""
    cells = line.split("\t")
    if len(cells) < _COLUMNS or not cells[1]:
        raise ValueError(Reason.MISSING_COLUMN)
    if len(cells) > _COLUMNS:
        raise ValueError(Reason.EXTRA_COLUMN)
    number, form, tag = cells[0], cells[1], cells[column]
    if len(number) > _LONGEST:
        raise ValueError(Reason.BAD_NUMBER)
    if all(part.isdecimal() for part in number.split(".")) and "." in number:
        return None
    first, _, last = number.partition("-")
    if not (first + (last or first)).isdecimal() or (last and int(last) <= int(first)):
        raise ValueError(Reason.BAD_NUMBER)
    return _Row(place, int(first), int(last or first), form, tag)


def _units(tokens: list[_Row], notes: list[Finding]) -> Iterator[_Row]:
    """The words that stand in the text, in order."""
    words = [row for row in tokens if row.first == row.last]
    taken = 0
    for row in tokens:
        if row.first == row.last:
            if row.first > taken:
                yield row
            continue
        members = words[row.first - 1 : row.last]
        taken = row.last
        if "".join(member.form for member in members) == row.form:
            yield from members
        else:
            notes.append(Finding(Reason.MULTI_WORD, row.place))
            yield row._replace(tag=members[0].tag)
