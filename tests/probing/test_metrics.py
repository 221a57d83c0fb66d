"""The probe's scores against values computed by hand."""

import pytest

from spacy_cnm.probing.metrics import (
    accuracy,
    class_f1,
    common_length,
    macro_f1,
    mean_absolute_error,
    nearest_purity,
    sequence_f1,
    set_f1,
)


def test_accuracy_and_macro_f1():
    gold, found = [0, 0, 0, 1, 2], [0, 0, 1, 1, 3]
    assert accuracy(gold, found) == pytest.approx(3 / 5)
    # 0: 2 of 3 found, both right: 4/5. 1: found twice, once right: 2/3. 2: never found: 0.
    assert macro_f1(gold, found) == pytest.approx((4 / 5 + 2 / 3 + 0) / 3)
    assert macro_f1(gold, gold) == 1.0
    assert [class_f1(gold, found, label) for label in (0, 1, 2)] == pytest.approx([4 / 5, 2 / 3, 0])


def test_set_f1():
    gold, found = [{"水", "胡"}, {"日"}, {"木", "日"}], [{"水"}, {"日"}, {"火", "土"}]
    assert set_f1(gold, found) == pytest.approx((2 / 3 + 1 + 0) / 3)


def test_mean_absolute_error():
    assert mean_absolute_error([3, 10], [4, 7]) == 2.0


@pytest.mark.parametrize(
    ("a", "b", "length"),
    [("", "", 0), ("12", "", 0), ("1234", "1234", 4), ("1234", "4321", 1), ("12512", "1212", 4)],
)
def test_longest_common_subsequence(a: str, b: str, length: int):
    assert common_length(a, b) == common_length(b, a) == length


def test_sequence_f1_sees_the_order():
    # 杲 and 杳 have the same strokes.
    assert sequence_f1(["25111234"], ["25111234"]) == 1.0
    assert sequence_f1(["25111234"], ["12342511"]) == pytest.approx(2 * 4 / 16)
    assert sequence_f1(["12"], [""]) == 0.0


def test_purity_is_by_direction():
    # The nearest of the first is the second, of the second the first, of the third the second.
    vectors = [[1, 0], [5, 1], [1, 1]]
    assert nearest_purity(vectors, "aab") == pytest.approx(2 / 3)
    assert nearest_purity(vectors, "aba") == 0.0
