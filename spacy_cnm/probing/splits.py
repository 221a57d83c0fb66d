"""Which characters a probe learns from, and which it is asked about."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

from spacy_cnm.corpora.text_files import read_lines
from spacy_cnm.errors import CNMError, Errors

from .labels import Labels

#: Share of the characters that are for dev, and for test.
DEV_SHARE, TEST_SHARE = 0.1, 0.2
#: Name of the split by frequency.
LONG_TAIL = "long-tail"


@dataclass(frozen=True)
class Split:
    """Characters to learn from, to choose by, and to be asked about; no two of them share one."""

    name: str
    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that no character is in two parts."""
        parts = [set(self.train), set(self.dev), set(self.test)]
        for a, b in combinations(parts, 2):
            if shared := a & b:
                raise CNMError(Errors.E602.format(name=self.name, chars="".join(sorted(shared))))


def of_one_size(splits: Iterable[Split]) -> list[Split]:
    """Give splits with as many characters to learn from as the smallest has, without empty ones.

    What differs between their scores is then the kind of split and not the amount of training.
    """
    splits = [split for split in splits if split.train and split.test]
    size = min((len(split.train) for split in splits), default=0)
    return [replace(split, train=split.train[:size]) for split in splits]


def shuffled(chars: Iterable[str], salt: str = "") -> list[str]:
    """Give characters in an order that depends on nothing but themselves and the salt."""
    return sorted(chars, key=lambda c: hashlib.sha256(f"{salt}{c}".encode()).digest())


def iid(chars: Iterable[str]) -> Split:
    """Train, dev and test of the same kind, 7 : 1 : 2."""
    order = shuffled(chars)
    n_test, n_dev = round(TEST_SHARE * len(order)), round(DEV_SHARE * len(order))
    return Split(
        "IID",
        train=tuple(order[n_test + n_dev :]),
        dev=tuple(order[n_test : n_test + n_dev]),
        test=tuple(order[:n_test]),
    )


def long_tail(chars: Iterable[str], tiers: Mapping[str, int]) -> Split:
    """Learn from the two upper tiers of frequency, be asked about all that is rarer.

    tiers: character -> 1 (most frequent), 2, ...; characters that are missing are the rarest.
    """
    known = set(chars)
    upper = shuffled(c for c in known if tiers.get(c, 3) <= 2)
    n_dev = round(DEV_SHARE * len(upper))
    test = shuffled(c for c in known if tiers.get(c, 3) > 2)
    return Split(LONG_TAIL, tuple(upper[n_dev:]), tuple(upper[:n_dev]), tuple(test))


def compositional(labels: Mapping[str, Labels], size: int = 1500) -> Split:
    """Ask about characters no two parts of which stand together in a character to learn from.

    Characters with one part only are left out; so is what shares a pair with a test character and
    is none itself.

    size: number of test characters at most; a fifth of the characters if these are few.
    """
    pairs = {}
    for char, known in labels.items():
        if found := frozenset(combinations(sorted(known.components or ()), 2)):
            pairs[char] = found
    order = shuffled(pairs)
    test = order[: min(size, round(TEST_SHARE * len(order)))]
    taken = {pair for char in test for pair in pairs[char]}
    rest = [char for char in order[len(test) :] if not pairs[char] & taken]
    n_dev = round(DEV_SHARE * len(rest))
    return Split("compositional", tuple(rest[n_dev:]), tuple(rest[:n_dev]), tuple(test))


def outside(chars: Sequence[str], vocabulary: Iterable[str]) -> tuple[str, ...]:
    """The OOV slice: characters that a vocabulary lacks."""
    known = set(vocabulary)
    return tuple(char for char in chars if char not in known)


def read_tiers(path: Path) -> dict[str, int]:
    """Read character, tab, tier (1, 2, ...), maybe after a line of headings.

    RAISES CNMError: the file cannot be read, or a row is something else.
    """
    tiers = {}
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if not line:
            continue
        if len(cells) != 2 or len(cells[0]) != 1 or not cells[1].isdecimal():
            if number == 1:
                continue
            what = f"{line!r} is not a character and its tier"
            raise CNMError(Errors.E601.format(path=path, line=number, what=what))
        tiers[cells[0]] = int(cells[1])
    return tiers
