"""What a reader and the rules leave out: counted, and named with file and line if it is damage."""

from collections import Counter
from dataclasses import dataclass, field

from spacy_cnm.errors import CNMError, Errors

#: How many lines of each kind of damage a report names.
LINES_KEPT = 10


@dataclass
class Report:
    """Counts of one build: normal losses by rule, and damage by reason.

    name (str): name of the source file, for messages.
    lenient (bool): count damage instead of raising at the first one.
    n_lines (int): lines read.
    entries (int): entries read, with and without a usable candidate.
    skipped (Counter): entries that are no ideograph, by reason.
    dropped (Counter): candidates that the rules drop (normal data), by reason.
    damage (Counter): damaged lines or entries, by reason.
    lines (dict): the first line numbers of each kind of damage (1-based).
    """

    name: str
    lenient: bool = False
    n_lines: int = 0
    entries: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    damage: Counter[str] = field(default_factory=Counter)
    lines: dict[str, list[int]] = field(default_factory=dict)

    def damaged(self, line: int, reason: str, detail: str = "") -> None:
        """Note damage in a line.

        line: 1-based line number.
        reason: short and constant, the key of the count.
        detail: what exactly was found there.
        RAISES: CNMError that names file, line and reason, unless the report is lenient.
        """
        if not self.lenient:
            what = f"{reason} ({detail})" if detail else reason
            raise CNMError(Errors.E005.format(name=self.name, line=line, what=what))
        self.damage[reason] += 1
        kept = self.lines.setdefault(reason, [])
        if len(kept) < LINES_KEPT:
            kept.append(line)

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON, in a fixed order."""
        return {
            "entries": self.entries,
            "skipped": dict(sorted(self.skipped.items())),
            "dropped": dict(sorted(self.dropped.items())),
            "damage": {
                reason: {"count": count, "lines": self.lines[reason]}
                for reason, count in sorted(self.damage.items())
            },
        }
