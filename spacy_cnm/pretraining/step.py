"""One optimizer step over the micro-batches of all processes."""

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.optimizer import AcceleratedOptimizer
from torch import Tensor, nn
from torch.optim.lr_scheduler import LRScheduler

from spacy_cnm.modeling import CNMBertForPreTraining

from .batches import MicroBatch


@dataclass
class Trainee:
    """A model in training.

    plain: the model itself; `model` is what the accelerator has made of it.
    """

    accelerator: Accelerator
    plain: CNMBertForPreTraining
    model: nn.Module
    optimizer: AcceleratedOptimizer
    schedule: LRScheduler


@dataclass(frozen=True)
class StepResult:
    """What a step was like.

    losses: (2,) float, this process's part of the mean masked-LM and component loss of the step;
        the parts of all processes add up.
    n_tokens: pieces of all processes, without padding.
    learn_rate, gradient_norm: of the step, the latter before clipping.
    stop: whether a process wants to stop.
    """

    losses: Tensor
    n_tokens: int
    learn_rate: float
    gradient_norm: float
    stop: bool


def train_step(
    trainee: Trainee,
    batches: Sequence[MicroBatch],
    *,
    clip_norm: float,
    seed: tuple[int, int] = (0, 0),
    stop: bool = False,
) -> StepResult:
    """Make one optimizer step.

    batches: this process's micro-batches of the step; all processes have as many.
    clip_norm: largest norm of the gradient; 0 clips nothing.
    seed: of the run and of the step; with the number of the micro-batch the seed of dropout, which
        so depends neither on processes nor on interruptions.
    stop: whether this process wants to stop.
    """
    accelerator, plain = trainee.accelerator, trainee.plain
    device = accelerator.device
    # The loss is the mean over the whole step, whatever process a position is on.
    counts = [plain.label_counts(batch.labels.to(device)) for batch in batches]
    n_tokens = sum(batch.n_tokens for batch in batches)
    sums = torch.tensor(
        [*(sum(column) for column in zip(*counts, strict=True)), n_tokens, stop],
        dtype=torch.float32,
        device=device,
    )
    n_mlm, n_component, all_tokens, stops = accelerator.reduce(sums, "sum").tolist()
    losses = torch.zeros(2, device=device)
    for number, batch in enumerate(batches):
        index = accelerator.process_index * len(batches) + number
        torch.manual_seed(int(np.random.SeedSequence((*seed, index)).generate_state(1)[0]))
        waits = number + 1 < len(batches)
        with accelerator.no_sync(trainee.model) if waits else nullcontext():
            out = trainee.model(
                input_ids=batch.input_ids.to(device),
                structure_ids=batch.structure_ids.to(device),
                attention_mask=batch.attention_mask.to(device),
                labels=batch.labels.to(device),
                return_logits=False,
            )
            mlm = out.mlm_loss_sum.float() / max(n_mlm, 1)
            component = out.component_loss_sum.float() / max(n_component, 1)
            loss = mlm + plain.config.component_loss_weight * component
            # DDP takes the mean of the gradients over processes; the sum is wanted.
            accelerator.backward(loss * accelerator.num_processes)
        losses += torch.stack([mlm, component]).detach()
    norm = accelerator.clip_grad_norm_(trainee.model.parameters(), clip_norm or math.inf)
    rate = float(trainee.schedule.get_last_lr()[0])
    trainee.optimizer.step()
    trainee.optimizer.zero_grad()
    # GradScaler skips a step whose gradients overflow; the schedule waits with it.
    if not accelerator.optimizer_step_was_skipped:
        trainee.schedule.step()
    return StepResult(losses, int(all_tokens), rate, float(norm), stops > 0)
