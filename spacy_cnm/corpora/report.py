"""Count what a converter meets, by reason, and refuse a corpus of which too much is unusable."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from spacy_cnm.errors import CNMError, Errors

from .records import Finding, Place, Reason, Record, Rejected, is_doubtful, unusable_reason

#: Share of bad sentences above which a conversion fails.
MAX_BAD = 0.01
#: Share of repaired sentences above which it fails. Repairs lose nothing, so the limit is wider:
#: 1.5 % of Weibo's test sentences need one.
MAX_REPAIRED = 0.05


@dataclass
class Report:
    """The counts of one input file; the unit is the sentence (paragraph, review: one record).

    source: the file, as the user named it.
    format: how it was read, if that was not to be told by its name.
    read: sentences met, usable or not.
    dropped: unusable and not written, by reason.
    doubtful: written, but they look wrong; they count as bad together with the dropped ones.
    repaired: written after a repair; one with two reasons counts for both.
    n_repaired: sentences written after a repair.
    left_out: sound, but not written on purpose (it repeats what is written elsewhere).
    notes: harmless oddities.
    first: for each reason the first place where it was seen.
    """

    source: str
    format: str = ""
    read: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    doubtful: Counter[str] = field(default_factory=Counter)
    repaired: Counter[str] = field(default_factory=Counter)
    n_repaired: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)
    first: dict[str, Place] = field(default_factory=dict)

    def count(self, counter: Counter[str], reason: str, place: Place) -> None:
        """Count one sentence under `reason` in one of the report's own counters."""
        counter[reason] += 1
        self.first.setdefault(reason, place)

    def check(self, max_bad: float = MAX_BAD, max_repaired: float = MAX_REPAIRED) -> None:
        """Fail when too many sentences are bad or repaired.

        max_bad: largest share (0..1) of dropped and doubtful sentences.
        max_repaired: largest share (0..1) of repaired sentences.
        RAISES: CNMError with all reasons, their counts and first places; also for an input
            without any sentence.
        """
        if not self.read:
            raise CNMError(Errors.E304.format(path=self.source))
        bad = self.dropped + self.doubtful
        for counter, count, limit, message in (
            (bad, bad.total(), max_bad, Errors.E305),
            (self.repaired, self.n_repaired, max_repaired, Errors.E306),
        ):
            share = count / self.read
            if share > limit:
                raise CNMError(
                    message.format(
                        path=self.source,
                        count=count,
                        read=self.read,
                        share=share,
                        limit=limit,
                        reasons=self.reasons(counter),
                    )
                )

    def lines(self) -> list[str]:
        """Give the report for people, one line a reason."""
        read_as = f" as {self.format}" if self.format else ""
        lines = [f"{self.source}: {self.read} sentences read{read_as}"]
        for title, counter in self._counters():
            for reason, count in sorted(counter.items()):
                lines.append(f"  {title}: {count} {reason} (first: {self.first[reason]})")
        return lines

    def to_dict(self) -> dict[str, Any]:
        """Give the report for programs; it names files without their folders, so that the same
        input gives the same bytes wherever it lies."""
        counts = {title: dict(sorted(counter.items())) for title, counter in self._counters()}
        first = {
            reason: f"{PurePath(place.path).name}:{place.line}"
            for reason, place in sorted(self.first.items())
        }
        return {
            "source": PurePath(self.source).name,
            "read": self.read,
            "bad_share": round((self.dropped + self.doubtful).total() / max(self.read, 1), 6),
            **counts,
            "first": first,
        }

    def _counters(self) -> list[tuple[str, Counter[str]]]:
        return [
            ("dropped", self.dropped),
            ("doubtful", self.doubtful),
            ("repaired", self.repaired),
            ("left out", self.left_out),
            ("noted", self.notes),
        ]

    def reasons(self, counter: Counter[str]) -> str:
        """Give the reasons of a counter with their first places, the most frequent first."""
        return "; ".join(
            f"{count} {reason} (first: {self.first[reason]})"
            for reason, count in sorted(counter.items(), key=lambda item: (-item[1], item[0]))
        )


def usable(items: Iterable[Record | Rejected], report: Report) -> Iterator[Record]:
    """Pass usable records on in order and count everything that a reader yields.

    A sentence counts once a reason, however often the reason occurs in it.

    items: what a reader yields.
    report: where to count.
    YIELDS: the records that can become documents.
    """
    for item in items:
        report.read += 1
        if isinstance(item, Rejected):
            report.count(report.dropped, item.finding.reason, item.finding.place)
            continue
        reason = unusable_reason(item)
        if reason:
            report.count(report.dropped, reason, item.place)
            continue
        if is_doubtful(item):
            report.count(report.doubtful, Reason.SPAN_PUNCTUATION, item.place)
        report.n_repaired += bool(item.repairs)
        for counter, findings in ((report.repaired, item.repairs), (report.notes, item.notes)):
            for finding in _first_of_each(findings):
                report.count(counter, finding.reason, finding.place)
        yield item


def _first_of_each(findings: Iterable[Finding]) -> Iterator[Finding]:
    seen: set[str] = set()
    for finding in findings:
        if finding.reason not in seen:
            seen.add(finding.reason)
            yield finding
