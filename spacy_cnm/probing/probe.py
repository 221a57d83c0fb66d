"""Linear heads on what an encoder makes of `[CLS] x [SEP]`, on a frozen encoder or with it.

The vector of a character is the last hidden state at its place. The four heads are linear: the
layout (softmax over eight), the components (a sigmoid for each that occurs in training), the
number of strokes (a regression), and the kind of the n-th stroke, or that there is none.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import PreTrainedTokenizerBase

from spacy_cnm.modeling import CNMBertModel

from . import metrics
from .labels import LAYOUTS, STROKES, Labels
from .splits import Split

Protocol = Literal["frozen", "fine-tuned"]

#: Strokes that are told apart by their place; what comes later is not predicted.
MAX_STROKES = 36
#: Label of what is not known; PyTorch's cross entropy leaves it out.
_IGNORED = -100
_THRESHOLDS = [i / 20 for i in range(1, 20)]


@dataclass(frozen=True)
class Training:
    """How heads, or heads and encoder, are trained.

    epochs: passes over the characters; the best by dev is kept.
    batch: characters a step.
    learn_rate: peak rate of AdamW, of the encoder where it learns and of the heads where it does
        not; it falls linearly to zero.
    head_rate: the rate of the heads where the encoder learns.
    """

    epochs: int
    batch: int
    learn_rate: float
    head_rate: float


DEFAULTS: dict[Protocol, Training] = {
    "frozen": Training(epochs=40, batch=256, learn_rate=3e-3, head_rate=3e-3),
    "fine-tuned": Training(epochs=8, batch=64, learn_rate=3e-4, head_rate=3e-3),
}


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
        self.components = nn.Linear(width, n_components)
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


def loss(found: Mapping[str, Tensor], wanted: Targets) -> Tensor:
    """The sum of the losses of the four heads, each a mean over what is known."""
    total = found["layout"].sum() * 0.0
    if (wanted.layout != _IGNORED).any():
        total = total + F.cross_entropy(found["layout"], wanted.layout)
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


class Probe:
    """An encoder with heads.

    model, tokenizer: what `load_or_wrap` gives.
    components: the components that are told apart.
    """

    def __init__(
        self,
        model: CNMBertModel,
        tokenizer: PreTrainedTokenizerBase,
        components: list[str],
        mean_strokes: float,
    ) -> None:
        self.model, self.tokenizer, self.components = model, tokenizer, components
        self.heads = Heads(model.config.hidden_size, len(components), mean_strokes)
        self.threshold = 0.5

    def vectors(self, chars: Sequence[str]) -> Tensor:
        """(N, width): the last hidden state of each character between [CLS] and [SEP]."""
        return encode(self.model, self.tokenizer, chars)

    @torch.no_grad()
    def predict(self, vectors: Tensor) -> list[Labels]:
        """Labels for (N, width)."""
        found = self.heads.eval()(vectors)
        layouts = found["layout"].argmax(-1).tolist()
        components = found["components"].sigmoid().tolist()
        strokes = found["strokes"].round().clamp(min=1).int().tolist()
        orders = found["order"].argmax(-1).tolist()
        return [
            Labels(layouts[i], self.choose_components(components[i]), strokes[i], _order(orders[i]))
            for i in range(len(vectors))
        ]

    def choose_components(self, shares: list[float]) -> frozenset[str]:
        """Give the components above the threshold, or else the likeliest."""
        pairs = zip(self.components, shares, strict=True)
        above = [name for name, share in pairs if share > self.threshold]
        return frozenset(above or self.components[shares.index(max(shares)) :][:1])


def _order(kinds: list[int]) -> str:
    """The strokes before the first that is none."""
    end = kinds.index(len(STROKES)) if len(STROKES) in kinds else len(kinds)
    return "".join(STROKES[kind] for kind in kinds[:end])


def encode(model: CNMBertModel, tokenizer: PreTrainedTokenizerBase, chars: Sequence[str]) -> Tensor:
    """(N, width): the last hidden state of each of N characters between [CLS] and [SEP]."""
    ids = torch.tensor(tokenizer.convert_tokens_to_ids(list(chars)))
    first = torch.full_like(ids, tokenizer.cls_token_id)
    last = torch.full_like(ids, tokenizer.sep_token_id)
    states: Tensor = model(torch.stack([first, ids, last], dim=1)).last_hidden_state
    return states[:, 1]


def component_names(chars: Sequence[str], labels: Mapping[str, Labels]) -> list[str]:
    """Give the components that characters have, in a fixed order."""
    return sorted({name for char in chars for name in labels[char].components or ()})


def train(
    model: CNMBertModel,
    tokenizer: PreTrainedTokenizerBase,
    labels: Mapping[str, Labels],
    split: Split,
    protocol: Protocol,
    *,
    seed: int = 0,
    training: Training | None = None,
) -> Probe:
    """Train heads on a split's characters; the encoder learns too if `protocol` is "fine-tuned".

    model: a fine-tuned one is changed.
    """
    training = training or DEFAULTS[protocol]
    torch.manual_seed(seed)
    names = component_names(split.train, labels)
    wanted = {part: Targets.of(getattr(split, part), labels, names) for part in ("train", "dev")}
    probe = Probe(model, tokenizer, names, float(wanted["train"].strokes.mean()))
    if protocol == "frozen":
        model.eval()
        with torch.no_grad():
            known = {
                part: torch.cat([probe.vectors(some) for some in _pieces(getattr(split, part))])
                for part in ("train", "dev")
            }
        learned, rates = [list(probe.heads.parameters())], [training.learn_rate]
    else:
        learned = [list(probe.heads.parameters()), list(model.parameters())]
        rates = [training.head_rate, training.learn_rate]
    groups = [{"params": some, "lr": rate} for some, rate in zip(learned, rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = training.epochs * -(-len(split.train) // training.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / max(1, 0.05 * steps)) * (1 - step / steps)
    )
    generator = torch.Generator().manual_seed(seed)
    for _ in range(training.epochs):
        probe.heads.train()
        model.train(protocol == "fine-tuned")
        for rows in torch.randperm(len(split.train), generator=generator).split(training.batch):
            if protocol == "frozen":
                vectors = known["train"][rows]
            else:
                vectors = probe.vectors([split.train[i] for i in rows.tolist()])
            optimizer.zero_grad()
            loss(probe.heads(vectors), wanted["train"].take(rows)).backward()
            torch.nn.utils.clip_grad_norm_([p for some in learned for p in some], 1.0)
            optimizer.step()
            schedule.step()
    model.eval()
    _choose_threshold(probe, split.dev, labels)
    return probe


@torch.no_grad()
def predict(probe: Probe, chars: Sequence[str]) -> dict[str, Labels]:
    """Tell the labels of characters."""
    found = [label for some in _pieces(chars) for label in probe.predict(probe.vectors(some))]
    return dict(zip(chars, found, strict=True))


def score(
    predicted: Mapping[str, Labels], labels: Mapping[str, Labels], chars: Sequence[str]
) -> dict[str, float]:
    """Score what was told of characters, each task on those whose label is known."""

    def pairs(name: str) -> tuple[list[Any], list[Any]]:
        known = [char for char in chars if getattr(labels[char], name) is not None]
        return [getattr(labels[c], name) for c in known], [
            getattr(predicted[c], name) for c in known
        ]

    scores = {}
    for name, task, measure in (
        ("layout_f1", "layout", metrics.macro_f1),
        ("layout_accuracy", "layout", metrics.accuracy),
        ("component_f1", "components", metrics.set_f1),
        ("stroke_mae", "strokes", metrics.mean_absolute_error),
        ("order_f1", "order", metrics.sequence_f1),
    ):
        gold, found = pairs(task)
        if gold:
            scores[name] = measure(gold, found)
    return scores


def _choose_threshold(probe: Probe, chars: Sequence[str], labels: Mapping[str, Labels]) -> None:
    """Set the share from which a component counts to what is best on dev."""
    known = [char for char in chars if labels[char].components is not None]
    if not known or not probe.components:
        return
    with torch.no_grad():
        vectors = torch.cat([probe.vectors(some) for some in _pieces(known)])
        shares = probe.heads.eval()(vectors)["components"].sigmoid().tolist()
    gold = [labels[char].components or frozenset() for char in known]
    best = -1.0
    chosen = probe.threshold
    for threshold in _THRESHOLDS:
        probe.threshold = threshold
        found = metrics.set_f1(gold, [probe.choose_components(row) for row in shares])
        if found > best:
            best, chosen = found, threshold
    probe.threshold = chosen


def _pieces(chars: Sequence[str], size: int = 512) -> Iterator[Sequence[str]]:
    for start in range(0, len(chars), size):
        yield chars[start : start + size]
