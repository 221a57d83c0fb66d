"""What probes are asked: characters with their labels, splits, and slices of test characters."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from spacy_cnm.ids import StructureTable

from .labels import Labels
from .lookup import contrasting, disagreeing
from .splits import Split, compositional, iid, long_tail, of_one_size, outside

#: Names of the slices: all test characters, those outside the vocabulary, ...
TEST, OOV, CONTRASTING, DISAGREEING = "test", "OOV", "contrasting", "disagreeing"
#: Names of the tiers of frequency, from the most frequent one, and of what is in none.
TIERS = ("tier 1", "tier 2", "tier 3", "no tier")


@dataclass(frozen=True)
class Subject:
    """Characters to learn from and to be asked about.

    labels: character -> what is known of it.
    splits: name -> split.
    slices: name of the split -> name -> some of its test characters: "test" (all), "OOV" (outside
        the vocabulary), TIERS if there are any, and of those that are OOV "contrasting" (another
        character has the same components in another order or layout) and "disagreeing" (the label
        is another layout than the IDS has).
    """

    labels: Mapping[str, Labels]
    splits: Mapping[str, Split]
    slices: Mapping[str, Mapping[str, tuple[str, ...]]]

    def checksum(self, split: str) -> str:
        """Identify what is learned and asked in a split, labels and slices included."""
        chosen = self.splits[split]
        chars = (*chosen.train, *chosen.dev, *chosen.test)
        labels = []
        for char in chars:
            known = self.labels[char]
            parts = sorted(known.components) if known.components is not None else None
            labels.append((char, known.layout, parts, known.strokes, known.order))
        content = (chosen, labels, sorted(self.slices[split].items()))
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]


def make_subject(
    labels: Mapping[str, Labels],
    tiers: Mapping[str, int],
    vocabulary: Collection[str],
    table: StructureTable,
) -> Subject:
    """Make the splits "IID", "long-tail" and "compositional" of one size, and their slices.

    Those that the labels do not suffice for are left out: without components, "compositional".

    tiers: character -> tier of its frequency; without any there is no long tail.
    vocabulary: what the tokenizer has without the structure.
    """
    kinds = [iid(labels), *([long_tail(labels, tiers)] if tiers else []), compositional(labels)]
    splits = {split.name: split for split in of_one_size(kinds)}
    contrast, differ = contrasting(labels, table), set(disagreeing(labels, table))
    slices = {
        name: _slices(split.test, tiers, vocabulary, contrast, differ)
        for name, split in splits.items()
    }
    return Subject(labels, splits, slices)


def _slices(
    test: Sequence[str],
    tiers: Mapping[str, int],
    vocabulary: Collection[str],
    contrast: Collection[str],
    differ: Collection[str],
) -> dict[str, tuple[str, ...]]:
    oov = outside(test, vocabulary)
    found = {TEST: tuple(test), OOV: oov}
    for number, name in enumerate(TIERS if tiers else (), start=1):
        in_tier = (c for c in test if min(tiers.get(c, len(TIERS)), len(TIERS)) == number)
        found[name] = tuple(in_tier)
    found[CONTRASTING] = tuple(c for c in oov if c in contrast)
    found[DISAGREEING] = tuple(c for c in oov if c in differ)
    return {name: chars for name, chars in found.items() if chars}
