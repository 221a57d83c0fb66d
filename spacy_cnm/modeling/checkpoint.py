"""What a checkpoint must hold, and errors that say what it lacks."""

import json
import logging
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from huggingface_hub.utils import get_session
from torch import Tensor, nn

from spacy_cnm.errors import CNMError, Errors, named

from .consistency import check_model

#: What a folder needs, each under one of these names.
_FILES = (
    ("config.json",),
    ("model.safetensors", "model.safetensors.index.json"),
    ("tokenizer.json", "vocab.txt"),
)
#: First or second part of every key of the structure side.
_STRUCTURE_PARTS = ("structure", "fusion", "token_index", "struct_index", "component_head")
#: Seconds to wait for the hub's first answer.
_HUB_TIMEOUT = 5.0
#: How transformers ends its warning where nothing but the pooler is new.
_NEW_POOLER = "newly initialized: ['pooler.dense.bias', 'pooler.dense.weight']"
_HUB_ID = re.compile(r"[\w-][\w.-]*(/[\w-][\w.-]*)?")


def is_structure_key(key: str) -> bool:
    """Whether a state-dict key belongs to the structure side."""
    return any(part in _STRUCTURE_PARTS for part in key.split(".")[:2])


def source_options(source: str | os.PathLike[str]) -> dict[str, Any]:
    """Options for transformers' `from_pretrained`: a local folder never asks the network.

    Nor does a hub name when the hub is out of reach: it is loaded from the cache or fails at once,
    where huggingface_hub would try again and again for half a minute.

    RAISES CNMError: `source` is neither a folder nor the name of a model on the hub.
    """
    if str(source) and Path(source).is_dir():
        return {"local_files_only": True}
    if Path(source).exists() or not _HUB_ID.fullmatch(str(source)):
        raise CNMError(Errors.E104.format(source=named(source)))
    return {} if _hub_answers() else {"local_files_only": True}


def _hub_answers() -> bool:
    """Whether the hub can be reached; never in huggingface_hub's offline mode."""
    try:
        get_session().head(constants.ENDPOINT, timeout=_HUB_TIMEOUT)
    except OSError:
        return False
    return True


@contextmanager
def loading_errors(source: object) -> Iterator[None]:
    """Turn transformers' loading failures into errors that name the source and the remedy."""
    try:
        yield
    except CNMError:
        raise
    except Exception as error:  # tokenizers raises nothing more special
        reason = _fault(source) or short_reason(error)
        raise CNMError(Errors.E106.format(source=named(source), reason=reason)) from error


@contextmanager
def silent_about_pooler() -> Iterator[None]:
    """Keep transformers from warning of a new pooler, which a pretrained encoder does not have."""
    logger = logging.getLogger("transformers.modeling_utils")
    logger.addFilter(_is_not_about_pooler)
    try:
        yield
    finally:
        logger.removeFilter(_is_not_about_pooler)


def _is_not_about_pooler(record: logging.LogRecord) -> bool:
    return _NEW_POOLER not in record.getMessage()


def write_model(folder: Path, model: Any, tokenizer: Any) -> None:
    """Write a Hugging Face folder.

    RAISES OSError: it cannot be written.
    """
    with writing_errors():
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)


@contextmanager
def writing_errors() -> Iterator[None]:
    """Turn what safetensors and tokenizers raise for a full disk into an OSError."""
    try:
        yield
    except Exception as error:  # tokenizers raises nothing more special
        raise OSError(str(error)) from error


def short_reason(error: Exception) -> str:
    """The first line of an error's message, for another message."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:300]


def _fault(source: object) -> str:
    """What a folder lacks to be a model, or which of its files is damaged; "" if neither."""
    if not isinstance(source, str | os.PathLike) or not Path(source).is_dir():
        return ""
    absent = [names[0] for names in _FILES if not any(Path(source, n).exists() for n in names)]
    if absent:
        return f"the folder has no {', no '.join(absent)}"
    for path in sorted(Path(source).glob("*.json")):
        try:
            json.loads(path.read_bytes())
        except ValueError as error:
            return f"{path.name} is damaged ({error})"
    return ""


def check_loaded(model: Any, source: object, info: Mapping[str, Any]) -> None:
    """Check a model that transformers has loaded, a CNM-BERT or the plain BERT to be wrapped.

    A model may lack its pooler, all of a masked-LM head, all of the component head, and the scale
    of the structure where it is learned.
    info: transformers' loading info (missing_keys, unexpected_keys, mismatched_keys).
    RAISES CNMError: with the names of the keys that are missing, extra, misshapen or out of range.
    """
    # Older and newer transformers list names or (name, shape, expected shape).
    misshapen = [key if isinstance(key, str) else key[0] for key in info["mismatched_keys"]]
    if misshapen:
        raise CNMError(Errors.E108.format(keys=_names(misshapen), source=named(source)))
    missing = set(info["missing_keys"])
    tied = set(model._tied_weights_keys or ())
    state = model.state_dict()
    for prefix in ("cls.", "component_head."):
        head = {key for key in state if key.startswith(prefix)} - tied
        if head <= missing:
            missing -= head | tied
    missing = {key for key in missing if not key.endswith("fusion.scale")}
    bad = {
        "missing": [key for key in missing if "pooler" not in key.split(".")[:2]],
        "unexpected": list(filter(is_structure_key, info["unexpected_keys"])),
    }
    for kind, keys in bad.items():
        if keys:
            raise CNMError(Errors.E107.format(kind=kind, keys=_names(keys), source=named(source)))
    encoder = getattr(model, "bert", model)
    if hasattr(encoder, "structure"):
        check_model(encoder, source)


def check_state(model: nn.Module, state: Mapping[str, Tensor], source: object) -> None:
    """Check that a state dict has exactly the model's keys and shapes.

    RAISES CNMError: with the names of the keys that are missing, extra or misshapen.
    """
    expected = model.state_dict()
    for kind, keys in (
        ("missing", expected.keys() - state.keys()),
        ("unexpected", state.keys() - expected.keys()),
    ):
        if keys:
            raise CNMError(Errors.E107.format(kind=kind, keys=_names(keys), source=named(source)))
    misshapen = [
        f"{key} is {tuple(tensor.shape)}, not {tuple(expected[key].shape)}"
        for key, tensor in state.items()
        if tensor.shape != expected[key].shape
    ]
    if misshapen:
        raise CNMError(Errors.E108.format(keys=_names(misshapen), source=named(source)))


def _names(keys: Iterable[str], most: int = 10) -> str:
    """Names for a message, structure side first; of many only some."""
    ordered = sorted(keys, key=lambda key: (not is_structure_key(key), key))
    rest = f" and {len(ordered) - most} more" if len(ordered) > most else ""
    return ", ".join(ordered[:most]) + rest
