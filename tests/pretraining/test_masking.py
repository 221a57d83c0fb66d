"""Masking: what is chosen, how much, what stands in its place, and what is cued by structure."""

from collections import Counter
from dataclasses import astuple, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling.tokenizer import first_added_id
from spacy_cnm.pretraining.masking import IGNORED, MaskOptions, mask_words

BUDGETS = (0.15, 0.5)


@pytest.fixture(scope="module", params=BUDGETS)
def options(request, tokenizer) -> MaskOptions:
    return MaskOptions.of(tokenizer, request.param)


@pytest.fixture(scope="module")
def pieces(tokenizer) -> NDArray[np.int64]:
    """Five special tokens, then others, of the base vocabulary and not."""
    tokens = [*tokenizer.all_special_tokens, *"今天气很好我在北京a1𠮷㐂龘"]
    assert len(tokens) == 19
    return np.array(tokenizer.convert_tokens_to_ids(tokens))


#: Rows as lists of words, a word as a list of indices of `pieces`.
ROWS = st.lists(
    st.lists(st.lists(st.integers(0, 18), min_size=1, max_size=6), max_size=30),
    min_size=1,
    max_size=4,
)


def arrays(rows, pieces):
    """Ids, words and rows of pieces."""
    words, row_ids = [], []
    for number, row in enumerate(rows):
        for word in row:
            words += [len(words)] * len(word)  # any number that neighbours do not have
            row_ids += [number] * len(word)
    chosen = [piece for row in rows for word in row for piece in word]
    ids = pieces[np.array(chosen, dtype=np.int64)]
    return ids, np.array(words, dtype=np.int64), np.array(row_ids, dtype=np.int64)


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, seed=st.integers(0, 2**32))
def test_whole_words_within_the_budget(rows, seed, pieces, options):
    ids, words, row_ids = arrays(rows, pieces)
    before = ids.copy()
    masked = mask_words(ids, words, np.random.default_rng(seed), options, row_ids)
    hidden, labels = masked.ids, masked.labels
    assert (ids == before).all()
    assert (masked.structure_ids == hidden).all()
    chosen = labels != IGNORED
    assert (labels[chosen] == ids[chosen]).all()
    assert (hidden[~chosen] == ids[~chosen]).all()
    may = ~np.isin(ids, pieces[:5])
    assert not chosen[~may].any()
    for word in np.unique(words):
        inside = may & (words == word)
        assert chosen[inside].all() or not chosen[inside].any()
    for row in range(len(rows)):
        inside = may & (row_ids == row)
        budget = max(1, round(options.budget * inside.sum()))
        n_words = len(np.unique(words[chosen & inside]))
        assert chosen[inside].sum() <= budget or n_words == 1
        assert bool(n_words) == bool(inside.any())
        # What is left of the budget holds none of the words that were passed over.
        left = budget - chosen[inside].sum()
        others = np.unique(words[inside & ~chosen], return_counts=True)[1]
        assert (others > left).all()


@settings(deadline=None, max_examples=50)
@given(rows=ROWS, seed=st.integers(0, 2**32))
def test_one_row_needs_no_numbers_of_rows(rows, seed, pieces, options):
    ids, words, row_ids = arrays(rows[:1], pieces)
    one, several = (
        mask_words(ids, words, np.random.default_rng(seed), options, *more)
        for more in ((), (row_ids,))
    )
    assert all((a == b).all() for a, b in zip(astuple(one), astuple(several), strict=True))


@settings(deadline=None, max_examples=100)
@given(rows=ROWS, seed=st.integers(0, 2**32), share=st.sampled_from([0.3, 1.0]))
def test_cued_ideographs_lose_their_token_only(rows, seed, share, pieces, options):
    """Labels stay; letters and digits are masked as before."""
    ids, words, row_ids = arrays(rows, pieces)
    shares = np.zeros_like(options.cued)
    shares[[i for i in pieces[5:] if i not in pieces[14:16]]] = share
    plain, cued = (
        mask_words(ids, words, np.random.default_rng(seed), replace(options, cued=x), row_ids)
        for x in (0 * shares, shares)
    )
    assert (plain.structure_ids == plain.ids).all()
    assert (cued.labels == plain.labels).all()
    found = cued.structure_ids != cued.ids
    assert (cued.ids[found] == options.unk_id).all()
    assert (plain.ids[found] == options.mask_id).all()
    assert (cued.structure_ids[found] == ids[found]).all()
    assert (cued.ids[~found] == plain.ids[~found]).all()
    others = [*pieces[:5], *pieces[14:16]]
    assert not np.isin(ids[found], others).any()
    if share == 1.0:
        assert np.isin(ids[(cued.ids == options.mask_id) & ~found], others).all()


def test_random_tokens_are_of_the_base_vocabulary_and_not_special(tokenizer):
    options = MaskOptions.of(tokenizer)
    tokens = tokenizer.convert_ids_to_tokens(options.random_ids.tolist())
    size = first_added_id(tokenizer)
    base = {token for token, i in tokenizer.get_vocab().items() if i < size}
    special = set(tokenizer.all_special_tokens) | {f"[unused{i}]" for i in range(1, 30)}
    assert set(tokens) == base - special
    assert len(tokens) == len(set(tokens))
    assert "𠮷" not in tokens
    assert "##a" in tokens


@pytest.fixture(scope="module")
def many(tokenizer):
    """4000 rows of 40 pieces in words of 1 to 4: ids, words, hidden ids, labels and options."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, 160_000)
    words = np.repeat(np.arange(len(sizes)), sizes)[:160_000]
    ids = np.full(len(words), tokenizer.convert_tokens_to_ids("𠮷"))
    rows = np.repeat(np.arange(4000), 40)
    options = MaskOptions.of(tokenizer)
    masked = mask_words(ids, words, rng, options, rows)
    return ids, words, masked.ids, masked.labels, options


def test_the_share_of_cued_ideographs(many):
    """It is of what would become [MASK]: 80 % of the chosen."""
    ids, words, *_, options = many
    options = replace(options, cued=np.full_like(options.cued, 0.25))
    rows = np.repeat(np.arange(4000), 40)
    masked = mask_words(ids, words, np.random.default_rng(6), options, rows)
    chosen = masked.labels != IGNORED
    cued = masked.structure_ids != masked.ids
    assert cued.sum() / chosen.sum() == pytest.approx(0.25 * 0.8, abs=0.01)


def test_rates_are_those_of_bert(many):
    ids, _, hidden, labels, options = many
    chosen = labels != IGNORED
    n = chosen.sum()
    assert n / len(ids) == pytest.approx(0.15, abs=0.001)
    masked = chosen & (hidden == options.mask_id)
    kept = chosen & (hidden == ids)
    replaced = chosen & ~masked & ~kept
    for found, rate in ((masked, 0.8), (replaced, 0.1), (kept, 0.1)):
        # Four standard deviations of a binomial.
        assert abs(found.sum() - rate * n) < 4 * np.sqrt(n * rate * (1 - rate))
    counts = Counter(hidden[replaced].tolist())
    assert set(counts) == set(options.random_ids.tolist())
    expected = replaced.sum() / len(options.random_ids)
    assert max(abs(count - expected) for count in counts.values()) < 5 * np.sqrt(expected)


def test_what_happens_to_a_piece_does_not_depend_on_its_word(many):
    """80/10/10 is drawn for each piece: in a word of two, both are masked in 64 % only."""
    _, words, hidden, labels, options = many
    chosen = labels != IGNORED
    pairs = np.flatnonzero(chosen[1:] & chosen[:-1] & (words[1:] == words[:-1]))
    masked = hidden == options.mask_id
    both = (masked[pairs] & masked[pairs + 1]).mean()
    assert both == pytest.approx(0.64, abs=4 * np.sqrt(0.64 * 0.36 / len(pairs)) + 0.01)


@pytest.mark.parametrize("budget", [0, 1, -0.1, 1.5, float("nan")])
def test_a_budget_out_of_range_is_an_error(tokenizer, budget):
    with pytest.raises(CNMError, match="budget"):
        MaskOptions.of(tokenizer, budget)
