"""Optimizer and schedule, from libraries, and which weights they treat differently."""

import importlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler
from transformers import get_scheduler

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.modeling.checkpoint import is_structure_key

from .config import OptimizerSection


def make_optimizer(
    model: nn.Module, settings: OptimizerSection, steps: int
) -> tuple[torch.optim.Optimizer, LRScheduler]:
    """An optimizer over the weights that learn, and its schedule.

    steps: optimizer steps in all, warm-up included.
    RAISES CNMError: LAMB is asked for but pytorch_optimizer is not installed.
    """
    groups = list(parameter_groups(model, settings))
    options: dict[str, Any] = {
        "lr": settings.learn_rate,
        "betas": settings.betas,
        "eps": settings.eps,
    }
    optimizer: torch.optim.Optimizer
    if settings.name == "adamw":
        optimizer = torch.optim.AdamW(groups, fused=True, **options)
    else:
        try:
            lamb = importlib.import_module("pytorch_optimizer").Lamb
        except ImportError as error:
            raise CNMError(Errors.E522.format(package="pytorch_optimizer")) from error
        optimizer = lamb(groups, **options)
    schedule = get_scheduler(settings.schedule, optimizer, settings.warmup_steps, steps)
    return optimizer, schedule


def parameter_groups(model: nn.Module, settings: OptimizerSection) -> Iterator[dict[str, Any]]:
    """Weights that learn, divided by weight decay and learning rate.

    Biases and LayerNorms do not decay, as in BERT. A structure learning rate holds for the
    structure encoder (component, operator and special embeddings, node products).
    """
    divided: dict[tuple[bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            structural = is_structure_key(name.removeprefix("bert.")) and "structure." in name
            divided.setdefault((structural, parameter.ndim > 1), []).append(parameter)
    for (structural, decays), parameters in divided.items():
        rate = settings.structure_learn_rate if structural else None
        yield {
            "params": parameters,
            "lr": rate or settings.learn_rate,
            "weight_decay": settings.weight_decay if decays else 0.0,
        }
