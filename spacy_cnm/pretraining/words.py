"""Which word each word piece stands in, over the words that jieba finds."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spacy_cnm.errors import CNMError, Errors


def piece_words(texts: Sequence[str], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give the word of each piece: the one in which it starts.

    texts: what was cut into pieces. No word goes from one to the next.
    starts: (N,) where the pieces start, in characters from the beginning of the first text.
    RETURNS: (N,) numbers of words, counted through all texts; white space counts as words too.
    RAISES CNMError: rjieba is not installed.
    """
    cut = _jieba().cut
    # The words of a text, joined, are the text.
    lengths = np.fromiter((len(word) for text in texts for word in cut(text)), np.int64)
    word_of_character = np.repeat(np.arange(len(lengths)), lengths)
    return word_of_character[starts]


def check_installed() -> None:
    """Check that words can be found here.

    RAISES CNMError: rjieba is not installed.
    """
    _jieba()


@cache
def _jieba() -> Any:
    """A segmenter of our own, since anybody may add words to the one of the module."""
    try:
        import rjieba
    except ImportError as error:
        raise CNMError(Errors.E505) from error
    return rjieba.Jieba()
