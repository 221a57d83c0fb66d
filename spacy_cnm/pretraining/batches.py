"""Masked batches out of text files, in an order that can be taken up again at any batch."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from spacy_cnm.corpora.text_streams import read_lines
from spacy_cnm.errors import CNMError, Errors

from .masking import IGNORED, MaskOptions, mask_words
from .pieces import Block, Encoder
from .words import check_installed

#: Rows are padded to a multiple of this, which suits the matrix units of processors.
_WIDTH = 8
#: Each kind of chance has its own numbers.
_FILES, _ROWS, _MASKS = 1, 2, 3


@dataclass(frozen=True)
class Position:
    """A place in a stream between two batches.

    epoch: which pass through the corpus, from 0.
    line: texts of this stream that were used up before the current block.
    batch: batches of the current block that were given out.
    """

    epoch: int = 0
    line: int = 0
    batch: int = 0


@dataclass
class MicroBatch:
    """Rows to be computed at once.

    input_ids: (B, T) int64, extended ids with masked pieces.
    structure_ids: (B, T) int64, extended ids of the characters whose structure is seen.
    attention_mask: (B, T) int64, 1 at pieces and 0 at padding.
    labels: (B, T) int64, extended ids of the pieces to be guessed, -100 elsewhere.
    n_tokens: pieces in it, [CLS] and [SEP] included, padding not.
    position: where the stream goes on after this batch.
    """

    input_ids: torch.Tensor
    structure_ids: torch.Tensor
    attention_mask: torch.Tensor
    labels: torch.Tensor
    n_tokens: int
    position: Position


class Stream:
    """One of several streams of batches that share a corpus.

    In each epoch, text i of the corpus belongs to stream i % count. The order of the files changes
    with the epoch. Texts are taken in blocks: the rows of a block are put into batches of rows of
    nearly equal length, and its batches come in random order. A text too long for one row is cut
    between words. All that is random follows from the seed and the place.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        tokenizer: PreTrainedTokenizerFast,
        *,
        index: int,
        count: int,
        seed: int,
        max_length: int,
        max_tokens: int,
        buffer: int,
        budget: float = 0.15,
        cued: NDArray[np.float64] | None = None,
    ) -> None:
        """Set up a stream; nothing is read before the first batch.

        paths: text files (see `text_streams.read_lines`).
        tokenizer: an extended tokenizer (`modeling.tokenizer.extend_tokenizer`).
        index, count: which stream this is, from 0, and how many there are.
        seed: of all that is random, 0 or more; the same for all streams.
        max_length: pieces in a row at most, [CLS] and [SEP] included.
        max_tokens: pieces in a batch at most, padding included.
        buffer: texts in a block.
        budget: share of the pieces that are masked.
        cued: (E,) how often each id is cued; None: never (see `cues.cue_shares`).
        RAISES CNMError: an argument is out of range, the tokenizer is not extended, or rjieba is
            not installed.
        """
        _check("paths", list(paths), bool(paths), "at least one file")
        _check("count", count, count >= 1, "at least 1")
        _check("index", index, 0 <= index < count, f"0 to {count - 1}")
        _check("seed", seed, seed >= 0, "at least 0")
        _check("max_length", max_length, max_length >= 3, "at least 3")
        _check("max_tokens", max_tokens, max_tokens >= max_length, f"at least {max_length}")
        _check("buffer", buffer, buffer >= 1, "at least 1")
        check_installed()
        self._paths = list(paths)
        self._index, self._count, self._seed = index, count, seed
        self._max_length, self._max_tokens, self._buffer = max_length, max_tokens, buffer
        # The tokenizer may have grown since another stream was made.
        self._encoder, options = _prepare(tokenizer, len(tokenizer))
        self._options = replace(options, budget=budget)
        if cued is not None:
            self._options = replace(self._options, cued=cued)
        self._cls, self._sep = tokenizer.cls_token_id, tokenizer.sep_token_id
        self._pad = tokenizer.pad_token_id

    def batches(
        self, start: Position = Position(), epochs: int | None = None
    ) -> Iterator[MicroBatch]:
        """Give the batches from a position on, the same whether or not the stream was interrupted.

        start: the position of the last batch that was used, or the beginning.
        epochs: the stream ends before this epoch; None: never.
        RAISES CNMError: see `text_streams.read_lines`; the corpus has no text for this stream, or
            the position is not in it.
        """
        for epoch in itertools.count(start.epoch):
            if epoch == epochs:
                return
            begin = start if epoch == start.epoch else Position(epoch)
            found = False
            for batch in self._epoch(begin):
                found = True
                yield batch
            if not found and begin == Position(epoch):
                paths = ", ".join(map(str, self._paths))
                raise CNMError(Errors.E508.format(index=self._index, paths=paths))

    def _epoch(self, start: Position) -> Iterator[MicroBatch]:
        texts = self._texts(start.epoch)
        skipped = sum(1 for _ in itertools.islice(texts, start.line))
        if skipped < start.line:
            raise CNMError(Errors.E509.format(position=start))
        place = start
        while texts_of_block := list(itertools.islice(texts, self._buffer)):
            after = Position(place.epoch, place.line + len(texts_of_block))
            block = self._encoder.encode(texts_of_block, self._max_length - 2)
            batches = self._in_batches(block, self._rng(_ROWS, replace(place, batch=0)))
            if place.line % self._buffer or place.batch > len(batches):
                raise CNMError(Errors.E509.format(position=start))
            for number in range(place.batch, len(batches)):
                here = replace(place, batch=number)
                ahead = replace(place, batch=number + 1) if number + 1 < len(batches) else after
                yield self._masked(block, batches[number], here, ahead)
            place = after

    def _texts(self, epoch: int) -> Iterator[str]:
        order = np.random.default_rng([self._seed, _FILES, epoch]).permutation(len(self._paths))
        all_texts = itertools.chain.from_iterable(read_lines(self._paths[i]) for i in order)
        own = itertools.islice(all_texts, self._index, None, self._count)
        first = next(own, None)
        if first is None:
            raise CNMError(Errors.E507.format(index=self._index, count=self._count))
        return itertools.chain([first], own)

    def _rng(self, kind: int, place: Position) -> np.random.Generator:
        where = [self._seed, kind, self._index, place.epoch, place.line, place.batch]
        return np.random.default_rng(where)

    def _in_batches(self, block: Block, rng: np.random.Generator) -> list[NDArray[np.int64]]:
        """Give the rows of each batch."""
        widths = self._width(block.ends - block.starts + 2)
        rows = rng.permutation(len(widths))
        rows = rows[np.argsort(widths[rows], kind="stable")]
        batches = []
        first = 0
        widths_in_order = widths[rows]
        while first < len(rows):
            # As many rows as fit when each is as wide as the last of them.
            possible = widths_in_order[first : first + self._max_tokens // widths_in_order[first]]
            sizes = possible * np.arange(1, len(possible) + 1)
            n = int(np.searchsorted(sizes, self._max_tokens, side="right"))
            # Better without the few wider rows at the end, for which all others would be padded.
            narrower = int(np.searchsorted(possible[:n], possible[n - 1]))
            if narrower and sizes[narrower - 1] >= self._max_tokens / 2:
                n = narrower
            end = first + n
            batches.append(rows[first:end])
            first = end
        return [batches[i] for i in rng.permutation(len(batches))]

    def _width(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.minimum(-(-lengths // _WIDTH) * _WIDTH, self._max_length)

    def _masked(
        self, block: Block, rows: NDArray[np.int64], here: Position, ahead: Position
    ) -> MicroBatch:
        lengths = block.ends[rows] - block.starts[rows] + 2
        width = int(self._width(lengths).max())
        column = np.arange(width)
        text_row, text_column = np.nonzero((column > 0) & (column < lengths[:, None] - 1))
        pieces = block.starts[rows][text_row] + text_column - 1
        masked = mask_words(
            block.ids[pieces], block.words[pieces], self._rng(_MASKS, here), self._options, text_row
        )
        input_ids = np.full((len(rows), width), self._pad)
        input_ids[:, 0] = self._cls
        input_ids[np.arange(len(rows)), lengths - 1] = self._sep
        structure_ids = input_ids.copy()
        input_ids[text_row, text_column] = masked.ids
        structure_ids[text_row, text_column] = masked.structure_ids
        labels = np.full((len(rows), width), IGNORED)
        labels[text_row, text_column] = masked.labels
        attention_mask = (column < lengths[:, None]).astype(np.int64)
        return MicroBatch(
            torch.from_numpy(input_ids),
            torch.from_numpy(structure_ids),
            torch.from_numpy(attention_mask),
            torch.from_numpy(labels),
            int(lengths.sum()),
            ahead,
        )


@lru_cache(maxsize=1)
def _prepare(tokenizer: PreTrainedTokenizerFast, size: int) -> tuple[Encoder, MaskOptions]:
    """What all streams of a run share; with 100,000 tokens it takes a second.

    size: of the tokenizer, which may change.
    """
    return Encoder(tokenizer), MaskOptions.of(tokenizer)


def _check(name: str, value: object, right: bool, wanted: str) -> None:
    if not right:
        raise CNMError(Errors.E122.format(key=name, value=value, wanted=wanted))
