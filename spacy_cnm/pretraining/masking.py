"""Which pieces the model has to guess, and what it sees in their place.

Whole word masking, in which some ideographs may lose their token but not their structure.

Rates as in BERT (Devlin et al. 2019, section 3.1); whole words as in Cui et al. 2021 (Pre-Training
with Whole Word Masking for Chinese BERT).
"""

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling.tokenizer import first_added_id

#: The label of a piece that is not to be guessed; PyTorch's cross entropy leaves it out.
IGNORED = -100
#: Share of the chosen pieces that become [MASK], and that become some other token.
MASKED, REPLACED = 0.8, 0.1
_UNUSED = re.compile(r"\[unused\d+\]")


@dataclass(frozen=True)
class MaskOptions:
    """What masking needs to know of a vocabulary, and how much it masks.

    mask_id: the id of [MASK].
    special: (E,) over the extended ids: whether an id is a special token, which is never chosen.
    random_ids: the ids that may replace a piece.
    budget: share of the pieces of a row that are chosen.
    unk_id: the id of [UNK].
    cued: (E,) over the extended ids: how often, of the cases in which it would become [MASK], an
        id is [UNK] with its structure instead; see `cues.cue_shares`.
    RAISES CNMError: the budget is not between 0 and 1.
    """

    mask_id: int
    special: NDArray[np.bool_]
    random_ids: NDArray[np.int64]
    budget: float
    unk_id: int
    cued: NDArray[np.float64]

    def __post_init__(self) -> None:
        """Check the budget."""
        if not 0 < self.budget < 1:
            wanted = "between 0 and 1"
            raise CNMError(Errors.E122.format(key="budget", value=self.budget, wanted=wanted))

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerFast, budget: float = 0.15) -> "MaskOptions":
        """Give the options for an extended tokenizer, without cues.

        Random tokens come from the base vocabulary, without special and [unused...] tokens.
        """
        vocab = tokenizer.get_vocab()
        special = np.zeros(1 + max(vocab.values()), dtype=np.bool_)
        special[tokenizer.all_special_ids] = True
        size = first_added_id(tokenizer)
        ids = sorted(i for token, i in vocab.items() if i < size and not _UNUSED.fullmatch(token))
        random_ids = np.array([i for i in ids if not special[i]], dtype=np.int64)
        return cls(
            mask_id=tokenizer.mask_token_id,
            special=special,
            random_ids=random_ids,
            budget=budget,
            unk_id=tokenizer.unk_token_id,
            cued=np.zeros(len(special)),
        )


@dataclass(frozen=True)
class Masked:
    """Pieces as the model sees them, and what it has to say.

    ids: (N,) extended ids, with what is to be guessed hidden.
    structure_ids: (N,) extended ids of the characters whose structure is seen: `ids`, but for cued
        pieces their own.
    labels: (N,) the extended id of each piece that is to be guessed, IGNORED elsewhere.
    """

    ids: NDArray[np.int64]
    structure_ids: NDArray[np.int64]
    labels: NDArray[np.int64]


def mask_words(
    ids: NDArray[np.int64],
    word_ids: NDArray[np.int64],
    rng: np.random.Generator,
    options: MaskOptions,
    rows: NDArray[np.int64] | None = None,
) -> Masked:
    """Choose words at random and hide them, in one row or in several, one after another.

    In each row words are taken in random order, up to the budget of the row; one that does not fit
    into what is left of it is passed over. If none fits, the first is taken all the same, so that
    only a row of special tokens has no label. Each chosen piece becomes [MASK] (80 %) or a random
    token (10 %), or stays.

    With `options.cued`, some of what would become [MASK] is cued: it becomes [UNK] and keeps its
    structure, as characters outside the vocabulary do, and is to be guessed from that and from its
    neighbours. So the encoder learns to read structure where there is no token.

    ids: (N,) extended ids.
    word_ids: (N,) the word of each piece, the same for neighbours in one word; what stands at
        special tokens is ignored.
    rng: where all chance comes from.
    rows: (N,) the row of each piece, ascending. Default: it is one row.
    """
    corrupted, structure_ids = ids.copy(), ids.copy()
    labels = np.full_like(ids, IGNORED)
    places = np.flatnonzero(~options.special[ids])
    if not len(places):
        return Masked(corrupted, structure_ids, labels)
    words = word_ids[places]
    rows = np.zeros_like(places) if rows is None else rows[places]
    new_row = np.concatenate(([True], rows[1:] != rows[:-1]))
    first = np.flatnonzero(new_row | np.concatenate(([True], words[1:] != words[:-1])))
    sizes = np.diff(first, append=len(places))
    row_of_word = np.cumsum(new_row)[first] - 1
    pieces_in_row = np.diff(np.flatnonzero(new_row), append=len(places))
    budgets = np.maximum(1, np.rint(options.budget * pieces_in_row).astype(np.int64))
    chosen = _choose(row_of_word, sizes, budgets, rng)
    picked = places[np.repeat(chosen, sizes)]
    labels[picked] = ids[picked]
    chance = rng.random(len(picked))
    hidden = chance < MASKED
    cued = hidden & (chance >= MASKED * (1 - options.cued[ids[picked]]))
    corrupted[picked[hidden]] = options.mask_id
    corrupted[picked[cued]] = options.unk_id
    replaced = picked[(chance >= MASKED) & (chance < MASKED + REPLACED)]
    corrupted[replaced] = rng.choice(options.random_ids, len(replaced))
    structure_ids[picked[~cued]] = corrupted[picked[~cued]]
    return Masked(corrupted, structure_ids, labels)


def _choose(
    row_of_word: NDArray[np.int64],
    sizes: NDArray[np.int64],
    budgets: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.bool_]:
    """Tell for each word whether it is chosen."""
    order = np.argsort(row_of_word + rng.random(len(sizes)))  # rows in order, words in any
    ends = np.cumsum(np.bincount(row_of_word)).tolist()
    sizes_in_order = sizes[order].tolist()
    chosen: list[int] = []
    start = 0
    for left, end in zip(budgets.tolist(), ends, strict=True):
        found = len(chosen)
        for i in range(start, end):
            if sizes_in_order[i] <= left:
                chosen.append(i)
                left -= sizes_in_order[i]
                if not left:
                    break
        if len(chosen) == found:
            chosen.append(start)
        start = end
    is_chosen = np.zeros(len(sizes), dtype=np.bool_)
    is_chosen[order[chosen]] = True
    return is_chosen
