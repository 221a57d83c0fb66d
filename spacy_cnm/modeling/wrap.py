"""From a plain BERT to a CNM-BERT that starts as the same function."""

import copy
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

from spacy_cnm.errors import CNMError, Errors, named
from spacy_cnm.ids import StructureTable

from .checkpoint import (
    check_loaded,
    is_structure_key,
    loading_errors,
    source_options,
)
from .config import CNMBertConfig
from .consistency import check_tokenizer, vocabulary_fingerprint
from .model import CNMBertForMaskedLM, CNMBertModel, CNMBertPreTrainedModel
from .pretraining import CNMBertForPreTraining
from .tokenizer import (
    cap_length,
    check_table,
    extend_tokenizer,
    extended_indices,
)

ModelT = TypeVar("ModelT", bound=CNMBertPreTrainedModel)
#: Fields of `CNMBertConfig` that somebody who wraps a BERT may choose.
WRAP_SETTINGS = (
    "structure_size",
    "structure_scale",
    "learn_structure_scale",
    "structure_input",
    "token_dropout",
    "freeze_structure",
    "component_loss_weight",
    "operator_loss_weight",
    "fusion_layer_norm",
)
_BASES = {
    CNMBertModel: BertModel,
    CNMBertForMaskedLM: BertForMaskedLM,
    CNMBertForPreTraining: BertForMaskedLM,
}


def load_or_wrap(
    source: str | os.PathLike[str],
    *,
    cls: type[CNMBertPreTrainedModel] = CNMBertModel,
    tokenizer_config: dict[str, Any] | None = None,
    model_config: dict[str, Any] | None = None,
    structure_config: dict[str, Any] | None = None,
) -> tuple[Any, PreTrainedTokenizerFast]:
    """Load a CNM-BERT checkpoint, or load a BERT and wrap it.

    source: folder or hub id.
    cls: class of the model. Heads that the source does not have are new, from torch's random
        numbers.
    tokenizer_config, model_config: extra arguments for the tokenizer and for the configuration.
    structure_config: how a BERT is wrapped: `table`, the file of a structure table (default: the
        shipped one), and fields of `CNMBertConfig`. A checkpoint has to agree with it.
    RETURNS: a `cls` in evaluation mode and its extended tokenizer.
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
        base = _load_base(_BASES[cls], source, config)
        # A BERT's configuration does not know these fields of a CNM-BERT's.
        given = {key: v for key, v in (model_config or {}).items() if key in WRAP_SETTINGS}
        return wrap_bert(cls, base, table=table, tokenizer=tokenizer, **(given | settings))
    if table:
        settings["structure_fingerprint"] = table.fingerprint
    _check_agrees(config, settings, source)
    model = cls.from_pretrained(source, config=config, **options)
    cap_length(tokenizer, config.max_position_embeddings)
    extended = extend_tokenizer(tokenizer, table, first_id=config.vocab_size)
    check_tokenizer(_encoder_of(model), extended, source)
    return model, extended


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
    _check_known(settings)
    check_table(table)
    plain = _plain_bert(_BASES[cls], base)
    source = plain.name_or_path
    if tokenizer is None:
        tokenizer = _load_tokenizer(source)
    table = table or StructureTable.default()
    spread = plain.get_input_embeddings().weight.std().item()
    settings = {"fusion_layer_norm": False, "structure_scale": spread, **settings}
    model, extended = build_model(cls, plain.config, tokenizer, table, **settings)
    _encoder_of(model).fusion.init_weights(structure_std=0.0)
    result = model.load_state_dict(plain.state_dict(), strict=False)
    lost = [
        key
        for key in result.missing_keys
        if not (is_structure_key(key) or key.startswith("pooler."))
    ]
    if lost or result.unexpected_keys:
        keys = ", ".join([*lost, *result.unexpected_keys])
        raise CNMError(
            Errors.E107.format(kind="other than expected", keys=keys, source=named(source))
        )
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
    if extended is tokenizer:
        extended = copy.deepcopy(tokenizer)
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
        "vocabulary_fingerprint": vocabulary_fingerprint(extended),
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


def _plain_bert(wanted: type[BertPreTrainedModel], base: object) -> BertPreTrainedModel:
    """The BERT to be wrapped: loaded, or the one in memory without a head that is not wanted."""
    if isinstance(base, str | os.PathLike):
        return _load_base(wanted, base)
    if isinstance(base, BertPreTrainedModel):
        _check_is_bert(base.config, base.name_or_path or type(base).__name__)
        base = getattr(base, "bert", base) if wanted is BertModel else base
    if not isinstance(base, wanted):
        remedy = f"Give a folder, a hub name or what {wanted.__name__}.from_pretrained returns."
        kind = f"{wanted.__name__} to be wrapped"
        raise CNMError(Errors.E123.format(value=type(base).__name__, wanted=kind, remedy=remedy))
    return base


def _load_base(
    cls: type[BertPreTrainedModel],
    source: str | os.PathLike[str],
    config: PretrainedConfig | None = None,
) -> BertPreTrainedModel:
    """Load a plain BERT from safetensors, complete."""
    options = source_options(source)
    with loading_errors(source):
        config = config or AutoConfig.from_pretrained(source, **options)
        _check_is_bert(config, source)
        model, info = cls.from_pretrained(
            source,
            config=config,
            use_safetensors=True,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # `check_loaded` reports them
            **options,
        )
    check_loaded(model, source, info)
    return model


def _load_tokenizer(source: str) -> PreTrainedTokenizerBase:
    if not source:
        remedy = "The model was not loaded from anywhere; give its tokenizer too."
        raise CNMError(Errors.E123.format(value=None, wanted="tokenizer", remedy=remedy))
    with loading_errors(source):
        return AutoTokenizer.from_pretrained(source, **source_options(source))


def _check_known(settings: dict[str, Any]) -> None:
    for key in settings:
        if key not in WRAP_SETTINGS:
            raise CNMError(Errors.E111.format(key=key, known=", ".join(WRAP_SETTINGS)))


def _check_agrees(config: PretrainedConfig, settings: dict[str, Any], source: object) -> None:
    for key, value in settings.items():
        found = getattr(config, key)
        if found != value:
            raise CNMError(
                Errors.E112.format(key=key, value=value, found=found, source=named(source))
            )


def _check_is_bert(config: PretrainedConfig, source: object) -> None:
    if config.model_type != "bert":
        raise CNMError(Errors.E110.format(source=named(source), kind=config.model_type))
