"""What a run needs before its first step: the model, the devices, and where it goes on."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast
from transformers.utils import logging

from spacy_cnm.errors import CNMError, CNMWarning, Errors, Warnings
from spacy_cnm.modeling import CNMBertForPreTraining, load_or_wrap
from spacy_cnm.modeling.checkpoint import is_structure_key
from spacy_cnm.modeling.hardware import cpu_has_bfloat16

from .batches import Stream
from .checkpoints import CHECKPOINTS, check_same, load_checkpoint, newest_checkpoint, read_state
from .config import DataSection, PretrainConfig
from .optimizers import make_optimizer
from .outputs import BEST, LAST, METRICS
from .step import Trainee


def make_trainee(
    config: PretrainConfig, checkpoint: Path | None = None
) -> tuple[Trainee, PreTrainedTokenizerFast, dict[str, Any] | None]:
    """A model to be trained, with its optimizer and schedule, and its tokenizer.

    checkpoint: where it goes on; None: from the beginning.
    RETURNS: them, and what `save_checkpoint` was given as state.
    RAISES CNMError: the config does not fit the model or the processes, or the checkpoint is
        damaged.
    """
    accelerator = make_accelerator(config)
    n, processes = config.training.micro_batches, accelerator.num_processes
    if n % processes:
        raise CNMError(Errors.E525.format(micro_batches=n, processes=processes))
    torch.manual_seed(config.training.seed)
    plain, tokenizer = load(config)
    plain.to(accelerator.device)
    optimizer, schedule = make_optimizer(plain, config.optimizer, config.training.steps)
    saved = None
    if checkpoint:
        saved = load_checkpoint(checkpoint, plain, optimizer)
        schedule.load_state_dict(saved["schedule"])
    model, prepared = accelerator.prepare(plain, optimizer)
    if saved and accelerator.scaler:
        accelerator.scaler.load_state_dict(saved["scaler"])
    return Trainee(accelerator, plain, model, prepared, schedule), tokenizer, saved


def make_stream(
    data: DataSection,
    paths: Sequence[Path],
    tokenizer: PreTrainedTokenizerFast,
    *,
    index: int = 0,
    count: int = 1,
    seed: int = 0,
    cued: NDArray[np.float64] | None = None,
) -> Stream:
    """A stream of masked batches of text files, as a config wants them; see `Stream`.

    cued: as there; cues are of training alone, so that held-out losses stay comparable.
    """
    return Stream(
        paths,
        tokenizer,
        index=index,
        count=count,
        seed=seed,
        max_length=data.max_length,
        max_tokens=data.max_tokens,
        buffer=data.buffer,
        budget=data.masked,
        cued=cued,
    )


def load(config: PretrainConfig) -> tuple[CNMBertForPreTraining, PreTrainedTokenizerFast]:
    """The model to be trained, its unused weights frozen, and its tokenizer."""
    with _quiet():
        model, tokenizer = load_or_wrap(
            config.model.source,
            cls=CNMBertForPreTraining,
            structure_config=config.model.structure,
            model_config={"attn_implementation": config.model.attention, **config.model.switches()},
        )
    longest = model.config.max_position_embeddings
    if config.data.max_length > longest:
        raise CNMError(Errors.E527.format(length=config.data.max_length, longest=longest))
    model.freeze_unused()
    if config.model.only_structure:
        for name, parameter in model.named_parameters():
            if not is_structure_key(name):
                parameter.requires_grad_(False)
    return model.train(), tokenizer


def checkpoint_to_resume(config: PretrainConfig, output: Path, resume: bool) -> Path | None:
    """The checkpoint to go on from, if there is one, which has to be of the same config.

    RAISES CNMError: it is of another, or the output holds a run that would be overwritten.
    """
    checkpoint = newest_checkpoint(output / CHECKPOINTS)
    if checkpoint:
        if not resume:
            raise CNMError(Errors.E528.format(path=output))
        # A run of an older version may lack keys that are new.
        then = {**config.defaults(), **read_state(checkpoint)["config"]}
        check_same(checkpoint, then, config.identity())
    elif (output / LAST).exists():
        raise CNMError(Errors.E536.format(path=output))
    elif not resume and ((output / BEST).exists() or (output / METRICS).exists()):
        raise CNMError(Errors.E528.format(path=output))
    return checkpoint


def make_accelerator(config: PretrainConfig) -> Accelerator:
    """The devices and processes at hand, at the precision of the config.

    RAISES CNMError: fp16 without a GPU, or another precision than before in this process.
    """
    precision = config.training.precision
    if precision == "fp16" and not torch.cuda.is_available():
        raise CNMError(Errors.E531)
    try:
        accelerator = Accelerator(
            mixed_precision="no" if precision == "fp32" else precision,
            # A batch without ternary nodes leaves their weights without a gradient.
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
    except ValueError as error:  # a process has one precision for all its life
        raise CNMError(Errors.E534.format(precision=precision)) from error
    if precision == "bf16" and not (torch.cuda.is_available() or cpu_has_bfloat16()):
        warnings.warn(Warnings.W231, CNMWarning, stacklevel=2)
    return accelerator


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from reporting new heads, which a run that starts has to have."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
