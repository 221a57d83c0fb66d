"""Words from joint labels, and the word score."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cnm.corpora.segmentation import labels_from_word, segmentation_prf, words_from_labels


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([], []),
        (["B-n", "I-n", "B-v"], [(0, 2, "n"), (2, 3, "v")]),
        (["B-n", "I-v", "I-n"], [(0, 3, "n")]),
        (["I-n", "I-n"], [(0, 2, "n")]),
        (["B-n", "", "I-v", "I-v"], [(0, 1, "n"), (1, 2, ""), (2, 4, "v")]),
        (["", ""], [(0, 1, ""), (1, 2, "")]),
        (["B-", "I-"], [(0, 2, "")]),
        (["n", "I-v"], [(0, 1, "n"), (1, 2, "v")]),
        (["B-x-y", "I-x-y"], [(0, 2, "x-y")]),
    ],
)
def test_words_from_labels(labels: list[str], words: list[tuple[int, int, str]]) -> None:
    assert words_from_labels(labels) == words


@given(st.lists(st.sampled_from(["B-n", "I-n", "B-v", "I-v", "", "n", "O", "B-", "I-"])))
def test_every_token_is_in_exactly_one_word(labels: list[str]) -> None:
    covered = [i for start, end, _ in words_from_labels(labels) for i in range(start, end)]
    assert covered == list(range(len(labels)))


@given(st.lists(st.tuples(st.integers(1, 5), st.sampled_from(["n", "v", "nr", "w"]))))
def test_labels_and_words_are_inverse(words: list[tuple[int, str]]) -> None:
    labels = [label for length, tag in words for label in labels_from_word(length, tag)]
    found = [(end - start, tag) for start, end, tag in words_from_labels(labels)]
    assert found == words


def test_prf_is_micro_averaged() -> None:
    gold = [[(0, 2), (2, 3)], [(0, 1)]]
    predicted = [[(0, 1), (1, 2), (2, 3)], [(0, 1)]]
    precision, recall, f_score = segmentation_prf(gold, predicted)
    assert precision == pytest.approx(2 / 4)
    assert recall == pytest.approx(2 / 3)
    assert f_score == pytest.approx(4 / 7)


def test_prf_of_nothing_is_zero() -> None:
    assert segmentation_prf([], []) == (0.0, 0.0, 0.0)
    assert segmentation_prf([[(0, 1)]], [[]]) == (0.0, 0.0, 0.0)


def test_prf_wants_the_same_documents() -> None:
    with pytest.raises(ValueError, match="argument 2"):
        segmentation_prf([[(0, 1)]], [])
