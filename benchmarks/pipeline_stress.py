"""Stress test of what `pipeline_seeds.py` has trained: names with rare characters.

    python benchmarks/pipeline_stress.py weibo --persons PER.NAM --places GPE.NAM --places LOC.NAM

Runs `spacy-cnm stress` on the test split for every pipeline in `training/seeds/DATASET`. What is
finished is kept in `metrics/stress` and not done again. `results.py` makes a table of it.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

#: What changes -> which of its characters stays as long as it can.
KEEP = {"persons": "first", "places": "last"}


def main(
    dataset: Annotated[str, typer.Argument(help="Folder in training/seeds/ and corpus/.")],
    persons: Annotated[list[str], typer.Option(metavar="LABEL", help="Of names of persons.")] = [],  # noqa: B006
    places: Annotated[list[str], typer.Option(metavar="LABEL", help="Of names of places.")] = [],  # noqa: B006
) -> None:
    """Run what is missing."""
    # Scored pipelines only: what is still trained is left for the next call.
    scored = sorted(Path("training/seeds", dataset).glob("*/metrics.json"))
    models = [metrics.with_name("model-best") for metrics in scored]
    if not models:
        raise typer.BadParameter(f"training/seeds/{dataset} has no trained pipelines")
    for kind, labels in (("persons", persons), ("places", places)):
        for model in models:
            out = Path("metrics/stress") / kind / dataset / f"{model.parent.name}.json"
            if labels and out.exists():
                if (found := _labels(out)) != sorted(set(labels)):
                    typer.echo(f"{out} is of other labels: {found}. Move it away.", err=True)
                    raise typer.Exit(1)
            elif labels:
                out.parent.mkdir(parents=True, exist_ok=True)
                command = [sys.executable, "-m", "spacy_cnm", "stress", str(model)]
                command += [f"corpus/{dataset}/test.spacy", str(out), "--keep", KEEP[kind]]
                command += [part for label in labels for part in ("--label", label)]
                subprocess.run(command, check=True)


def _labels(out: Path) -> Any:
    """The labels of a stress test; None where the file holds none."""
    try:
        return json.loads(out.read_text(encoding="utf-8"))["labels"]
    except (ValueError, TypeError, KeyError):
        return None


if __name__ == "__main__":
    typer.run(main)
