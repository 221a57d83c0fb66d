"""Optimizer and schedule, from libraries, and which weights they treat differently."""

import importlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.optim.lr_scheduler import LRScheduler
from transformers import get_scheduler

from spacy_cnm.errors import CNMError, Errors

from .config import OptimizerSection


def make_optimizer(
    model: nn.Module, settings: OptimizerSection, steps: int
) -> tuple[torch.optim.Optimizer, LRScheduler]:
    """An optimizer over the weights that learn, and its schedule.

    steps: optimizer steps in all, warm-up included.
    RAISES CNMError: LAMB or Muon is asked for but pytorch_optimizer is not installed.
    """
    groups = list(parameter_groups(model, settings))
    rate, betas, eps = settings.learn_rate, settings.betas, settings.eps
    optimizer: torch.optim.Optimizer
    if settings.name == "adamw":
        optimizer = torch.optim.AdamW(groups, lr=rate, betas=betas, eps=eps, fused=True)
    elif settings.name == "lamb":
        optimizer = _library().Lamb(groups, lr=rate, betas=betas, eps=eps)
    else:
        optimizer = _library().Muon(groups, lr=rate, adamw_betas=betas, adamw_eps=eps)
    schedule = get_scheduler(settings.schedule, optimizer, settings.warmup_steps, steps)
    return optimizer, schedule


def parameter_groups(model: nn.Module, settings: OptimizerSection) -> Iterator[dict[str, Any]]:
    """Weights that learn, divided by weight decay, learning rate and, for Muon, by its use.

    Biases and LayerNorms do not decay, as in BERT. A structure learning rate holds for the
    structure encoder (component, operator and special embeddings, node products). Muon is for the
    matrices of the layers, its updates scaled to AdamW's size (Liu et al. 2025, equation 4) so that
    one learning rate serves both; everything else gets AdamW.
    """
    muon = settings.name == "muon"
    divided: dict[tuple[bool, bool, bool], list[nn.Parameter]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            matrix = parameter.ndim > 1
            structural = name.startswith("bert.structure.")
            hidden = muon and matrix and name.startswith("bert.encoder.")
            divided.setdefault((structural, matrix, hidden), []).append(parameter)
    for (structural, decays, hidden), parameters in divided.items():
        rate = settings.structure_learn_rate if structural else None
        group = {
            "params": parameters,
            "lr": rate or settings.learn_rate,
            "weight_decay": settings.weight_decay if decays else 0.0,
        }
        yield {**group, "use_muon": hidden, "use_adjusted_lr": True} if muon else group


def _library() -> Any:
    try:
        return importlib.import_module("pytorch_optimizer")
    except ImportError as error:
        raise CNMError(Errors.E522.format(package="pytorch_optimizer")) from error
