"""From spans of documents to the encoder's input, with nothing cut off."""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import cast

import numpy as np
from numpy.typing import NDArray
from spacy.tokens import Span
from thinc.types import Ints2d, Ragged
from transformers import PreTrainedTokenizerFast

from .stt import WordpieceBatch, get_alignment_via_offset_mapping

NestedSpans = list[list[Span]]


def tokenize_spans(
    nested_spans: NestedSpans, tokenizer: PreTrainedTokenizerFast
) -> tuple[NestedSpans, WordpieceBatch, Ragged]:
    """Tokenize spans into rows for the encoder.

    A span with more pieces than the model has positions becomes several rows, so an over-long
    token keeps all of its pieces.

    nested_spans: spans of each document, none empty; at least one.
    RETURNS: the spans of each document, one a row (a part of the span given, where that was too
        long); the word pieces of the R rows, padded to the longest; and the alignment of every
        token to its pieces in the flattened rows. White space has none. What BERT's normalizer
        deletes (variation selectors, joiners, private-use characters) has those of the token
        before it, or [CLS] at the start: components know no empty vector but that of white space.
    """
    limit = tokenizer.model_max_length - 2
    encodings = tokenizer(
        [span.text for span in chain.from_iterable(nested_spans)],
        add_special_tokens=False,
        verbose=False,
    ).encodings
    encodings_left = iter(encodings or [])
    row_spans: NestedSpans = []
    ids: list[list[int]] = []
    strings: list[list[str]] = []
    offsets: list[list[tuple[int, int]]] = []
    for spans in nested_spans:
        row_spans.append([])
        for span in spans:
            encoding = next(encodings_left)
            all_ids, all_tokens, all_offsets = encoding.ids, encoding.tokens, encoding.offsets
            for row, row_span in _rows(span, all_offsets, limit):
                shift = row_span.start_char - span.start_char
                row_spans[-1].append(row_span)
                ids.append([tokenizer.cls_token_id, *all_ids[row], tokenizer.sep_token_id])
                strings.append([tokenizer.cls_token, *all_tokens[row], tokenizer.sep_token])
                inner = [(start - shift, stop - shift) for start, stop in all_offsets[row]]
                offsets.append([(0, 0), *inner, (0, 0)])
    batch = _pad(ids, strings, tokenizer)
    padded = np.zeros((*batch.input_ids.shape, 2), dtype=np.int64)
    for row_offsets, target in zip(offsets, padded, strict=True):
        target[: len(row_offsets)] = row_offsets
    flat_spans = list(chain.from_iterable(row_spans))
    align = get_alignment_via_offset_mapping(flat_spans, cast(Ints2d, padded))
    return row_spans, batch, _without_gaps(align, row_spans, batch.input_ids.shape[1])


def _without_gaps(align: Ragged, row_spans: NestedSpans, width: int) -> Ragged:
    """Give visible tokens without pieces those of the token before, in their document, or [CLS].

    width: word pieces a row, so that row r begins at piece r * width.
    """
    if align.lengths.all():
        return align
    pieces = np.split(align.dataXd, np.cumsum(align.lengths)[:-1])
    position = first_row = 0
    for spans in filter(None, row_spans):
        last = np.array([first_row * width], dtype=align.dataXd.dtype)
        for token in spans[0].doc:
            if not len(pieces[position]) and not token.text.isspace():
                pieces[position] = last
            if len(pieces[position]):
                last = pieces[position]
            position += 1
        first_row += len(spans)
    lengths = np.array([len(indices) for indices in pieces], dtype=align.lengths.dtype)
    return Ragged(np.concatenate(pieces), lengths)


def _rows(span: Span, offsets: list[tuple[int, int]], limit: int) -> Iterator[tuple[slice, Span]]:
    """Cut a span into rows: the pieces of each row and the tokens that they belong to.

    offsets: first and last character of each piece, in the span.
    limit: pieces a row at most. A token whose pieces are in two rows is in both.
    """
    if len(offsets) <= limit:
        yield slice(None), span
        return
    token_starts = [token.idx - span.start_char for token in span]
    token_of = [bisect_right(token_starts, start) - 1 for start, _ in offsets]
    first = 0
    for start in range(0, len(offsets), limit):
        stop = start + limit
        if stop >= len(offsets):
            yield slice(start, None), span[first:]
            return
        last = bisect_right(token_starts, offsets[stop - 1][1] - 1)
        # Tokens without pieces, such as white space, stay with the row before them.
        yield slice(start, stop), span[first : max(last, token_of[stop])]
        first = token_of[stop]


def _pad(
    ids: list[list[int]], strings: list[list[str]], tokenizer: PreTrainedTokenizerFast
) -> WordpieceBatch:
    lengths = [len(row) for row in ids]
    shape = (len(ids), max(lengths))
    input_ids: NDArray[np.int64] = np.full(shape, tokenizer.pad_token_id, dtype=np.int64)
    for row, target in zip(ids, input_ids, strict=True):
        target[: len(row)] = row
    mask = (np.arange(shape[1]) < np.array(lengths)[:, None]).astype(np.float32)
    padded = [row + [tokenizer.pad_token] * (shape[1] - len(row)) for row in strings]
    return WordpieceBatch(
        strings=padded,
        input_ids=input_ids,  # type: ignore[arg-type]
        attention_mask=mask,  # type: ignore[arg-type]
        lengths=lengths,
        token_type_ids=np.zeros_like(input_ids),  # type: ignore[arg-type]
    )
