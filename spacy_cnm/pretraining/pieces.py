"""Texts as rows of word pieces, each of which knows its word."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling.tokenizer import is_extended

from .words import piece_words


@dataclass
class Block:
    """The pieces of several texts, one after another, without [CLS] and [SEP].

    ids, words: (N,) extended id and word of each piece; a word's pieces are neighbours.
    starts, ends: (R,) where rows begin and end.
    """

    ids: NDArray[np.int64]
    words: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]


class Encoder:
    """Cuts texts into pieces, as the tokenizer does, and into rows."""

    def __init__(self, tokenizer: PreTrainedTokenizerFast) -> None:
        """Copy what is needed of an extended tokenizer.

        RAISES CNMError: the tokenizer is not extended.
        """
        if not is_extended(tokenizer):
            raise CNMError(Errors.E506.format(name=tokenizer.name_or_path))
        # A copy, since every call of the tokenizer leaves its settings in the inner one.
        self._inner = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._inner.no_truncation()
        self._inner.no_padding()
        self._inner.encode_special_tokens = True  # "[MASK]" in a text is text
        vocab = tokenizer.get_vocab()
        prefix = self._inner.model.continuing_subword_prefix
        inside = [index for token, index in vocab.items() if token.startswith(prefix)]
        self._continues = np.zeros(1 + max(vocab.values()), dtype=np.bool_)
        self._continues[inside] = True

    def encode(self, texts: Sequence[str], most: int) -> Block:
        """Encode texts. A text of more than `most` pieces becomes several rows; nothing is lost.

        texts: at least one.
        most: pieces of a row.
        RETURNS: the pieces; a text without pieces has no row.
        """
        encodings = self._inner.encode_batch(texts, add_special_tokens=False)
        counts = np.array([len(encoding) for encoding in encodings])
        pieces = itertools.chain.from_iterable(encoding.ids for encoding in encodings)
        ids = np.fromiter(pieces, np.int64, counts.sum())
        offsets = itertools.chain.from_iterable(encoding.offsets for encoding in encodings)
        starts = np.fromiter((start for start, _ in offsets), np.int64, len(ids))
        lengths = np.array([len(text) for text in texts])
        starts += np.repeat(np.cumsum(lengths) - lengths, counts)
        # jieba cuts at accented letters; what continues a piece belongs to the word of that.
        starts[self._continues[ids]] = 0
        words = piece_words(texts, np.maximum.accumulate(starts))
        return Block(ids, words, *_cut(words, counts, most))


def _cut(
    words: NDArray[np.int64], counts: NDArray[np.int64], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Cut texts into rows of nearly equal length, between words.

    words: (N,) the words of the pieces of all texts.
    counts: pieces of each text.
    most: pieces in a row.
    RETURNS: where rows begin and end. A text without pieces has no row.
    """
    ends = np.cumsum(counts)
    starts = ends - counts
    short = (counts > 0) & (counts <= most)
    rows = [np.stack([starts[short], ends[short]], axis=1)]
    word_starts = np.flatnonzero(np.diff(words, prepend=-1))
    for text in np.flatnonzero(counts > most):
        places = _cuts(word_starts, int(starts[text]), int(ends[text]), most)
        rows.append(np.stack([places[:-1], places[1:]], axis=1))
    both = np.concatenate(rows)
    return both[:, 0], both[:, 1]


def _cuts(word_starts: NDArray[np.int64], start: int, end: int, most: int) -> list[int]:
    """Give where to cut one text, its start and end included."""
    places = [start]
    while start < end:
        left = end - start
        even = start + -(-left // -(-left // most))
        # A word longer than an even share is kept whole if a row can hold it.
        for target in (even, min(start + most, end)):
            cut = int(word_starts[np.searchsorted(word_starts, target, side="right") - 1])
            if target == end or cut > start:
                break
        start = target if target == end or cut <= start else cut
        places.append(start)
    return places
