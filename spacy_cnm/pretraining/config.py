"""What a pretraining run is made of: a spaCy-style config file, checked key by key."""

import configparser
import difflib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from confection import Config, ConfigValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)
from pydantic_core import to_jsonable_python

from spacy_cnm.errors import CNMError, Errors

#: Sections that hold values for others to refer to (${paths.train}), as in spaCy's configs.
_FREE = ("paths", "vars")


def _without_nul(path: Path) -> Path:
    if "\0" in str(path):
        raise ValueError("no path holds a NUL")
    return path


_File = Annotated[Path, AfterValidator(_without_nul)]
#: One path, or a list of them.
Paths = Annotated[
    list[_File], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)
]

_Count = Annotated[int, Field(ge=1, lt=1 << 31)]
_Share = Annotated[float, Field(ge=0, lt=1)]


class _Section(BaseModel):
    model_config = ConfigDict(
        extra="forbid", frozen=True, protected_namespaces=(), allow_inf_nan=False
    )


class ModelSection(_Section):
    """What is trained, and the switches of the ablations (paper, table 4).

    source (str): folder or hub name of a CNM-BERT, or of a BERT to be wrapped.
    structure (dict): how a BERT is wrapped, as `structure_config` of the spaCy architecture.
    attention (str): "eager" is faster on CPUs, "sdpa" elsewhere.
    use_structure (bool): False is the matched baseline: tokens only, all else the same.
    flat (bool): a bag of components in place of the tree.
    fusion (bool): False leaves the structure out of the encoder's input; with `aux` the structure
        encoder still learns.
    aux (bool): the auxiliary component loss.
    component_loss_weight (float): its weight lambda.
    operator_loss_weight (float): weight, within that loss, of naming the operator of the root too.
    only_structure (bool): only structure encoder, fusion and component head learn; embeddings of
        tokens, Transformer and masked-LM head stay as they are.
    """

    source: str
    structure: dict[str, Any] = {}
    attention: Literal["eager", "sdpa"] = "sdpa"
    use_structure: bool = True
    flat: bool = False
    fusion: bool = True
    aux: bool = True
    component_loss_weight: Annotated[float, Field(gt=0)] = 0.1
    operator_loss_weight: Annotated[float, Field(ge=0)] = 0.0
    only_structure: bool = False

    def switches(self) -> dict[str, Any]:
        """The fields of `CNMBertConfig` that the switches stand for."""
        fused = self.use_structure and self.fusion
        return {
            "structure_input": ("flat" if self.flat else "tree") if fused else "none",
            "component_loss_weight": (
                self.component_loss_weight if self.use_structure and self.aux else 0.0
            ),
            "operator_loss_weight": self.operator_loss_weight,
        }


class DataSection(_Section):
    """Where text comes from and how it becomes batches.

    train (list of paths): .txt, .jsonl, each also .gz or .xz; streamed.
    heldout (dict of name: path): files to evaluate on; the first chooses the best model.
    max_length (int): word pieces a row, [CLS] and [SEP] included.
    max_tokens (int): word pieces a micro-batch at most, padding included.
    buffer (int): texts that are shuffled together.
    masked (float): share of a row's word pieces that is masked (whole words).
    cued (float): ideographs of the vocabulary that make up this share of the text's, or less, are
        half of the time [UNK] with their structure in place of [MASK], more frequent ones as often
        as these; in training only.
    """

    train: Annotated[Paths, Field(min_length=1)]
    heldout: dict[str, _File] = {}
    max_length: Annotated[int, Field(ge=8)] = 256
    max_tokens: Annotated[int, Field(ge=8, lt=1 << 31)] = 4096
    buffer: _Count = 10_000
    masked: Annotated[float, Field(gt=0, lt=1)] = 0.15
    cued: Annotated[float, Field(ge=0, lt=1)] = 0.0

    @model_validator(mode="after")
    def _fits(self) -> "DataSection":
        if self.max_tokens < self.max_length:
            raise ValueError(f"max_tokens is less than max_length ({self.max_length})")
        return self


class OptimizerSection(_Section):
    """The optimizer and its schedule.

    name (str): "adamw" (torch), "lamb" (You et al. 2020) or "muon" (Jordan et al. 2024), both
        of pytorch_optimizer.
    learn_rate (float): its peak, after the warm-up.
    structure_learn_rate (float): peak for the structure encoder; null: the same.
    schedule (str): name of a schedule of `transformers.get_scheduler`.
    clip_norm (float): largest norm of the gradient; 0 clips nothing.
    """

    name: Literal["adamw", "lamb", "muon"] = "adamw"
    learn_rate: Annotated[float, Field(gt=0)] = 1e-4
    structure_learn_rate: Annotated[float | None, Field(gt=0)] = None
    betas: tuple[_Share, _Share] = (0.9, 0.999)
    eps: Annotated[float, Field(gt=0)] = 1e-6
    weight_decay: Annotated[float, Field(ge=0)] = 0.01
    warmup_steps: Annotated[int, Field(ge=0)] = 0
    schedule: Literal["linear", "cosine", "constant_with_warmup"] = "linear"
    clip_norm: Annotated[float, Field(ge=0)] = 1.0


class TrainingSection(_Section):
    """How long, how large and how exact.

    steps (int): optimizer steps in all.
    micro_batches (int): micro-batches of a step over all processes, which share them evenly. They
        are as many disjoint streams through the corpus, so that the run does not depend on how
        many processes there are.
    precision (str): "bf16" and "fp16" compute in half the width where the device can.
    """

    steps: _Count
    micro_batches: _Count = 1
    precision: Literal["fp32", "bf16", "fp16"] = "fp32"
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0


class LoggingSection(_Section):
    """How often, in steps, something is written. May differ when a run is resumed."""

    log_every: Annotated[int, Field(ge=1)] = 10
    evaluate_every: Annotated[int, Field(ge=1)] = 1000
    checkpoint_every: Annotated[int, Field(ge=1)] = 1000
    keep_checkpoints: Annotated[int, Field(ge=1)] = 2
    tensorboard: bool = False


class PretrainConfig(_Section):
    """All sections of a config file; `[paths]` and `[vars]` may hold anything."""

    model: ModelSection
    data: DataSection
    optimizer: OptimizerSection
    training: TrainingSection
    logging: LoggingSection = LoggingSection()

    def identity(self) -> dict[str, Any]:
        """What a resumed run must have in common with the one it goes on with.

        That is every section.key, and the size of every training file.
        """
        sections = self.model_dump(mode="json", exclude={"logging"})
        values = {
            f"{section}.{key}": value
            for section, values in sections.items()
            for key, value in values.items()
        }
        return values | {f"size of {path}": path.stat().st_size for path in self.data.train}

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """What `identity` has for keys that a config leaves out."""
        return {
            f"{name}.{key}": to_jsonable_python(field.default)
            for name, section in cls.model_fields.items()
            if name != "logging"
            for key, field in cast(type[BaseModel], section.annotation).model_fields.items()
            if not field.is_required()
        }


def load_config(path: Path, overrides: dict[str, Any] | None = None) -> PretrainConfig:
    """Read a config file.

    overrides: values for dotted keys, such as {"training.steps": 10}.
    RAISES CNMError: it cannot be read, lacks a key, or has a wrong key or value; the message names
        the key and, for a wrong one, the key that was probably meant.
    """
    try:
        # An override of a key that the file lacks is checked below, like one in the file.
        raw = Config().from_str(path.read_text(encoding="utf-8-sig"), interpolate=False)
        for key, value in (overrides or {}).items():
            *sections, last = key.split(".")
            place: Any = raw
            for section in sections:
                place = place.setdefault(section, {})
            place[last] = value
        values = dict(raw.interpolate())
    except (OSError, ValueError, AttributeError, TypeError, configparser.Error) as error:
        raise CNMError(Errors.E520.format(path=path, reason=_reason(error))) from error
    try:
        return PretrainConfig(**{k: v for k, v in values.items() if k not in _FREE})
    except ValidationError as error:
        faults = "; ".join(_faults(error))
        raise CNMError(Errors.E521.format(path=path, faults=faults)) from error


def _reason(error: Exception) -> str:
    if isinstance(error, ConfigValidationError):
        return error.text or str(error)
    return str(error).strip() or type(error).__name__


def _faults(error: ValidationError) -> Iterator[str]:
    for fault in error.errors():
        keys = [str(part) for part in fault["loc"]]
        name = ".".join(keys)
        if fault["type"] == "extra_forbidden":
            near = difflib.get_close_matches(keys[-1], _known(keys[:-1]), n=1)
            hint = f" (did you mean {'.'.join([*keys[:-1], near[0]])}?)" if near else ""
            yield f"{name}: no such key{hint}"
        elif fault["type"] == "missing":
            yield f"{name}: is missing"
        else:
            message = fault["msg"]
            yield f"{name} = {fault['input']!r}: {message[0].lower()}{message[1:]}"


def _known(sections: list[str]) -> list[str]:
    place: Any = PretrainConfig
    for section in sections:
        place = place.model_fields[section].annotation
    return [*place.model_fields, *(_FREE if place is PretrainConfig else ())]
