"""The extended vocabulary: one id for every ideograph, the base tokenizer for everything else."""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import IDEOGRAPH_RANGES, StructureTable, is_ideograph, unify

_SPECIAL_TOKENS = ("unk_token", "cls_token", "sep_token", "pad_token", "mask_token")


def extend_tokenizer(
    base: PreTrainedTokenizerBase,
    table: StructureTable | None = None,
    *,
    first_id: int | None = None,
) -> PreTrainedTokenizerFast:
    """Give every ideograph its own piece and id; leave all other text to the base tokenizer.

    The base vocabulary keeps its ids. Ideographs that it lacks get the ids after it, by code
    point. The literal text of a special token stays text (`split_special_tokens`).

    base: a fast WordPiece tokenizer (any Chinese BERT's). An extended one is returned as it is.
    table: the structure table, whose characters all get an id. Default: the shipped one.
    first_id: id of the first added ideograph: V, the model's `config.vocab_size`. Default: the
        size of the base vocabulary, wrong for a model whose embedding has more rows than that.
    RAISES CNMError: the tokenizer is slow or is not a WordPiece tokenizer, or it has or was given
        other ids than a model of `first_id` embeddings needs.
    """
    if not isinstance(base, PreTrainedTokenizerBase):
        remedy = "Load one with transformers' AutoTokenizer."
        raise CNMError(Errors.E123.format(value=base, wanted="tokenizer", remedy=remedy))
    check_table(table)
    if not isinstance(base, PreTrainedTokenizerFast):
        raise CNMError(Errors.E101.format(name=base.name_or_path, kind=type(base).__name__))
    spec = json.loads(base.backend_tokenizer.to_str())
    if spec["model"]["type"] != "WordPiece":
        raise CNMError(Errors.E102.format(name=base.name_or_path, kind=spec["model"]["type"]))
    if is_extended(base):
        found = first_added_id(base)
        if first_id not in (None, found):
            raise CNMError(Errors.E115.format(found=found, wanted=first_id))
        return base
    table = table or StructureTable.default()
    vocab: dict[str, int] = spec["model"]["vocab"]
    vocab.update((entry["content"], entry["id"]) for entry in spec["added_tokens"])
    last = max(vocab, key=vocab.__getitem__)
    if first_id is None:
        first_id = vocab[last] + 1
    elif first_id <= vocab[last]:
        raise CNMError(Errors.E103.format(token=last, index=vocab[last], size=first_id))
    ideographs = sorted(_all_ideographs().union(table))
    added = (char for char in ideographs if char not in vocab)
    vocab.update((char, first_id + i) for i, char in enumerate(added))
    own = {entry["content"] for entry in spec["added_tokens"]}
    others = (char for char in ideographs if char not in own)
    spec["added_tokens"] += _kept_from_normalizer(base, others, vocab)
    spec["pre_tokenizer"] = _isolating(ideographs, spec["pre_tokenizer"])
    spec["truncation"] = spec["padding"] = None
    special = {name: getattr(base, name) for name in _SPECIAL_TOKENS if getattr(base, name)}
    return PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_str(json.dumps(spec)),
        model_max_length=base.model_max_length,
        split_special_tokens=True,
        clean_up_tokenization_spaces=False,
        additional_special_tokens=base.additional_special_tokens,
        **special,
    )


def is_extended(tokenizer: PreTrainedTokenizerFast) -> bool:
    """Whether a tokenizer already has an id for every ideograph."""
    vocab = tokenizer.get_vocab()
    return all(chr(high) in vocab for _, high in IDEOGRAPH_RANGES)


def first_added_id(tokenizer: PreTrainedTokenizerFast) -> int:
    """Where the ideographs begin that close an extended vocabulary, by code point."""
    by_id = sorted(tokenizer.get_vocab().items(), key=lambda entry: -entry[1])
    first, least = by_id[0][1] + 1, chr(0x10FFFF)
    for token, index in by_id:
        if index != first - 1 or len(token) > 1 or not is_ideograph(token) or token > least:
            break
        first, least = index, token
    return first


def check_table(table: object) -> None:
    """Check the type of an argument `table`, None for the shipped one."""
    if not isinstance(table, StructureTable | None):
        remedy = "Load a file with StructureTable.load(path)."
        raise CNMError(Errors.E123.format(value=table, wanted="structure table", remedy=remedy))


def extended_indices(
    tokenizer: PreTrainedTokenizerFast, table: StructureTable, vocab_size: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """What the model needs to know about the extended ids.

    tokenizer: an extended tokenizer.
    vocab_size: V, rows of the token embedding.
    RETURNS: token_index (E,): the base id of each extended id, that of the unified character for
        compatibility ideographs and radicals, [UNK] for what the base lacks; and struct_index
        (E,): row of the structure table, 0 for what is no ideograph.
    RAISES CNMError: a base token's id is not below `vocab_size`.
    """
    vocab = tokenizer.get_vocab()
    size = max(vocab_size, 1 + max(vocab.values()))
    unknown = vocab[tokenizer.unk_token]
    token_index = np.full(size, unknown, dtype=np.int32)
    token_index[:vocab_size] = np.arange(vocab_size)
    struct_index = np.zeros(size, dtype=np.int32)
    for token, index in vocab.items():
        char = token.removeprefix("##")
        if len(char) == 1 and is_ideograph(char):
            struct_index[index] = table[char]
            if index >= vocab_size:
                base_id = vocab[unify(char)]
                token_index[index] = base_id if base_id < vocab_size else unknown
        elif index >= vocab_size:
            raise CNMError(Errors.E103.format(token=token, index=index, size=vocab_size))
    return token_index, struct_index


def cap_length(tokenizer: PreTrainedTokenizerBase, max_positions: int) -> None:
    """Bound the tokenizer's maximal length by the model's position table.

    RAISES CNMError: it leaves no room for a word between [CLS] and [SEP].
    """
    length = tokenizer.model_max_length
    if not isinstance(length, int | float) or not length >= 4:
        raise CNMError(Errors.E124.format(length=length))
    tokenizer.model_max_length = min(length, max_positions)


def _all_ideographs() -> set[str]:
    return {chr(code) for low, high in IDEOGRAPH_RANGES for code in range(low, high + 1)}


def _isolating(ideographs: list[str], rule: dict[str, Any] | None) -> dict[str, Any]:
    """The base's pre-tokenizer rule, after one that makes every ideograph a word of its own."""
    # Neighbours differ from their position by the same amount: one range of code points.
    runs = groupby(enumerate(map(ord, ideographs)), key=lambda pair: pair[1] - pair[0])
    codes = ([code for _, code in run] for _, run in runs)
    pattern = "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in codes)
    split = {
        "type": "Split",
        "pattern": {"Regex": f"[{pattern}]"},
        "behavior": "Isolated",
        "invert": False,
    }
    return {"type": "Sequence", "pretokenizers": [split, *([rule] if rule else [])]}


def _kept_from_normalizer(
    base: PreTrainedTokenizerFast, ideographs: Iterable[str], vocab: dict[str, int]
) -> list[dict[str, Any]]:
    """Added-token entries for ideographs that the base normalizer would rewrite.

    Stripping accents decomposes compatibility ideographs (U+FA10 to 塚); an added token is taken
    out of the text before that, so the character keeps its id and can be decoded.
    """
    normalizer = base.backend_tokenizer.normalizer
    if normalizer is None:
        return []
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return [
        {"id": vocab[char], "content": char, **flags, "special": False}
        for char in ideographs
        if normalizer.normalize_str(char).strip() != char
    ]
