"""What a run needs before its first step: the model, the devices, and where it goes on."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from transformers import PreTrainedTokenizerFast
from transformers.utils import logging

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling import CNMBertForPreTraining, load_or_wrap

from .checkpoints import CHECKPOINTS, newest_checkpoint, read_state
from .config import PretrainConfig


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
    return model.train(), tokenizer


def checkpoint_to_resume(config: PretrainConfig, output: Path, resume: bool) -> Path | None:
    """The checkpoint to go on from, if there is one, which has to be of the same config."""
    checkpoint = newest_checkpoint(output / CHECKPOINTS)
    if not checkpoint:
        return None
    if not resume:
        raise CNMError(Errors.E528.format(path=output))
    then, now = read_state(checkpoint).get("config", {}), config.identity()
    changed = [
        f"{key} was {then.get(key)!r}, is {now.get(key)!r}"
        for key in sorted(then.keys() | now.keys())
        if then.get(key) != now.get(key)
    ]
    if changed:
        raise CNMError(Errors.E530.format(path=checkpoint, changed="; ".join(changed)))
    return checkpoint


def make_accelerator(config: PretrainConfig) -> Accelerator:
    """The devices and processes at hand, at the precision of the config.

    RAISES CNMError: fp16 without a GPU.
    """
    precision = config.training.precision
    if precision == "fp16" and not torch.cuda.is_available():
        raise CNMError(Errors.E531)
    return Accelerator(
        mixed_precision="no" if precision == "fp32" else precision,
        # A batch without ternary nodes leaves their weights without a gradient.
        kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers from reporting new heads, which a run that starts has to have."""
    before = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(before)
