"""Draw the loss of pretraining runs from their metrics.jsonl (--help tells how)."""

from pathlib import Path
from typing import Annotated

import typer
from matplotlib.figure import Figure

from spacy_cnm.probing.figures import draw_losses, style


def main(
    runs: Annotated[list[str], typer.Argument(metavar="NAME=METRICS.jsonl...")],
    out: Annotated[Path, typer.Option(help="SVG file to write.")],
) -> None:
    """Training loss as thin lines, held-out loss as dots."""
    with style():
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        named = (run.partition("=") for run in runs)
        draw_losses(figure.subplots(), {name: Path(path) for name, _, path in named})
        figure.savefig(out, format="svg", metadata={"Date": None})


if __name__ == "__main__":
    typer.run(main)
