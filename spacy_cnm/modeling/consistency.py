"""Whether tables, weights, configuration and tokenizer of a loaded model belong together."""

import hashlib
from typing import Any

import numpy as np
import torch
from transformers import PretrainedConfig, PreTrainedTokenizerBase

from spacy_cnm.errors import CNMError, Errors, named
from spacy_cnm.ids import is_ideograph
from spacy_cnm.ids.arrays import TableArrays


def check_model(model: Any, source: object) -> None:
    """Check what shapes and keys cannot tell of a loaded `CNMBertModel`.

    RAISES CNMError: the name of a table that points outside of the embeddings, what is wrong with
        the structure table, or the name of a structure weight that is not finite.
    """
    config: PretrainedConfig = model.config
    encoder = model.structure
    limits = {
        "token_index": (model.token_index, config.vocab_size),
        "struct_index": (model.struct_index, config.structure_rows),
        "structure.roots": (encoder.roots, len(encoder.node_operator)),
    }
    for key, (tensor, limit) in limits.items():
        if tensor.numel() and not (int(tensor.min()) >= 0 and int(tensor.max()) < limit):
            raise CNMError(Errors.E109.format(key=key, limit=limit, source=named(source)))
    fault = TableArrays(
        # The model knows neither by name, only how many there are.
        characters=np.arange(1, 1 + len(encoder.roots)),
        components=np.arange(1, 1 + config.structure_components),
        roots=encoder.roots.cpu().numpy(),
        node_operator=encoder.node_operator.cpu().numpy(),
        node_children=encoder.node_children.cpu().numpy(),
        groups=tuple((level, arity, count) for level, arity, count in config.structure_groups),
    ).fault()
    if fault:
        raise CNMError(Errors.E120.format(fault=fault, source=named(source)))
    for part in ("structure", "fusion"):
        for name, weight in getattr(model, part).named_parameters():
            if not bool(torch.isfinite(weight).all()):
                raise CNMError(Errors.E121.format(key=f"{part}.{name}", source=named(source)))


def vocabulary_fingerprint(tokenizer: PreTrainedTokenizerBase) -> str:
    """SHA-256 over the tokens and their ids (hexadecimal); equal for equal vocabularies."""
    entries = sorted((index, token) for token, index in tokenizer.get_vocab().items())
    return hashlib.sha256(repr(entries).encode("utf-8", "surrogatepass")).hexdigest()


def check_tokenizer(model: Any, tokenizer: PreTrainedTokenizerBase, source: object) -> None:
    """Check that an extended tokenizer has the ids that a `CNMBertModel` was made for.

    RAISES CNMError: it has another vocabulary, or the same at other ids.
    """
    config: PretrainedConfig = model.config
    vocab = tokenizer.get_vocab()
    n_ids = max(config.vocab_size, 1 + max(vocab.values(), default=0))
    what = ""
    if n_ids != len(model.struct_index):
        what = f"it has {n_ids} ids, the model {len(model.struct_index)}"
    elif tokenizer.unk_token_id != config.unk_token_id:
        what = f"its [UNK] is {tokenizer.unk_token_id}, the model's {config.unk_token_id}"
    elif config.vocabulary_fingerprint:
        if config.vocabulary_fingerprint != vocabulary_fingerprint(tokenizer):
            what = "their vocabularies differ (vocabulary_fingerprint)"
    else:  # saved before there was a fingerprint
        is_char = np.zeros(n_ids, dtype=bool)
        is_char[[i for token, i in vocab.items() if _is_character(token)]] = True
        if not np.array_equal(is_char, model.struct_index.cpu().numpy() > 0):
            what = "their ideographs have other ids"
    if what:
        raise CNMError(Errors.E116.format(source=named(source), what=what))


def check_no_gap(model: Any, tokenizer: PreTrainedTokenizerBase) -> None:
    """Check that the base's tokenizer, extended by its own size, is the model's tokenizer.

    RAISES CNMError: the embeddings have rows without tokens, which come before the added ids.
    """
    rows = model.config.vocab_size
    tokens = 1 + max(index for index in tokenizer.get_vocab().values() if index < rows)
    if tokens != rows:
        raise CNMError(Errors.E117.format(rows=rows, tokens=tokens))


def _is_character(token: str) -> bool:
    char = token.removeprefix("##")
    return len(char) == 1 and is_ideograph(char)
