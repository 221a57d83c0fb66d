"""From spans of documents to the encoder's input, with nothing cut off."""

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

    A span with more pieces than the model has positions becomes several rows (it is listed once a
    row in the spans returned), so an over-long token keeps all of its pieces.

    nested_spans: spans of each document; at least one.
    RETURNS: the spans of each document, one a row; the word pieces of the R rows, padded to the
        longest; and the alignment of every token to its pieces in the flattened rows.
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
            for start in range(0, max(len(all_ids), 1), limit):
                row = slice(start, start + limit)
                row_spans[-1].append(span)
                ids.append([tokenizer.cls_token_id, *all_ids[row], tokenizer.sep_token_id])
                strings.append([tokenizer.cls_token, *all_tokens[row], tokenizer.sep_token])
                offsets.append([(0, 0), *all_offsets[row], (0, 0)])
    batch = _pad(ids, strings, tokenizer)
    padded = np.zeros((*batch.input_ids.shape, 2), dtype=np.int64)
    for row_offsets, target in zip(offsets, padded, strict=True):
        target[: len(row_offsets)] = row_offsets
    flat_spans = list(chain.from_iterable(row_spans))
    align = get_alignment_via_offset_mapping(flat_spans, cast(Ints2d, padded))
    return row_spans, batch, align


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
