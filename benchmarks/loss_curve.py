"""Draw the loss of pretraining runs from their metrics.jsonl (--help tells how)."""

import json
from pathlib import Path
from typing import Annotated, Any

import matplotlib
import typer
from matplotlib import pyplot

matplotlib.use("svg")
# The same bytes each time, and text that stays text.
matplotlib.rcParams.update({"svg.hashsalt": "spacy-cnm", "svg.fonttype": "none"})


def main(
    runs: Annotated[list[str], typer.Argument(metavar="NAME=METRICS.jsonl...")],
    out: Annotated[Path, typer.Option(help="SVG file to write.")],
) -> None:
    """Training loss as thin lines, held-out loss as dots."""
    figure, axes = pyplot.subplots(figsize=(7, 3.6), layout="constrained")
    for number, run in enumerate(runs):
        name, _, path = run.partition("=")
        lines = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        color = f"C{number}"
        axes.plot(*_points(lines, ["mlm_loss"]), color=color, linewidth=0.8, alpha=0.6)
        heldout = _points(lines, ["heldout", "heldout", "mlm_loss"])
        axes.plot(*heldout, "o-", color=color, markersize=3, linewidth=1.2, label=name)
    axes.set_xlabel("million word pieces")
    axes.set_ylabel("masked-LM loss (nats)")
    axes.set_ylim(top=7)
    axes.grid(alpha=0.3)
    axes.legend(title="held-out text")
    figure.savefig(out, metadata={"Date": None})


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


if __name__ == "__main__":
    typer.run(main)
