"""What both file formats have in common: an entry, the checks of its code point and candidates."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .ideographs import is_ideograph
from .report import Report
from .tree import ARITY, OTHER_OPERATORS, is_component, is_private, measure


@dataclass(frozen=True, slots=True)
class Entry:
    """One ideograph and its candidate sequences.

    character (str): the ideograph.
    sequences (tuple): usable candidates in the order of the file, each well formed over the twelve
        operators.
    line (int): 1-based line number in the file.
    """

    character: str
    sequences: tuple[str, ...]
    line: int


@dataclass
class Source:
    """A file that has been read.

    format (str): "babelstone" or "chise".
    entries (list): its ideographs in the order of the file.
    date (str): date of the data as the file states it (ISO 8601), or "".
    """

    format: str
    entries: list[Entry] = field(default_factory=list)
    date: str = ""


def check_character(code: str, char: str, line: int, report: Report) -> bool:
    """Whether the first two columns name one ideograph; damage and others are noted.

    code: first column, "U+4E00" or "U-00020000".
    char: second column, the character itself.
    """
    digits = code[2:]
    try:
        named = chr(int(digits, 16)) if code[:2] in ("U+", "U-") and digits.isalnum() else None
    except (ValueError, OverflowError):
        named = None
    if named is None:
        report.damaged(line, "first column is not a code point", repr(code[:20]))
    elif named != char:
        report.damaged(line, "code point and character differ", f"{code} and {char[:4]!r}")
    elif not is_ideograph(char):
        report.skipped["not an ideograph"] += 1
    else:
        return True
    return False


def usable(character: str, sequence: str, line: int, report: Report) -> bool:
    """Whether a candidate passes rules 1 and 2 of the canonical choice (appendix B, filter set).

    A candidate with an unknown component, a private-use character or another operator is normal
    data and counts as dropped; a sequence that is not well formed is damage.
    """
    if "？" in sequence:
        report.dropped["unknown component"] += 1
    elif any(char in OTHER_OPERATORS for char in sequence):
        report.dropped["other operator"] += 1
    elif any(map(is_private, sequence)):
        report.dropped["private-use character"] += 1
    elif not all(char in ARITY or is_component(char) for char in sequence):
        report.damaged(line, "not an ideographic description", repr(sequence[:20]))
    elif measure(sequence, {}) < 0:
        report.damaged(line, "unbalanced sequence", repr(sequence[:20]))
    elif character in sequence and sequence != character:
        report.damaged(line, "character is a component of itself", repr(sequence[:20]))
    else:
        return True
    return False


def unique(entries: Iterable[Entry], report: Report) -> list[Entry]:
    """Entries without later ones for the same character, which are damage."""
    first: dict[str, Entry] = {}
    for entry in entries:
        earlier = first.setdefault(entry.character, entry)
        if earlier is not entry:
            where = f"{entry.character} is in line {earlier.line} already"
            report.damaged(entry.line, "duplicate entry", where)
    return list(first.values())
