"""Heads on what an encoder makes of `[CLS] x [SEP]`, on a frozen encoder or learning with it.

The vector of a character is the last hidden state at its place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from transformers import PreTrainedTokenizerBase

from spacy_cnm.modeling import CNMBertModel
from spacy_cnm.modeling.checkpoint import is_structure_key
from spacy_cnm.modeling.hardware import cpu_has_bfloat16

from . import metrics
from .heads import Heads, Targets, layout_weights, loss
from .labels import STROKES, Labels
from .splits import Split

Protocol = Literal["frozen", "fine-tuned"]
PROTOCOLS: tuple[Protocol, ...] = ("frozen", "fine-tuned")

_THRESHOLDS = [i / 20 for i in range(1, 20)]


@dataclass(frozen=True)
class Training:
    """How heads, or heads and encoder, are trained.

    epochs: passes over the characters.
    batch: characters a step.
    head_rate: peak rate of AdamW for the heads; all rates fall linearly to zero.
    rate, structure_rate: of the encoder where it learns, and of its structure side.
    token_dropout: share of the ideographs with a structure that are [UNK] with their structure
        while the encoder learns (`CNMBertConfig.token_dropout`).
    balance: a layout weighs as the count of its class to the power of minus this, for macro F1.
    """

    epochs: int
    batch: int
    head_rate: float = 3e-3
    rate: float = 3e-4
    structure_rate: float = 5e-3
    token_dropout: float = 0.5
    balance: float = 0.25


DEFAULTS: dict[Protocol, Training] = {
    "frozen": Training(epochs=40, batch=256),
    "fine-tuned": Training(epochs=6, batch=160, head_rate=1e-2),
}


class Probe:
    """An encoder with heads.

    model, tokenizer: what `load_or_wrap` gives.
    components: the components that are told apart.
    mean_strokes: what the regression starts from.
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
        """(N, width): the last hidden state of each of N characters between [CLS] and [SEP]."""
        return encode(self.model, self.tokenizer, chars)

    @torch.no_grad()
    def predict(self, vectors: Tensor) -> list[Labels]:
        """Labels for (N, width)."""
        found = self.heads.eval()(vectors)
        layouts = found["layout"].argmax(-1).tolist()
        components = self.choose_components(found["components"].sigmoid())
        strokes = found["strokes"].round().clamp(min=1).int().tolist()
        orders = found["order"].argmax(-1).tolist()
        return [
            Labels(layouts[i], components[i], strokes[i], _order(orders[i]))
            for i in range(len(vectors))
        ]

    def choose_components(self, shares: Tensor) -> list[frozenset[str]]:
        """Give the components above the threshold, or else the likeliest, for (N, C)."""
        if not self.components:
            return [frozenset()] * len(shares)
        chosen = shares > self.threshold
        chosen[torch.arange(len(shares)), shares.argmax(-1)] = True
        found: list[list[str]] = [[] for _ in shares]
        for row, column in chosen.nonzero().tolist():
            found[row].append(self.components[column])
        return [frozenset(names) for names in found]


def _order(kinds: list[int]) -> str:
    """Kinds of strokes up to the first place where there is none."""
    end = kinds.index(len(STROKES)) if len(STROKES) in kinds else len(kinds)
    return "".join(STROKES[kind] for kind in kinds[:end])


def encode(model: CNMBertModel, tokenizer: PreTrainedTokenizerBase, chars: Sequence[str]) -> Tensor:
    """(N, width): the last hidden state of each of N characters between [CLS] and [SEP]."""
    ids = torch.tensor(tokenizer.convert_tokens_to_ids(list(chars)))
    first = torch.full_like(ids, tokenizer.cls_token_id)
    last = torch.full_like(ids, tokenizer.sep_token_id)
    states: Tensor = model(torch.stack([first, ids, last], dim=1)).last_hidden_state
    return states[:, 1]


@torch.no_grad()
def encode_all(
    model: CNMBertModel, tokenizer: PreTrainedTokenizerBase, chars: Sequence[str]
) -> Tensor:
    """(N, width): as `encode`, in pieces and without gradients."""
    return torch.cat([encode(model, tokenizer, some) for some in _pieces(chars)])


def component_names(chars: Iterable[str], labels: Mapping[str, Labels]) -> list[str]:
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
    known: Mapping[str, Tensor] | None = None,
) -> Probe:
    """Train heads on a split's characters; the encoder learns too if `protocol` is "fine-tuned".

    model: a fine-tuned one is changed.
    known: "frozen" only: the vectors of characters, so that they need not be made again.
    """
    training = training or DEFAULTS[protocol]
    torch.manual_seed(seed)
    names = component_names(split.train, labels)
    wanted = Targets.of(split.train, labels, names)
    known_strokes = wanted.strokes[wanted.strokes > 0]
    probe = Probe(model, tokenizer, names, float(known_strokes.mean().nan_to_num()))
    weights = layout_weights(wanted.layout, training.balance)
    model.eval()
    vectors = None
    if protocol == "frozen":
        vectors = _vectors(probe, split.train, known)
    learned = [*_groups(probe, training)] if vectors is None else [_heads_group(probe, training)]
    parameters: list[nn.Parameter] = [p for group in learned for p in group["params"]]
    optimizer = torch.optim.AdamW(learned, weight_decay=0.01, fused=True)
    steps = training.epochs * -(-len(split.train) // training.batch)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / max(1, 0.05 * steps)) * (1 - step / steps)
    )
    generator = torch.Generator().manual_seed(seed)
    probe.heads.train()
    if vectors is None:
        model.train()
        model.config.token_dropout = training.token_dropout
    for _ in range(training.epochs):
        for rows in torch.randperm(len(split.train), generator=generator).split(training.batch):
            if vectors is None:
                with torch.autocast("cpu", torch.bfloat16, enabled=cpu_has_bfloat16()):
                    inputs = probe.vectors([split.train[i] for i in rows.tolist()]).float()
            else:
                inputs = vectors[rows]
            optimizer.zero_grad()
            loss(probe.heads(inputs), wanted.take(rows), weights).backward()
            torch.nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.step()
            schedule.step()
    model.eval()
    _choose_threshold(probe, split.dev, labels, known)
    return probe


def _groups(probe: Probe, training: Training) -> Iterator[dict[str, Any]]:
    """Parameters and their rates where the encoder learns."""
    yield _heads_group(probe, training)
    named = list(probe.model.named_parameters())
    for is_structure, rate in ((False, training.rate), (True, training.structure_rate)):
        yield {"params": [p for n, p in named if is_structure_key(n) == is_structure], "lr": rate}


def _heads_group(probe: Probe, training: Training) -> dict[str, Any]:
    return {"params": list(probe.heads.parameters()), "lr": training.head_rate}


def _vectors(probe: Probe, chars: Sequence[str], known: Mapping[str, Tensor] | None) -> Tensor:
    """(N, width), looked up where they are known."""
    if known is None:
        return encode_all(probe.model, probe.tokenizer, chars)
    return torch.stack([known[char] for char in chars])


@torch.no_grad()
def predict(
    probe: Probe, chars: Sequence[str], known: Mapping[str, Tensor] | None = None
) -> dict[str, Labels]:
    """Tell the labels of characters.

    known: the vectors of characters, as in `train`.
    """
    found = [
        label for some in _pieces(chars) for label in probe.predict(_vectors(probe, some, known))
    ]
    return dict(zip(chars, found, strict=True))


#: Score -> the task it is of and how it is computed.
_SCORES: dict[str, tuple[str, Any]] = {
    "layout_f1": ("layout", metrics.macro_f1),
    "layout_accuracy": ("layout", metrics.accuracy),
    "component_f1": ("components", metrics.set_f1),
    "stroke_mae": ("strokes", metrics.mean_absolute_error),
    "order_f1": ("order", metrics.sequence_f1),
}


def score(
    predicted: Mapping[str, Labels], labels: Mapping[str, Labels], chars: Iterable[str]
) -> dict[str, float]:
    """Score what was told of characters, each task on those whose label is known.

    RETURNS: score -> value; only those of tasks that were told.
    """
    chars = [char for char in chars if char in predicted]
    scores = {}
    for name, (task, measure) in _SCORES.items():
        pairs = [(getattr(labels[char], task), getattr(predicted[char], task)) for char in chars]
        pairs = [(gold, told) for gold, told in pairs if gold is not None and told is not None]
        if pairs:
            gold, told = zip(*pairs, strict=True)
            scores[name] = measure(gold, told)
    return scores


def _choose_threshold(
    probe: Probe,
    chars: Sequence[str],
    labels: Mapping[str, Labels],
    known: Mapping[str, Tensor] | None,
) -> None:
    """Set the share from which a component counts to what is best on dev."""
    chars = [char for char in chars if labels[char].components is not None]
    if not chars or not probe.components:
        return
    with torch.no_grad():
        shares = probe.heads.eval()(_vectors(probe, chars, known))["components"].sigmoid()
    gold = [labels[char].components or frozenset() for char in chars]
    best = -1.0
    chosen = probe.threshold
    for threshold in _THRESHOLDS:
        probe.threshold = threshold
        found = metrics.set_f1(gold, probe.choose_components(shares))
        if found > best:
            best, chosen = found, threshold
    probe.threshold = chosen


def _pieces(chars: Sequence[str], size: int = 512) -> Iterator[Sequence[str]]:
    for start in range(0, len(chars), size):
        yield chars[start : start + size]
