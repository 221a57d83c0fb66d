"""What a checkpoint must hold, and errors that say what it lacks."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from huggingface_hub.utils import get_session
from safetensors import SafetensorError
from torch import Tensor, nn
from transformers import PretrainedConfig

from spacy_cnm.errors import CNMError, Errors

#: First or second part of every key of the structure side.
_STRUCTURE_PARTS = ("structure", "fusion", "token_index", "struct_index")
#: Seconds to wait for the hub's first answer.
_HUB_TIMEOUT = 5.0
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
    if Path(source).is_dir():
        return {"local_files_only": True}
    if Path(source).exists() or not _HUB_ID.fullmatch(str(source)):
        raise CNMError(Errors.E104.format(source=source))
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
    except (OSError, ValueError, SafetensorError) as error:
        raise CNMError(Errors.E106.format(source=source, reason=error)) from error


def check_loaded(model: Any, source: object, info: Mapping[str, Any]) -> None:
    """Check a model that transformers has loaded: its structure side and every shape.

    info: transformers' loading info (missing_keys, unexpected_keys, mismatched_keys).
    RAISES CNMError: with the names of the keys that are missing, extra, misshapen or out of range.
    """
    # Older and newer transformers list names or (name, shape, expected shape).
    misshapen = [key if isinstance(key, str) else key[0] for key in info["mismatched_keys"]]
    if misshapen:
        raise CNMError(Errors.E108.format(keys=", ".join(misshapen), source=source))
    for kind in ("missing", "unexpected"):
        bad = sorted(filter(is_structure_key, info[f"{kind}_keys"]))
        if bad:
            raise CNMError(Errors.E107.format(kind=kind, keys=", ".join(bad), source=source))
    check_tables(getattr(model, "bert", model), source)


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
            names = ", ".join(sorted(keys))
            raise CNMError(Errors.E107.format(kind=kind, keys=names, source=source))
    misshapen = [
        f"{key} is {tuple(tensor.shape)}, not {tuple(expected[key].shape)}"
        for key, tensor in state.items()
        if tensor.shape != expected[key].shape
    ]
    if misshapen:
        raise CNMError(Errors.E108.format(keys=", ".join(misshapen), source=source))


def check_tables(model: Any, source: object) -> None:
    """Check that the integer tables of a `CNMBertModel` point inside the embeddings.

    RAISES CNMError: with the name of the first table that does not.
    """
    config: PretrainedConfig = model.config
    encoder = model.structure
    n_nodes = len(encoder.node_operator)
    limits = {
        "token_index": (model.token_index, config.vocab_size),
        "struct_index": (model.struct_index, config.structure_rows),
        "structure.roots": (encoder.roots, n_nodes),
        "structure.node_operator": (
            encoder.node_operator,
            encoder.operator_embeddings.num_embeddings,
        ),
        "structure.node_children": (encoder.node_children, n_nodes),
    }
    for key, (tensor, limit) in limits.items():
        if tensor.numel() and not (int(tensor.min()) >= 0 and int(tensor.max()) < limit):
            raise CNMError(Errors.E109.format(key=key, limit=limit, source=source))
