"""CNM-BERT as the thinc model inside spaCy's `transformer` component."""

from collections.abc import Callable
from typing import Any

import torch
from spacy.tokens import Doc
from thinc.api import Model, chain, get_torch_default_device
from transformers.modeling_outputs import ModelOutput

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling.wrap import load_or_wrap

from . import forking
from .shim import CNMShim
from .span_getters import WordpieceSpans
from .stt import (
    FullTransformerBatch,
    HFObjects,
    TransformerModel,
    WordpieceBatch,
    convert_inputs,
    convert_outputs,
    maybe_flush_pytorch_cache,
    pytorch_forward,
    set_pytorch_transformer,
    split_trf_batch,
)
from .wordpieces import tokenize_spans

#: Word pieces, padding included, that prediction gives the encoder at once.
PIECES_AT_ONCE = 2**15
TOK2VEC_ARCHITECTURE = "spacy_cnm.Tok2VecCNMTransformer.v1"


class CNMTransformerModel(TransformerModel):
    """A thinc model over documents: encodes spans with CNM-BERT, aligned to spaCy's tokens.

    Same attributes and properties as spacy-transformers' `TransformerModel`. Nothing is read or
    downloaded before `initialize`.
    """

    def __init__(
        self,
        name: str,
        get_spans: Callable[[list[Doc]], list[list[Any]]],
        tokenizer_config: dict[str, Any],
        transformer_config: dict[str, Any],
        mixed_precision: bool,
        grad_scaler_config: dict[str, Any],
        structure_config: dict[str, Any],
    ) -> None:
        forking.install()
        self._settings: dict[str, Any] = {
            "tokenizer_config": dict(tokenizer_config),
            "transformer_config": dict(transformer_config),
            "mixed_precision": mixed_precision,
            "grad_scaler_config": dict(grad_scaler_config),
            "structure_config": dict(structure_config),
        }
        Model.__init__(
            self,
            "transformer",
            forward,
            init=init,
            layers=[_wrapper(self._settings)],
            dims={"nO": None},
            attrs={
                "get_spans": get_spans,
                "name": name,
                "set_transformer": set_pytorch_transformer,
                "has_transformer": False,
                "flush_cache_chance": 0.0,
                "replace_listener": replace_listener,
                "replace_listener_cfg": replace_listener_cfg,
            },
        )

    def copy(self) -> "CNMTransformerModel":
        """A model of the same class, settings and weights, with an id of its own."""
        return self._copy()

    def _copy(self, seen: dict[int, Any] | None = None) -> "CNMTransformerModel":
        """What thinc calls where this model is a layer of one that is copied."""
        copied = CNMTransformerModel(self.attrs["name"], self.attrs["get_spans"], **self._settings)
        copied.from_bytes(self.to_bytes())
        return copied

    def from_bytes(self, bytes_data: bytes) -> "CNMTransformerModel":
        """Restore what `to_bytes` gave.

        RAISES CNMError: the bytes are damaged, cut off, or do not fit; see `CNMShim.from_bytes`.
        """
        try:
            super().from_bytes(bytes_data)
        except CNMError:
            raise
        except ValueError as error:
            raise CNMError(Errors.E208.format(reason=error)) from error
        return self


def init(model: CNMTransformerModel, X: Any = None, Y: Any = None) -> None:
    """Load the encoder that `name` names; wrap it if it is a plain BERT."""
    if model.attrs["has_transformer"]:
        return
    encoder, tokenizer = load_or_wrap(
        model.attrs["name"],
        tokenizer_config=model._settings["tokenizer_config"],
        model_config=model._settings["transformer_config"],
        structure_config=model._settings["structure_config"],
    )
    encoder.to(get_torch_default_device())
    model.attrs["set_transformer"](model, HFObjects(tokenizer, encoder, None))


def forward(
    model: CNMTransformerModel, docs: list[Doc], is_train: bool
) -> tuple[FullTransformerBatch, Callable[[FullTransformerBatch], list[Doc]]]:
    """Encode documents; the callback takes gradients of the same shape."""
    tokenizer = model.tokenizer
    if tokenizer is None:
        raise CNMError(Errors.E204)
    get_spans = model.attrs["get_spans"]
    by_pieces = isinstance(get_spans, WordpieceSpans)
    nested_spans = get_spans(docs, tokenizer) if by_pieces else get_spans(docs)
    # Some span getters give empty documents an empty span, which aligns to nothing.
    nested_spans = [[span for span in spans if len(span)] for spans in nested_spans]
    if not any(nested_spans):
        return FullTransformerBatch.empty(len(docs)), lambda d_output: docs
    maybe_flush_pytorch_cache(chance=model.attrs.get("flush_cache_chance", 0))
    row_spans, wordpieces, align = tokenize_spans(nested_spans, tokenizer)
    if is_train:
        model_output, backprop_encoder = model.layers[0].begin_update(wordpieces)
    else:
        model_output = _predict_in_parts(model.layers[0], wordpieces)

    def backprop(d_output: FullTransformerBatch) -> list[Doc]:
        if is_train:
            backprop_encoder(d_output.model_output)
        return docs

    output = FullTransformerBatch(
        spans=row_spans, wordpieces=wordpieces, model_output=model_output, align=align
    )
    return output, backprop


def _predict_in_parts(encoder: Model, wordpieces: WordpieceBatch) -> ModelOutput:
    """Encode so many rows at once that a book's activations fit into memory."""
    n_rows = max(1, PIECES_AT_ONCE // wordpieces.input_ids.shape[1])
    starts = range(0, len(wordpieces), n_rows)
    parts = [encoder.predict(wordpieces[start : start + n_rows]) for start in starts]
    if len(parts) == 1:
        return parts[0]
    output = {}
    for key, value in parts[0].items():
        values = [part[key] for part in parts]
        layers = isinstance(value, tuple)  # hidden states and attentions: one tensor a layer
        output[key] = (
            tuple(map(torch.cat, zip(*values, strict=True))) if layers else torch.cat(values)
        )
    return type(parts[0])(**output)


def replace_listener(model: CNMTransformerModel) -> Model:
    """The layer that takes a listener's place: the encoder itself, split by document."""
    return chain(model, split_trf_batch())


def replace_listener_cfg(
    model_config: dict[str, Any], listener_config: dict[str, Any]
) -> dict[str, Any]:
    """The config of the layer that takes a listener's place."""
    taken_over: dict[str, Any] = {
        key: listener_config[key] for key in ("pooling", "grad_factor") if key in listener_config
    }
    return {**model_config, **taken_over, "@architectures": TOK2VEC_ARCHITECTURE}


def _wrapper(settings: dict[str, Any]) -> Model:
    """The thinc layer around the torch module."""
    shim = CNMShim(
        HFObjects(None, None, None, settings["tokenizer_config"], settings["transformer_config"]),
        mixed_precision=settings["mixed_precision"],
        grad_scaler_config=dict(settings["grad_scaler_config"]),
    )
    return Model(
        "hf-pytorch",
        pytorch_forward,
        attrs={"convert_inputs": convert_inputs, "convert_outputs": convert_outputs},
        shims=[shim],
        dims={"nI": None, "nO": None},
    )
