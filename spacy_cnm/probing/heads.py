"""The four linear heads of the probe, what they are to tell, and their losses.

The layout is a softmax over eight, the components a sigmoid for each that occurs in training, the
number of strokes a regression, and the kinds of strokes a softmax for the n-th: 1 to 5, or none.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .labels import LAYOUTS, STROKES, Labels

#: Strokes that are told apart by their place; what comes later is not predicted.
MAX_STROKES = 36
#: Label of what is not known; PyTorch's cross entropy leaves it out.
_IGNORED = -100


@dataclass(frozen=True)
class Targets:
    """Labels of N characters as tensors.

    layout: (N,) class, or -100.
    components: (N, C) 0 or 1; a row of zeros where they are not known.
    has_components: (N,) whether they are known.
    strokes: (N,) number; 0 where it is not known.
    order: (N, MAX_STROKES) kind of each stroke, 5 behind the last one, then and where it is not
        known -100.
    """

    layout: Tensor
    components: Tensor
    has_components: Tensor
    strokes: Tensor
    order: Tensor

    @classmethod
    def of(cls, chars: Sequence[str], labels: Mapping[str, Labels], names: list[str]) -> "Targets":
        """Look labels up; `names` are the components that count."""
        columns = {name: i for i, name in enumerate(names)}
        components = torch.zeros(len(chars), len(names))
        order = torch.full((len(chars), MAX_STROKES), _IGNORED)
        for row, char in enumerate(chars):
            for name in labels[char].components or ():
                if name in columns:
                    components[row, columns[name]] = 1.0
            kinds = [STROKES.index(kind) for kind in labels[char].order or ""]
            if kinds:
                kinds = [*kinds, len(STROKES)][:MAX_STROKES]
                order[row, : len(kinds)] = torch.tensor(kinds)
        layouts = [labels[char].layout for char in chars]
        return cls(
            torch.tensor([_IGNORED if layout is None else layout for layout in layouts]),
            components,
            torch.tensor([labels[char].components is not None for char in chars]),
            torch.tensor([float(labels[char].strokes or 0) for char in chars]),
            order,
        )

    def take(self, rows: Tensor) -> "Targets":
        """Give the labels of some of the characters."""
        return Targets(*(value[rows] for value in vars(self).values()))


class Heads(nn.Module):
    """The four heads.

    width: of the vectors.
    n_components: how many components are told apart.
    mean_strokes: what the regression starts from.
    """

    def __init__(self, width: int, n_components: int, mean_strokes: float) -> None:
        super().__init__()
        self.layout = nn.Linear(width, len(LAYOUTS))
        # PyTorch warns of a layer without outputs; where no components are known this one is idle.
        self.components = nn.Linear(width, max(1, n_components))
        self.strokes = nn.Linear(width, 1)
        self.order = nn.Linear(width, MAX_STROKES * (len(STROKES) + 1))
        nn.init.constant_(self.strokes.bias, mean_strokes)
        nn.init.constant_(self.components.bias, -5.0)

    def forward(self, vectors: Tensor) -> dict[str, Tensor]:
        """(N, width) to (N, 8), (N, C), (N,) and (N, MAX_STROKES, 6)."""
        return {
            "layout": self.layout(vectors),
            "components": self.components(vectors),
            "strokes": self.strokes(vectors).squeeze(-1),
            "order": self.order(vectors).unflatten(-1, (MAX_STROKES, len(STROKES) + 1)),
        }


def layout_weights(layouts: Tensor, balance: float) -> Tensor:
    """Weights of the layouts: their counts to the power of -`balance`, on average 1: (8,) float."""
    counts = torch.bincount(layouts[layouts != _IGNORED], minlength=len(LAYOUTS)).float()
    weights = counts.clamp(min=1) ** -balance
    return weights * counts.sum() / (weights * counts).sum().clamp(min=1e-9)


def loss(found: Mapping[str, Tensor], wanted: Targets, weights: Tensor | None = None) -> Tensor:
    """The sum of the losses of the four heads, each a mean over what is known.

    weights: (8,) float, of the layouts.
    """
    total = found["layout"].sum() * 0.0
    if (wanted.layout != _IGNORED).any():
        total = total + F.cross_entropy(found["layout"], wanted.layout, weights)
    if wanted.has_components.any():
        each = F.binary_cross_entropy_with_logits(
            found["components"], wanted.components, reduction="none"
        )
        total = total + each.sum(-1)[wanted.has_components].mean()
    known = wanted.strokes > 0
    if known.any():
        total = total + F.smooth_l1_loss(found["strokes"][known], wanted.strokes[known])
    if (wanted.order != _IGNORED).any():
        total = total + F.cross_entropy(found["order"].flatten(0, 1), wanted.order.flatten())
    return total
