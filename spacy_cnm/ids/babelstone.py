"""Reader for BabelStone `IDS.TXT`.

UTF-8, tab-separated: `U+4E15<TAB>丕<TAB>^⿱不一$(GHTJKPV)`, further candidates, notes that start
with `*`. Comment lines start with `#`; some of them define the numbered components `{n}`. The
header states the number of entries, the last line is `# END`.
"""

import os
import re
from collections.abc import Iterator

from .entries import Entry, Source, check_character, unique, usable
from .lines import read_lines
from .report import Report

_FRAGMENT = re.compile(r"#\t\{(\d+)\}\t?(.*)")
_TOTAL = re.compile(r"# Total entries: (\d[\d,]{0,15})")
_DATE = re.compile(r"# File Date: (\d{4}-\d{2}-\d{2})")
_CANDIDATE = re.compile(r"\^([^$^]+)\$(?:\([^()]*\))?")
_NUMBERED = re.compile(r"\{(\d+)\}")

#: A fragment may hold fragments; no real one nests deeper than two.
_MAX_NESTING = 16


def read_babelstone(path: str | os.PathLike[str], report: Report) -> Source:
    """Read a file in BabelStone's format.

    path: the file.
    report: takes counts and damage.
    RETURNS: its ideographs with their usable candidates.
    RAISES: CNMError if the file cannot be read, or from a strict report at the first damage.
    """
    reader = _Reader(report)
    source = Source("babelstone")
    source.entries = unique(reader.entries(path), report)
    reader.check_end()
    source.date = reader.date
    return source


class _Reader:
    """State of one pass over a file: its header and where it stands."""

    def __init__(self, report: Report) -> None:
        self.report = report
        self.fragments: dict[str, str] = {}
        self.date = ""
        self.total: int | None = None
        self.ended = False
        self.line = 0

    def entries(self, path: str | os.PathLike[str]) -> Iterator[Entry]:
        for line, text in read_lines(path, self.report):
            self.line = line
            if text.startswith("#"):
                self.comment(text)
            elif text.strip():
                self.report.entries += 1
                if self.ended:
                    self.report.damaged(self.line, "entry after the end mark")
                elif (entry := self.entry(text)) is not None:
                    yield entry

    def comment(self, text: str) -> None:
        if match := _FRAGMENT.match(text):
            number, rest = match.groups()
            columns = rest.split("\t")
            self.fragments[number] = columns[-1] if len(columns) > 1 else ""
        elif match := _TOTAL.match(text):
            self.total = int(match[1].replace(",", ""))
        elif match := _DATE.match(text):
            self.date = match[1]
        elif text.rstrip() == "# END":
            self.ended = True

    def entry(self, text: str) -> Entry | None:
        columns = text.split("\t")
        if len(columns) < 3:
            self.report.damaged(self.line, "missing columns", f"{len(columns)} of at least 3")
            return None
        code, char, *fields = columns
        if not check_character(code, char, self.line, self.report):
            return None
        sequences = [self.candidate(char, text) for text in fields if text and text[0] != "*"]
        return Entry(char, tuple(filter(None, sequences)), self.line)

    def candidate(self, char: str, text: str) -> str | None:
        """The sequence in a field, numbered components replaced; None if it is not usable."""
        match = _CANDIDATE.fullmatch(text.rstrip())
        if match is None:
            self.report.damaged(self.line, "field is neither ^sequence$ nor note", repr(text[:20]))
            return None
        sequence = self.replace(match[1])
        if sequence is None or not usable(char, sequence, self.line, self.report):
            return None
        return sequence

    def replace(self, sequence: str) -> str | None:
        """Replace `{n}` by the header's fragments; None if one is empty, undefined or circular."""
        for _ in range(_MAX_NESTING):
            numbers = _NUMBERED.findall(sequence)
            if not numbers:
                return sequence
            for number in numbers:
                if number not in self.fragments:
                    self.report.damaged(self.line, "undefined component", f"{{{number}}}")
                    return None
                if not self.fragments[number]:
                    self.report.dropped["component without a fragment"] += 1
                    return None
            sequence = _NUMBERED.sub(lambda match: self.fragments[match[1]], sequence)
            if len(sequence) > 10_000:  # fragments that double each other grow without end
                break
        self.report.damaged(self.line, "numbered components without end", repr(sequence[:20]))
        return None

    def check_end(self) -> None:
        """A header with a total promises that many entries and an end mark: less is a cut file."""
        if self.total is None:
            return
        read = self.report.entries
        if read != self.total:
            what = f"header promises {self.total:,} entries, found {read:,}"
            self.report.damaged(self.line, "cut-off file", what)
        elif not self.ended:
            self.report.damaged(self.line, "cut-off file", "the end mark '# END' is missing")
