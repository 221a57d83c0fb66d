"""Held-out evaluation: how well masked characters are predicted, and components recognised."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

import torch
from accelerate import Accelerator
from torch import Tensor

from spacy_cnm.ids import FIRST_ROW
from spacy_cnm.modeling import CNMBertForPreTraining

from .batches import MicroBatch


@dataclass
class Counts:
    """Sums over masked positions; they add up over batches and processes.

    "Right" counts of components are those of `component_hits`; `outside` is over gold characters
    that the base vocabulary lacks, which only their components can name.
    """

    mlm_loss: float = 0.0
    mlm: int = 0
    mlm_right: int = 0
    component_excess: float = 0.0
    component: int = 0
    component_right: int = 0
    component_recall: float = 0.0
    outside: int = 0
    outside_right: int = 0
    outside_recall: float = 0.0

    def metrics(self) -> dict[str, float]:
        """Means by name; those of which nothing was counted are left out.

        mlm_loss (nats a masked piece), perplexity, masked_accuracy, component_excess (nats above
        the floor, log of the number of leaves), component_accuracy (all components right),
        component_recall, outside_accuracy and outside_recall (the same for characters outside the
        base vocabulary), and the numbers of positions.
        """
        found: dict[str, float] = {}
        if self.mlm:
            found["mlm_loss"] = self.mlm_loss / self.mlm
            found["perplexity"] = math.exp(min(found["mlm_loss"], 700))
            found["masked_accuracy"] = self.mlm_right / self.mlm
        if self.component:
            found["component_excess"] = self.component_excess / self.component
            found["component_accuracy"] = self.component_right / self.component
            found["component_recall"] = self.component_recall / self.component
        if self.outside:
            found["outside_accuracy"] = self.outside_right / self.outside
            found["outside_recall"] = self.outside_recall / self.outside
        return found | {"masked": int(self.mlm), "outside": int(self.outside)}


def evaluate(
    model: torch.nn.Module, batches: Iterable[MicroBatch], accelerator: Accelerator
) -> dict[str, float]:
    """Metrics over all batches; of several processes each takes its share of them.

    model: prepared by the accelerator.
    """
    plain: CNMBertForPreTraining = accelerator.unwrap_model(model)
    counts = Counts()
    was_training = plain.training
    plain.eval()
    with torch.no_grad():
        for number, batch in enumerate(batches):
            if number % accelerator.num_processes == accelerator.process_index:
                with accelerator.autocast():
                    _count(plain, batch, counts, accelerator.device)
    plain.train(was_training)
    names = [field.name for field in fields(Counts)]
    sums = torch.tensor([float(getattr(counts, name)) for name in names], dtype=torch.float64)
    if accelerator.num_processes > 1:
        sums = sums.float() if accelerator.device.type == "mps" else sums
        sums = accelerator.reduce(sums.to(accelerator.device), "sum").cpu()
    for name, value in zip(names, sums.tolist(), strict=True):
        setattr(counts, name, value)
    return counts.metrics()


def _count(
    model: CNMBertForPreTraining, batch: MicroBatch, counts: Counts, device: torch.device
) -> None:
    labels = batch.labels.to(device)
    output = model(
        input_ids=batch.input_ids.to(device),
        attention_mask=batch.attention_mask.to(device),
        labels=labels,
    )
    counts.mlm_loss += float(output.mlm_loss_sum)
    counts.mlm += int(output.n_mlm)
    counts.mlm_right += int((output.mlm_logits.argmax(-1) == output.mlm_labels).sum())
    if not model.config.component_loss_weight:
        return
    gold = labels[labels >= 0]
    rows = model.bert.structure_rows(gold).long()
    outside = (gold >= model.config.vocab_size) & (model.bert.base_labels(gold) < 0)
    with_tree = rows >= FIRST_ROW
    rows, outside = rows[with_tree], outside[with_tree]
    distinct, inverse = torch.unique(rows, return_inverse=True)
    if not len(distinct):
        return
    excess, right, recall = (x[inverse].double() for x in component_hits(model, distinct))
    counts.component += len(rows)
    counts.component_excess += float(excess.sum())
    counts.component_right += int(right.sum())
    counts.component_recall += float(recall.sum())
    counts.outside += int(outside.sum())
    counts.outside_right += int(right[outside].sum())
    counts.outside_recall += float(recall[outside].sum())


def component_hits(model: CNMBertForPreTraining, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """How well the component head names the leaves of trees.

    rows: (n,) int64, distinct and ascending rows of the structure table that have a tree.
    RETURNS: (n,) excess: component loss above its floor (nats); (n,) right: whether the k most
        probable components are the k distinct leaves; (n,) recall: share of the distinct leaves
        among them.
    """
    logits = model.component_predictions(rows).float()
    trees, components = model.bert.structure.leaves(rows)
    leaves = torch.zeros_like(logits)  # how often each component is a leaf
    leaves.index_put_((trees, components), logits.new_ones(()), accumulate=True)
    shares = leaves / leaves.sum(1, keepdim=True)
    floor = -torch.special.xlogy(shares, shares).sum(1)
    excess = -(shares * logits.log_softmax(1)).sum(1) - floor
    wanted = leaves > 0
    n_wanted = wanted.sum(1)
    ranks = logits.topk(int(n_wanted.max()), dim=1).indices
    among = torch.arange(ranks.shape[1], device=rows.device) < n_wanted[:, None]
    hits = (wanted.gather(1, ranks) & among).sum(1)
    return excess, hits == n_wanted, hits / n_wanted
