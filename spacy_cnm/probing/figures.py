"""The figures of the probe (paper, figures 3, F.1, F.2 and F.3), drawn with matplotlib."""

import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import torch
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from spacy_cnm.corpora.text_files import read_lines
from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path
from spacy_cnm.ids import Node, StructureTable

from .encoders import load_encoder
from .labels import LAYOUTS
from .metrics import nearest_purity
from .splits import LONG_TAIL, shuffled
from .subject import OOV, TIERS
from .summary import Summary

#: Top operators, and how many characters of each, that are drawn: 2,000 in all, as in the paper.
N_OPERATORS, N_EACH = 8, 250


def style() -> AbstractContextManager[None]:
    """How figures look: the same bytes each time, and text that stays text."""
    settings: dict[Any, Any] = {"svg.hashsalt": "spacy-cnm", "svg.fonttype": "none", "font.size": 9}
    return matplotlib.rc_context(settings)


def save(figure: Figure, folder: Path, name: str) -> None:
    """Write a figure as PNG and as SVG."""
    for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
        with atomic_path(folder / f"{name}.{kind}") as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata, dpi=150)


def by_tier(summary: Summary, models: Sequence[str], split: str) -> Figure | None:
    """Layout and components by tier of frequency, and outside the vocabulary (paper, figure 3).

    None where tiers are not known.
    """
    asked = (summary.score(models[0], "fine-tuned", split, tier, "layout_f1") for tier in TIERS)
    if not any(asked):
        return None
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    titles = {"layout_f1": "layout, macro F1", "component_f1": "components, F1"}
    for axes, (score, title) in zip(figure.subplots(1, 2), titles.items(), strict=True):
        for number, model in enumerate(models):
            found = {
                part: summary.score(model, "fine-tuned", split, part, score)
                for part in (*TIERS, OOV)
            }
            known = {part: value for part, value in found.items() if value is not None}
            axes.errorbar(
                list(known),
                [100 * value.mean for value in known.values()],
                yerr=[100 * value.spread for value in known.values()],
                fmt="o-",
                color=f"C{number}",
                capsize=3,
                label=model,
            )
        axes.set(title=f"{title} ({split} split)", ylim=(0, 100))
        axes.grid(alpha=0.3)
    axes.legend()
    return figure


def by_layout(summary: Summary, models: Sequence[str], split: str) -> Figure | None:
    """F1 of each layout on the OOV slice, as a radar (paper, figure F.2).

    Layouts that no character of the slice has are left out; None where fewer than three are there.
    """
    first = models[0]
    layouts = [name for name in LAYOUTS if summary.layout(first, "fine-tuned", split, name)]
    if len(layouts) < 3:
        return None
    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    axes: Any = figure.add_subplot(projection="polar")
    angles = torch.linspace(0, 2 * torch.pi, len(layouts) + 1).tolist()
    for number, model in enumerate(models):
        found = [summary.layout(model, "fine-tuned", split, layout) for layout in layouts]
        values = [100 * value.mean if value is not None else 0.0 for value in found]
        axes.plot(angles, [*values, values[0]], color=f"C{number}", label=model)
        axes.fill(angles, [*values, values[0]], color=f"C{number}", alpha=0.1)
    axes.set_xticks(angles[:-1], layouts)
    axes.tick_params(axis="x", pad=14)
    axes.set_ylim(0, 100)
    axes.set_title(f"F1 of each layout, OOV slice of the {split} split")
    figure.legend(loc="outside lower center", ncols=len(models))
    return figure


@dataclass(frozen=True)
class StructureVectors:
    """Structure vectors of characters, (N, d_s) float, and the top operator of each."""

    vectors: torch.Tensor
    operators: list[str]

    @classmethod
    def of(cls, folder: Path) -> "StructureVectors":
        """Those of an encoder, of 250 characters with each of the 8 most frequent operators."""
        model, tokenizer = load_encoder(folder)
        table = StructureTable.default()
        groups: dict[str, list[str]] = {}
        for char in shuffled(table.characters):
            if isinstance(tree := table.tree(char), Node):
                groups.setdefault(tree.operator, []).append(char)
        largest = sorted(groups, key=lambda operator: -len(groups[operator]))[:N_OPERATORS]
        chosen = [(char, operator) for operator in largest for char in groups[operator][:N_EACH]]
        ids = torch.tensor(tokenizer.convert_tokens_to_ids([char for char, _ in chosen]))
        with torch.no_grad():
            vectors = model.structure(model.structure_rows(ids))
        return cls(vectors, [operator for _, operator in chosen])

    def purity(self) -> float:
        """Share of the vectors whose nearest other has the same operator (paper, figure F.1)."""
        return nearest_purity(self.vectors.tolist(), self.operators)


def by_operator(name: str, found: StructureVectors) -> Figure:
    """UMAP of structure vectors, coloured by top operator (paper, figure F.1)."""
    from umap import UMAP

    operators = found.operators
    reducer = UMAP(n_neighbors=30, min_dist=0.1, metric="cosine", random_state=0, n_jobs=1)
    points = reducer.fit_transform(found.vectors.numpy())
    figure = Figure(figsize=(5.6, 4.6), layout="constrained")
    axes = figure.subplots()
    names = {symbol: layout for layout, symbols in LAYOUTS.items() for symbol in symbols}
    for number, operator in enumerate(dict.fromkeys(operators)):
        rows = [i for i, other in enumerate(operators) if other == operator]
        code = f"U+{ord(operator):04X} {names.get(operator, 'overlaid')}"
        xs, ys = points[rows].T
        axes.scatter(xs, ys, s=5, color=f"C{number}", label=code, linewidths=0, rasterized=True)
    axes.set_title(f"structure vectors of {name}: 1-NN purity {found.purity():.2f}")
    axes.set(xticks=[], yticks=[])
    figure.legend(loc="outside lower center", ncols=3, markerscale=3, fontsize=7)
    return figure


def pretraining(folders: Mapping[str, Path]) -> Figure | None:
    """Loss of encoders while they were pretrained (paper, figure F.3).

    folders: name -> checkpoint, with its metrics*.jsonl; None where no one has any.
    """
    logs = {name: pretraining_logs(folder) for name, folder in folders.items()}
    if not any(logs.values()):
        return None
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    stages = max(map(len, logs.values()))
    for stage, axes in enumerate(figure.subplots(1, stages, squeeze=False, sharey=True)[0]):
        draw_losses(
            axes, {name: paths[stage] for name, paths in logs.items() if stage < len(paths)}
        )
        axes.set_title(f"stage {stage + 1}")
    return figure


def pretraining_logs(folder: Path) -> list[Path]:
    """Give the logs of an encoder's pretraining, one a stage."""
    return sorted(folder.glob("metrics*.jsonl"))


def draw_losses(axes: Axes, runs: Mapping[str, Path]) -> None:
    """Training loss of runs as thin lines, held-out loss as dots, from their metrics.jsonl."""
    for number, (name, path) in enumerate(runs.items()):
        lines = read_log(path)
        color = f"C{number}"
        axes.plot(*_points(lines, ["mlm_loss"]), color=color, linewidth=0.8, alpha=0.6)
        heldout = _points(lines, ["heldout", "heldout", "mlm_loss"])
        axes.plot(*heldout, "o-", color=color, markersize=3, linewidth=1.2, label=name)
    axes.set(xlabel="million word pieces", ylabel="masked-LM loss (nats)")
    axes.set_ylim(top=7)
    axes.grid(alpha=0.3)
    axes.legend(title="held-out text")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Read what `spacy-cnm pretrain` writes as metrics.jsonl.

    RAISES CNMError: a line is none of its.
    """
    entries = []
    for number, line in enumerate(read_lines(path), start=1):
        try:
            entry = json.loads(line)
            if not isinstance(entry["tokens"], int):
                raise TypeError
        except (ValueError, TypeError, KeyError) as error:
            raise CNMError(Errors.E611.format(path=path, line=number)) from error
        entries.append(entry)
    return entries


def _points(lines: list[dict[str, Any]], keys: list[str]) -> tuple[list[float], list[float]]:
    """Millions of tokens and the values that stand under the keys."""
    xs, ys = [], []
    for line in lines:
        value: Any = line
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        if value is not None:
            xs.append(line["tokens"] / 1e6)
            ys.append(value)
    return xs, ys


def draw_all(
    folder: Path, summary: Summary, encoders: Mapping[str, Path], splits: Sequence[str]
) -> list[str]:
    """Draw what can be drawn of a study; names of the figures, without what they end in."""
    names = list(encoders)
    first, place = next(iter(encoders.items()))
    tail = LONG_TAIL if LONG_TAIL in splits else splits[0]
    with style():
        figures = {
            "tiers": by_tier(summary, names, splits[0]),
            "layouts": by_layout(summary, names, tail),
            "structure-vectors": by_operator(first, StructureVectors.of(place)),
            "pretraining": pretraining(encoders),
        }
        drawn = {name: figure for name, figure in figures.items() if figure is not None}
        for name, figure in drawn.items():
            save(figure, folder, name)
    return list(drawn)
