"""What is known of characters: layout, components, strokes. From files that are not IDS.

The four tasks are those of the Chinese Character Dataset (Wu, Stratos and Xu 2025, "The Impact of
Visual Information in Chinese Characters"), as CNM-BERT's paper uses it (section 4.3).
"""

import csv
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import srsly

from spacy_cnm.errors import CNMError, Errors

_Path = str | os.PathLike[str]

#: The eight layouts, in the order of their classes, and the symbols that stand for them in files.
#: Overlaid characters (⿻, such as 巫) belong to none of the eight.
LAYOUTS: dict[str, tuple[str, ...]] = {
    "left-right": ("⿰",),
    "top-bottom": ("⿱",),
    "left-middle-right": ("⿲",),
    "top-middle-bottom": ("⿳",),
    "surround": ("⿴",),
    "half-surround": ("⿵", "⿶", "⿷", "⿸", "⿹", "⿺"),
    "triple": ("品",),
    "single": ("single",),
}
#: Kinds of strokes: 横, 竖, 撇, 点 or 捺, 折 (GB13000.1).
STROKES = "12345"

#: A stroke count from here on is a mistake; U+31350 and the like have up to 84.
MOST_STROKES = 200

_CLASSES = {symbol: i for i, symbols in enumerate(LAYOUTS.values()) for symbol in symbols}
_CLASSES |= {name: i for i, name in enumerate(LAYOUTS)}


@dataclass(frozen=True)
class Labels:
    """What is to be told of one character; None where it is not known.

    layout: index into LAYOUTS.
    components: its parts, each once, in the spelling of the source (氵 is 水 there).
    strokes: how many strokes it has.
    order: the kinds of its strokes, a string of STROKES.
    """

    layout: int | None = None
    components: frozenset[str] | None = None
    strokes: int | None = None
    order: str | None = None


def read_labels(folder: _Path) -> dict[str, Labels]:
    """Read `char_labels.tsv` and `char_similar/char_stroke.json` of a folder.

    The table needs the columns char, structure, total_strokes and stroke_order_12345; the other
    file maps a character to the list of its parts. Characters without a layout are left out.

    RETURNS: character -> labels, in the order of the table.
    RAISES CNMError: a file cannot be read or a value is none of those that are known.
    """
    parts = _read_parts(Path(folder, "char_similar", "char_stroke.json"))
    return dict(_rows(Path(folder, "char_labels.tsv"), parts))


def read_benchmark(path: _Path) -> dict[str, Labels]:
    """Read a benchmark from one table: tab-separated, with a header.

    Columns: character, structure (a name or a symbol of LAYOUTS), radicals (parts, separated by
    spaces), stroke_count, strokes (digits of STROKES). Cells may be empty.

    RETURNS: character -> labels, in the order of the file.
    RAISES CNMError: as `read_labels`.
    """
    names = ("character", "structure", "stroke_count", "strokes")
    found = {}
    for number, row in _table(path, (*names, "radicals")):
        char, *values = (row[name] for name in names)
        parts = frozenset(row["radicals"].split()) or None
        found[char] = _labels(path, number, parts, *values)
    return found


def _rows(path: Path, parts: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, Labels]]:
    names = ("char", "structure", "total_strokes", "stroke_order_12345")
    for number, row in _table(path, names):
        char, *values = (row[name] for name in names)
        if values[0]:
            yield char, _labels(path, number, parts.get(char), *values)


def _labels(
    path: _Path,
    number: int,
    components: frozenset[str] | None,
    structure: str,
    strokes: str,
    order: str,
) -> Labels:
    layout = _CLASSES.get(structure)
    if structure not in ("", "⿻") and layout is None:
        raise _error(path, number, f"structure {structure!r} is none of {', '.join(_CLASSES)}, ⿻")
    if strokes and not (strokes.isdecimal() and 0 < int(strokes) < MOST_STROKES):
        raise _error(path, number, f"{strokes!r} is no number of strokes")
    if set(order) - set(STROKES):
        raise _error(path, number, f"strokes {order!r} are not of the kinds {STROKES}")
    return Labels(layout, components, int(strokes) if strokes else None, order or None)


def _table(path: _Path, columns: tuple[str, ...]) -> Iterator[tuple[int, dict[str, str]]]:
    """Give the rows of a table as number of the line and column -> cell."""
    seen: set[str] = set()
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            for name in columns:
                if name not in (rows.fieldnames or ()):
                    found = ", ".join(map(repr, rows.fieldnames or ())) or "none"
                    raise CNMError(Errors.E319.format(path=path, column=name, found=found))
            for row in rows:
                cells = {name: (row[name] or "").strip() for name in columns}
                char = cells[columns[0]]
                if len(char) != 1:
                    raise _error(path, rows.line_num, f"{char!r} is not one character")
                if char in seen:
                    raise _error(path, rows.line_num, f"{char} stands there for the second time")
                seen.add(char)
                yield rows.line_num, cells
    except (OSError, UnicodeError, csv.Error) as error:
        raise CNMError(Errors.E600.format(path=path, what=error)) from error


def _read_parts(path: Path) -> dict[str, frozenset[str]]:
    try:
        content: Any = srsly.read_json(path)
        return {char: frozenset(parts) for char, parts in content.items() if parts}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise CNMError(Errors.E600.format(path=path, what=error)) from error


def _error(path: _Path, number: int, what: str) -> CNMError:
    return CNMError(Errors.E601.format(path=path, line=number, what=what))
