"""The auxiliary task: what a tree's vector was made of (paper, appendix D)."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from spacy_cnm.ids import OPERATORS

from .config import CNMBertConfig
from .row_counts import padded_count
from .structure_encoder import StructureEncoder

#: Rows of logits that are made at a time, so that they stay in the processor's cache.
_CHUNK = 64


class ComponentHead(nn.Module):
    """Logits of components: how near a structure vector, mapped, is to each leaf state.

    The classes are the leaf states of the structure encoder, of unit length and without gradient,
    and the map is a residual one. So it is enough that a node keeps its leaves recognisable: also
    components of no character that is ever a label are found. As classes that learn they would be
    wrong answers only, step after step, and an adaptive optimizer would drive them all one way.

    The paper asks for components only. A vector that is to name them has no use for the operator
    above them, and loses it; with `operator_loss_weight` the operator of the root is asked for
    too, in the same way: the classes are the operator embeddings.
    """

    def __init__(self, config: CNMBertConfig) -> None:
        super().__init__()
        size = config.structure_size
        self.operator_weight = config.operator_loss_weight
        self.dense = nn.Linear(size, size)
        self.norm = nn.LayerNorm(size, eps=config.layer_norm_eps)

    def forward(self, vectors: Tensor, structure: StructureEncoder) -> Tensor:
        """Logits of structure vectors: (n, d_s) float to (n, components) float."""
        return F.linear(self._map(vectors), _classes(structure))[: len(vectors)]

    def loss(
        self, vectors: Tensor, rows: Tensor, counts: Tensor, structure: StructureEncoder
    ) -> Tensor:
        """Equation 14, summed: the mean of -log p over the leaves of each gold tree.

        To it comes, weighted, -log p of the operator of its root.

        vectors: (n, d_s) float, structure vectors of distinct gold characters.
        rows, counts: (n,) integer, their table rows, and how often each is a label.
        RETURNS: () float32.
        """
        if not len(rows):
            return torch.zeros((), device=vectors.device)
        classes = _classes(structure)
        trees, components = structure.leaves(rows)
        lengths = torch.bincount(trees, minlength=len(rows))
        # With the mean class of a tree's leaves, mean(-log p) is logsumexp(logits) - h . mean.
        means = F.embedding_bag(components, classes, lengths.cumsum(0) - lengths, mode="mean")
        hidden = self._map(vectors)[: len(rows)]
        loss = _WeightedCrossEntropy.apply(hidden, classes, means, counts.float())
        if self.operator_weight:
            loss = loss + self.operator_weight * _operator_loss(hidden, rows, counts, structure)
        return loss

    def _map(self, vectors: Tensor) -> Tensor:
        """(n, d_s) to (n or more, d_s), with rows of padding."""
        vectors = F.pad(vectors, (0, 0, 0, padded_count(len(vectors)) - len(vectors)))
        return self.norm(vectors + F.gelu(self.dense(vectors)))


@torch.no_grad()
def _classes(structure: StructureEncoder) -> Tensor:
    """Leaf states of all components, of unit length: (components, d_s) float."""
    states = structure.leaf_norm(structure.component_embeddings.weight)
    return F.normalize(states, dim=1)


def _operator_loss(
    hidden: Tensor, rows: Tensor, counts: Tensor, structure: StructureEncoder
) -> Tensor:
    """-log p of the operators at the roots of trees, (n,) of which are asked, summed: ()."""
    codes = slice(1, 1 + len(OPERATORS))
    classes = F.normalize(structure.operator_embeddings.weight[codes].detach(), dim=1)
    logits = F.linear(hidden, classes).float()
    gold = structure.top_operators(rows) - 1  # -1 where the root is a leaf
    losses = F.cross_entropy(logits, gold, reduction="none", ignore_index=-1)
    return (losses * counts).sum()


class _WeightedCrossEntropy(torch.autograd.Function):
    """sum_n w_n (logsumexp_c(h_n . k_c) - h_n . m_n), whose gradient is made in the forward pass.

    The classes k (C, d_s) have no gradient. That of h needs the probabilities once, so they are
    not kept: as usual operations, the logits would pass through memory four times.
    """

    @staticmethod
    def forward(
        ctx: Any, hidden: Tensor, classes: Tensor, means: Tensor, weights: Tensor
    ) -> Tensor:
        kind = hidden.device.type
        if torch.is_autocast_enabled(kind):  # once, not for every product
            classes = classes.to(torch.get_autocast_dtype(kind))
        # All chunks have one size; see `padded_count` for why.
        chunks = F.pad(hidden, (0, 0, 0, -len(hidden) % _CHUNK)).split(_CHUNK)
        normalizers, centres = [], []
        for chunk in chunks:
            logits = F.linear(chunk, classes).float()
            top = logits.amax(dim=1, keepdim=True)
            total = logits.sub_(top).exp_().sum(dim=1, keepdim=True)
            normalizers.append(top + total.log())
            centres.append((logits.to(classes.dtype) @ classes) / total)
        losses = torch.cat(normalizers)[: len(hidden), 0] - (hidden * means).sum(dim=1)
        gradient = weights[:, None] * (torch.cat(centres)[: len(hidden)] - means)
        ctx.save_for_backward(gradient.to(hidden.dtype))
        return (weights * losses).sum()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor, None, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * scale, None, None, None
