"""Reader for the CHISE / cjkvi format.

UTF-8, tab-separated: `U+4E0E<TAB>与<TAB>⿹&CDP-8BBF;一[GTKV]<TAB>⿻...[J]`. Comment lines start
with `#` or `;`. A sequence that is the character itself says that it is not decomposed. CHISE's own
files add `@apparent=...` fields and entries for unencoded glyphs.
"""

import os
import re
from collections.abc import Iterator

from .entries import Entry, Source, check_character, unique, usable
from .lines import read_lines
from .report import Report

_SOURCES = re.compile(r"\[[^\[\]]*\]$")
_REFERENCE = re.compile(r"&[^;&]+;")
#: An entity reference, or ③ for any component of three strokes that is not encoded.
_UNENCODED = re.compile(r"&[^;&]+;|[①-⑳]")


def read_chise(path: str | os.PathLike[str], report: Report) -> Source:
    """Read a file in the CHISE / cjkvi format.

    path: the file.
    report: takes counts and damage.
    RETURNS: its ideographs with their usable candidates.
    RAISES: CNMError if the file cannot be read, or from a strict report at the first damage.
    """
    return Source("chise", unique(_entries(path, report), report))


def _entries(path: str | os.PathLike[str], report: Report) -> Iterator[Entry]:
    for line, text in read_lines(path, report):
        if not text.strip() or text[0] in "#;":
            continue
        report.entries += 1
        columns = text.split("\t")
        if len(columns) < 3:
            report.damaged(line, "missing columns", f"{len(columns)} of at least 3")
        elif _REFERENCE.fullmatch(columns[1]):
            report.skipped["unencoded glyph"] += 1
        elif check_character(columns[0], columns[1], line, report):
            yield Entry(columns[1], tuple(_sequences(columns, line, report)), line)


def _sequences(columns: list[str], line: int, report: Report) -> Iterator[str]:
    character = columns[1]
    for text in columns[2:]:
        sequence = _SOURCES.sub("", text.strip())
        if not sequence or sequence[0] in "@*":
            continue
        if _UNENCODED.search(sequence):
            report.dropped["unencoded component"] += 1
        elif usable(character, sequence, line, report):
            yield sequence
