"""Registered architectures: CNM-BERT for the `transformer` component, and as a tok2vec layer."""

from collections.abc import Callable
from typing import Any

import spacy
from spacy.tokens import Doc, Span
from thinc.api import Model, chain
from thinc.types import Floats2d, Ragged

from .stt import FullTransformerBatch, split_trf_batch, trfs2arrays
from .transformer_model import TOK2VEC_ARCHITECTURE, CNMTransformerModel

SpanGetter = Callable[[list[Doc]], list[list[Span]]]


@spacy.registry.architectures("spacy_cnm.CNMTransformerModel.v1")
def create_cnm_transformer(
    name: str,
    get_spans: SpanGetter,
    tokenizer_config: dict[str, Any] = {"use_fast": True},  # noqa: B006 (never changed)
    transformer_config: dict[str, Any] = {},  # noqa: B006
    mixed_precision: bool = False,
    grad_scaler_config: dict[str, Any] = {},  # noqa: B006
    structure_config: dict[str, Any] = {},  # noqa: B006
) -> Model[list[Doc], FullTransformerBatch]:
    """CNM-BERT for the stock `transformer` factory; listeners use the stock TransformerListener.

    name: a CNM-BERT checkpoint or any Chinese BERT (folder or hub id); a BERT is wrapped on
        `initialize`. Nothing else reads it: a saved pipeline is complete.
    get_spans: cuts documents into windows, e.g. `spacy_cnm.wordpiece_spans.v1`. Rows that are too
        long for the model are split, never cut off.
    tokenizer_config: settings for the tokenizer, which has to be a fast one.
    transformer_config: settings for the transformer's configuration, e.g. output_attentions.
    mixed_precision, grad_scaler_config: as in `spacy-transformers.TransformerModel.v3`.
    structure_config: how a plain BERT is wrapped: fields of `CNMBertConfig` (structure_size,
        structure_scale, fusion_layer_norm) and `table`, a file made by `spacy-cnm ids build`.
    """
    return CNMTransformerModel(
        name,
        get_spans,
        tokenizer_config,
        transformer_config,
        mixed_precision,
        grad_scaler_config,
        structure_config,
    )


@spacy.registry.architectures(TOK2VEC_ARCHITECTURE)
def create_tok2vec_cnm_transformer(
    name: str,
    get_spans: SpanGetter,
    pooling: Model[Ragged, Floats2d],
    tokenizer_config: dict[str, Any] = {"use_fast": True},  # noqa: B006
    transformer_config: dict[str, Any] = {},  # noqa: B006
    mixed_precision: bool = False,
    grad_scaler_config: dict[str, Any] = {},  # noqa: B006
    structure_config: dict[str, Any] = {},  # noqa: B006
    grad_factor: float = 1.0,
) -> Model[list[Doc], list[Floats2d]]:
    """CNM-BERT as a component's own tok2vec layer; what `nlp.replace_listeners` puts in.

    pooling: reduces the word pieces of a token to one vector, e.g. `reduce_mean.v1`.
    grad_factor: factor on the gradient that reaches the encoder. Others as above.
    """
    encoder = create_cnm_transformer(
        name,
        get_spans,
        tokenizer_config,
        transformer_config,
        mixed_precision,
        grad_scaler_config,
        structure_config,
    )
    # The nesting of what `replace_listeners` builds, so that saved weights find their layers.
    return chain(chain(encoder, split_trf_batch()), trfs2arrays(pooling, grad_factor))
