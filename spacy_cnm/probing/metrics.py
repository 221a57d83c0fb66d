"""The scores of the probe, each between 0 and 1 but for the error of the stroke count."""

from collections.abc import Collection, Hashable, Sequence
from functools import lru_cache

import numpy as np


def accuracy(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """Share of the predictions that are right."""
    return float(np.mean(np.asarray(gold) == np.asarray(predicted)))


def macro_f1(gold: Sequence[int], predicted: Sequence[int]) -> float:
    """Mean of F1 over the classes that occur in the gold labels."""
    return float(np.mean([class_f1(gold, predicted, label) for label in sorted(set(gold))]))


def class_f1(gold: Sequence[int], predicted: Sequence[int], label: int) -> float:
    """F1 of one class, which occurs in the gold labels."""
    g, p = np.asarray(gold) == label, np.asarray(predicted) == label
    return float(2 * np.sum(g & p) / (np.sum(g) + np.sum(p)))


def set_f1(gold: Sequence[Collection[str]], predicted: Sequence[Collection[str]]) -> float:
    """Mean over characters of F1 between two sets; no gold set is empty."""
    pairs = ((set(g), set(p)) for g, p in zip(gold, predicted, strict=True))
    return float(np.mean([2 * len(g & p) / (len(g) + len(p)) for g, p in pairs]))


def mean_absolute_error(gold: Sequence[float], predicted: Sequence[float]) -> float:
    """Mean distance, in strokes."""
    return float(np.mean(np.abs(np.asarray(gold, float) - np.asarray(predicted, float))))


def sequence_f1(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Mean over characters of F1 between two sequences; no gold sequence is empty.

    What both have in common is the longest common subsequence, so the order counts.
    """
    pairs = zip(gold, predicted, strict=True)
    return float(np.mean([2 * common_length(g, p) / (len(g) + len(p)) for g, p in pairs]))


@lru_cache(maxsize=2**16)
def common_length(a: str, b: str) -> int:
    """Give the length of the longest common subsequence."""
    row = [0] * (len(b) + 1)
    for x in a:
        before = 0
        for j, y in enumerate(b, start=1):
            before, row[j] = row[j], before + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def nearest_purity(vectors: Sequence[Sequence[float]], classes: Sequence[Hashable]) -> float:
    """Share of the vectors whose nearest other one by cosine is of the same class."""
    v = np.asarray(vectors, float)
    v /= np.linalg.norm(v, axis=1, keepdims=True).clip(1e-12)
    similar = v @ v.T
    np.fill_diagonal(similar, -np.inf)
    nearest = similar.argmax(axis=1).tolist()
    return float(np.mean([classes[i] == classes[j] for i, j in enumerate(nearest)]))
