"""Windows over long documents, measured in word pieces."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Doc, Span
from transformers import PreTrainedTokenizerFast

from spacy_cnm.errors import CNMError, Errors

from .stt import registry

#: A character gives at most so many word pieces (a Hangul syllable decomposes into three letters).
_MAX_PIECES_PER_CHARACTER = 3


@dataclass(frozen=True)
class WordpieceSpans:
    """Overlapping windows of at most `window` word pieces, a new one every `stride` pieces.

    Neither a token nor a word of the tokenizer is ever cut: a window ends where the next one would
    not fit, and holds one at least. An empty document has no windows.
    """

    window: int
    stride: int

    def __post_init__(self) -> None:
        if not 1 <= self.stride <= self.window:
            raise CNMError(Errors.E202.format(window=self.window, stride=self.stride))

    def __call__(
        self, docs: Iterable[Doc], tokenizer: PreTrainedTokenizerFast | None = None
    ) -> list[list[Span]]:
        """Windows of each document.

        docs: documents.
        tokenizer: measures the word pieces; a `CNMTransformerModel` passes its own.
        RAISES CNMError: no tokenizer, since another architecture called.
        """
        if tokenizer is None:
            raise CNMError(Errors.E203)
        # [CLS] and [SEP] share the position table with the window.
        window = min(self.window, tokenizer.model_max_length - 2)
        stride = min(self.stride, window)
        docs = list(docs)
        long = [doc for doc in docs if len(doc.text) * _MAX_PIECES_PER_CHARACTER > window]
        positions = iter(_piece_positions(long, tokenizer))
        result: list[list[Span]] = []
        for doc in docs:
            if not len(doc):
                result.append([])
            elif long and doc is long[0]:
                long.pop(0)
                result.append(_windows(doc, next(positions), window, stride))
            else:
                result.append([doc[:]])
        return result


@registry.span_getters("spacy_cnm.wordpiece_spans.v1")  # type: ignore[attr-defined]
def configure_wordpiece_spans(window: int = 256, stride: int = 192) -> WordpieceSpans:
    """Configure windows in word pieces, for `spacy_cnm.CNMTransformerModel.v1`.

    window: word pieces a window at most, [CLS] and [SEP] not counted. Clipped to what the
        model's position table holds.
    stride: word pieces from the start of one window to the start of the next. Smaller than the
        window makes them overlap, so that every token has context on both sides.
    """
    return WordpieceSpans(window, stride)


def _piece_positions(
    docs: list[Doc], tokenizer: PreTrainedTokenizerFast
) -> list[NDArray[np.int64]]:
    """For each document (n tokens): (n + 1,) number of word pieces before each token and in all.

    A token that begins inside a word of the tokenizer cannot begin a window, since the rest of
    the word alone has other pieces; its number is -1.
    """
    if not docs:
        return []
    encoded = tokenizer([doc.text for doc in docs], add_special_tokens=False, verbose=False)
    result = []
    for doc, encoding in zip(docs, encoded.encodings or [], strict=True):
        pieces = np.array(encoding.offsets, dtype=np.int64).reshape(-1, 2)
        # Numbers that no word has, so that both ends of the document are borders of words.
        words = np.array([-1, *encoding.word_ids, -2])
        starts = np.array([*(token.idx for token in doc), len(doc.text)])
        before = np.searchsorted(pieces[:, 0], starts, side="left")
        stops = np.concatenate([[0], pieces[:, 1]])
        inside = (stops[before] > starts) | (words[before] == words[before + 1])
        before[inside] = -1
        result.append(before)
    return result


def _windows(doc: Doc, before: NDArray[np.int64], window: int, stride: int) -> list[Span]:
    cuts = np.flatnonzero(before >= 0)  # tokens that may begin a window, and the end
    at = before[cuts]
    spans = []
    start = 0  # index into `cuts`
    while True:
        # The last cut whose pieces still fit, or the next cut if one unit alone is too long.
        stop = max(int(np.searchsorted(at, at[start] + window, side="right")) - 1, start + 1)
        spans.append(doc[int(cuts[start]) : int(cuts[stop])])
        if stop == len(cuts) - 1:
            return spans
        step = int(np.searchsorted(at, at[start] + stride, side="right")) - 1
        # From an earlier start than this one the next window would not reach beyond `stop`.
        useful = int(np.searchsorted(at, at[stop + 1] - window, side="left"))
        start = min(max(step, useful, start + 1), stop)
