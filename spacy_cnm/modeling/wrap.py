"""From a plain BERT to a CNM-BERT that starts as the same function."""

import os
from typing import Any, TypeVar

import torch
from transformers import (
    AutoConfig,
    AutoTokenizer,
    BertForMaskedLM,
    BertModel,
    BertPreTrainedModel,
    PretrainedConfig,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
)

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import StructureTable

from .checkpoint import is_structure_key, loading_errors, source_options
from .config import CNMBertConfig
from .model import CNMBertForMaskedLM, CNMBertModel, CNMBertPreTrainedModel
from .tokenizer import cap_length, extend_tokenizer, extended_indices

ModelT = TypeVar("ModelT", bound=CNMBertPreTrainedModel)
#: Fields of `CNMBertConfig` that somebody who wraps a BERT may choose.
WRAP_SETTINGS = ("structure_size", "structure_scale", "fusion_layer_norm")
_BASES = {CNMBertModel: BertModel, CNMBertForMaskedLM: BertForMaskedLM}


def load_or_wrap(
    source: str | os.PathLike[str],
    *,
    tokenizer_config: dict[str, Any] | None = None,
    model_config: dict[str, Any] | None = None,
    structure_config: dict[str, Any] | None = None,
) -> tuple[CNMBertModel, PreTrainedTokenizerFast]:
    """Load a CNM-BERT checkpoint, or load a BERT and wrap it.

    source: folder or hub id.
    tokenizer_config, model_config: extra arguments for the tokenizer and for the configuration.
    structure_config: how a BERT is wrapped: `table`, the file of a structure table (default: the
        shipped one), and fields of `CNMBertConfig`. A checkpoint has to agree with it.
    RETURNS: the model in evaluation mode and its extended tokenizer.
    RAISES CNMError: neither, or a damaged checkpoint; the message names it.
    """
    options = source_options(source)
    settings = dict(structure_config or {})
    table_path = settings.pop("table", None)
    table = StructureTable.load(table_path) if table_path else None
    _check_known(settings)
    with loading_errors(source):
        config = AutoConfig.from_pretrained(source, **options, **(model_config or {}))
        tokenizer = AutoTokenizer.from_pretrained(source, **options, **(tokenizer_config or {}))
    if config.model_type != CNMBertConfig.model_type:
        base = _load_base(BertModel, source, config)
        return wrap_bert(CNMBertModel, base, table=table, tokenizer=tokenizer, **settings)
    if table:
        settings["structure_fingerprint"] = table.fingerprint
    _check_agrees(config, settings, source)
    model = CNMBertModel.from_pretrained(source, config=config, **options)
    cap_length(tokenizer, config.max_position_embeddings)
    return model, extend_tokenizer(tokenizer)


def wrap_bert(
    cls: type[ModelT],
    base: str | os.PathLike[str] | BertPreTrainedModel,
    *,
    table: StructureTable | None = None,
    tokenizer: PreTrainedTokenizerBase | None = None,
    **settings: Any,
) -> tuple[ModelT, PreTrainedTokenizerFast]:
    """Wrap a plain BERT; see `CNMBertPreTrainedModel.from_bert`.

    RETURNS: the model in evaluation mode and its extended tokenizer.
    """
    table = table or StructureTable.default()
    source = base.name_or_path if isinstance(base, BertPreTrainedModel) else base
    if tokenizer is None:
        with loading_errors(source):
            tokenizer = AutoTokenizer.from_pretrained(source, **source_options(source))
    if not isinstance(base, BertPreTrainedModel):
        base = _load_base(_BASES[cls], base)
    _check_is_bert(base.config, source)
    spread = base.get_input_embeddings().weight.std().item()
    settings = {"fusion_layer_norm": False, "structure_scale": spread, **settings}
    model, extended = build_model(cls, base.config, tokenizer, table, **settings)
    _encoder_of(model).fusion.init_weights(structure_std=0.0)
    result = model.load_state_dict(base.state_dict(), strict=False)
    lost = [key for key in result.missing_keys if not is_structure_key(key)]
    if lost or result.unexpected_keys:
        keys = ", ".join([*lost, *result.unexpected_keys])
        raise CNMError(Errors.E107.format(kind="other than expected", keys=keys, source=source))
    return model, extended


def build_model(
    cls: type[ModelT],
    config: PretrainedConfig,
    tokenizer: PreTrainedTokenizerBase,
    table: StructureTable,
    **settings: Any,
) -> tuple[ModelT, PreTrainedTokenizerFast]:
    """A freshly initialised model for a BERT shape, a tokenizer and a structure table.

    config: the backbone's `BertConfig`.
    tokenizer: its tokenizer, extended or not.
    settings: fields of `CNMBertConfig`.
    RETURNS: the model in evaluation mode, with the table in its buffers, and its tokenizer.
    """
    extended = extend_tokenizer(tokenizer, table, first_id=config.vocab_size)
    cap_length(extended, config.max_position_embeddings)
    token_index, struct_index = extended_indices(extended, table, config.vocab_size)
    shape = config.to_diff_dict() | {
        "attn_implementation": config._attn_implementation,
        "extended_vocab_size": len(token_index),
        "unk_token_id": extended.unk_token_id,
        "structure_rows": table.n_rows,
        "structure_components": len(table.components),
        "structure_groups": [list(group) for group in table.groups],
        "structure_fingerprint": table.fingerprint,
    }
    shape = {
        key: value for key, value in shape.items() if key not in ("model_type", "architectures")
    }
    model = cls(CNMBertConfig(**(shape | settings)))
    encoder = _encoder_of(model)
    encoder.structure.set_table(table)
    encoder.token_index.copy_(torch.from_numpy(token_index))
    encoder.struct_index.copy_(torch.from_numpy(struct_index))
    return model.eval(), extended


def _encoder_of(model: Any) -> CNMBertModel:
    return model if isinstance(model, CNMBertModel) else model.bert


def _load_base(
    cls: type[BertPreTrainedModel],
    source: str | os.PathLike[str],
    config: PretrainedConfig | None = None,
) -> BertPreTrainedModel:
    """Load a plain BERT from safetensors."""
    options = source_options(source)
    with loading_errors(source):
        config = config or AutoConfig.from_pretrained(source, **options)
        _check_is_bert(config, source)
        return cls.from_pretrained(source, config=config, use_safetensors=True, **options)


def _check_known(settings: dict[str, Any]) -> None:
    for key in settings:
        if key not in WRAP_SETTINGS:
            raise CNMError(Errors.E111.format(key=key, known=", ".join(WRAP_SETTINGS)))


def _check_agrees(config: PretrainedConfig, settings: dict[str, Any], source: object) -> None:
    for key, value in settings.items():
        found = getattr(config, key)
        if found != value:
            raise CNMError(Errors.E112.format(key=key, value=value, found=found, source=source))


def _check_is_bert(config: PretrainedConfig, source: object) -> None:
    if config.model_type != "bert":
        raise CNMError(Errors.E110.format(source=source, kind=config.model_type))
