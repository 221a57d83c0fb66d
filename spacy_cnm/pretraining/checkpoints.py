"""Checkpoints of a run: complete or not there at all, and nothing in them is unpickled."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_folder
from spacy_cnm.modeling.checkpoint import short_reason, write_model, writing_errors

#: Folder of the checkpoints in a run's output.
CHECKPOINTS = "checkpoints"
_NAME = re.compile(r"step-(\d+)")
_STATE = "state.json"
_OPTIMIZER = "optimizer.safetensors"
_PARTS = {"step", "run", "schedule", "scaler", "config", "optimizer"}
#: Of a model's config, what may differ from one version of a library to another.
_OF_LIBRARIES = {"architectures", "dtype", "torch_dtype", "transformers_version"}


def save_model(folder: Path, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
    """Write a Hugging Face folder, in one move."""
    with atomic_folder(folder) as temporary:
        write_model(temporary, model, tokenizer)


def save_checkpoint(
    folder: Path,
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    optimizer: torch.optim.Optimizer,
    state: dict[str, Any],
    *,
    keep: int,
) -> Path:
    """Write what a run needs to go on, then remove the oldest checkpoints.

    folder: where the checkpoints are; the new one is named by state["step"].
    state: JSON-able; everything but weights and optimizer.
    keep: checkpoints to keep, the new one included.
    RETURNS: the new checkpoint.
    """
    target = folder / f"step-{state['step']:08}"
    with atomic_folder(target) as temporary:
        write_model(temporary, model, tokenizer)
        tensors, rest = _flatten(optimizer)
        with writing_errors():
            save_file(tensors, temporary / _OPTIMIZER)
        # Not srsly, which rounds: a learning rate has to come back to the last bit.
        text = json.dumps({**state, "optimizer": rest}, indent=1)
        (temporary / _STATE).write_text(text, encoding="utf-8")
    for old in _checkpoints(folder)[:-keep]:
        shutil.rmtree(old, ignore_errors=True)
    return target


def newest_checkpoint(folder: Path) -> Path | None:
    """The checkpoint with the highest step, if there is one."""
    return next(reversed(_checkpoints(folder)), None)


def load_checkpoint(
    checkpoint: Path, model: PreTrainedModel, optimizer: torch.optim.Optimizer
) -> dict[str, Any]:
    """Put weights and optimizer back as they were.

    RETURNS: the state that was given to `save_checkpoint`.
    RAISES CNMError: the checkpoint is damaged, or is of another model.
    """
    try:
        state = read_state(checkpoint)
        then = json.loads((checkpoint / "config.json").read_bytes())
        now = json.loads(json.dumps(model.config.to_dict()))
        shared = then.keys() & now.keys() - _OF_LIBRARIES
        check_same(checkpoint, {k: then[k] for k in shared}, {k: now[k] for k in shared})
        weights = load_file(checkpoint / "model.safetensors")
        missing, unexpected = model.load_state_dict(weights, strict=False)
        # The file holds tied weights once.
        missing = [key for key in missing if key not in (model._tied_weights_keys or ())]
        if missing or unexpected:
            raise ValueError(f"its weights are another model's ({[*missing, *unexpected][0]})")
        _restore(optimizer, load_file(checkpoint / _OPTIMIZER), state.pop("optimizer"))
    except CNMError:
        raise
    except Exception as error:  # safetensors has its own
        reason = short_reason(error)
        raise CNMError(Errors.E523.format(path=checkpoint, reason=reason)) from error
    return state


def read_state(checkpoint: Path) -> dict[str, Any]:
    """The JSON part of a checkpoint.

    RAISES CNMError: it is damaged.
    """
    try:
        state = json.loads((checkpoint / _STATE).read_bytes())
        if not isinstance(state, dict) or not state.keys() >= _PARTS:
            raise ValueError(f"{_STATE} is not a run's")
    except (OSError, ValueError) as error:
        reason = short_reason(error)
        raise CNMError(Errors.E523.format(path=checkpoint, reason=reason)) from error
    return state


def check_same(checkpoint: Path, then: dict[str, Any], now: dict[str, Any]) -> None:
    """Compare the settings of a checkpoint to those of the run that is to go on with it.

    RAISES CNMError: they differ; the message names all that do.
    """
    changed = [
        f"{key} was {then.get(key)!r}, is {now.get(key)!r}"
        for key in sorted(then.keys() | now.keys())
        if then.get(key) != now.get(key)
    ]
    if changed:
        raise CNMError(Errors.E530.format(path=checkpoint, changed="; ".join(changed)))


def _checkpoints(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    found = [
        (int(match[1]), path) for path in folder.iterdir() if (match := _NAME.fullmatch(path.name))
    ]
    return [path for _, path in sorted(found)]


def _flatten(optimizer: torch.optim.Optimizer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """An optimizer's state as named tensors ("number of the weight/key") and JSON-able values."""
    state = optimizer.state_dict()
    tensors: dict[str, Tensor] = {}
    values: dict[str, Any] = {}
    for number, entries in state["state"].items():
        for key, value in entries.items():
            if isinstance(value, Tensor):
                tensors[f"{number}/{key}"] = value.detach().cpu().contiguous()
            else:
                values[f"{number}/{key}"] = value
    return tensors, {"values": values, "param_groups": state["param_groups"]}


def _restore(
    optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor], rest: dict[str, Any]
) -> None:
    state: dict[int, dict[str, Any]] = {}
    for name, value in [*tensors.items(), *rest["values"].items()]:
        number, _, key = name.partition("/")
        state.setdefault(int(number), {})[key] = value
    groups = [
        {key: _of_its_type(value, new.get(key)) for key, value in saved.items()}
        for saved, new in zip(
            rest["param_groups"], optimizer.state_dict()["param_groups"], strict=True
        )
    ]
    optimizer.load_state_dict({"state": state, "param_groups": groups})


def _of_its_type(value: Any, new: Any) -> Any:
    """A value from JSON, which has no tuples, as the optimizer itself has it."""
    return new if json.loads(json.dumps(new)) == value else value
