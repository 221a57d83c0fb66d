"""The demo's scores on several encoders and seeds: mean and spread, from the demo's own commands.

    python benchmarks/demo_seeds.py cnm=models/cnm-bert-mini matched=models/bert-mini-matched

Trains `configs/joint.cfg` once an encoder and seed, and scores the test split with
`spacy-cnm evaluate`; the encoders differ in nothing else. What is finished is kept in the output
folder and not done again. Needs `corpus/demo` (spacy-cnm corpora dataset demo corpus/demo).
"""

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import typer

#: Rows of the table, and the scores of `spacy-cnm evaluate` in them.
SCORES = {
    "words F": "word_f",
    "words with tags F": "word_tag_f",
    "joint tags of characters": "tag_acc",
    "entities F": "ents_f",
    "category": "cats_acc",
}


def main(
    encoders: Annotated[list[str], typer.Argument(metavar="NAME=FOLDER...")],
    seeds: Annotated[list[int], typer.Option("--seed", help="May be given several times.")] = [  # noqa: B006
        0,
        1,
        2,
    ],
    output: Annotated[Path, typer.Option(help="Folder of the trained pipelines.")] = Path(
        "training/seeds"
    ),
    override: Annotated[
        list[str], typer.Option(metavar="KEY=VALUE", help="A setting for all, as training.x=1.")
    ] = [],  # noqa: B006
    table: Annotated[Path | None, typer.Option("--json", help="Write all scores here.")] = None,
) -> None:
    """Train and score what is missing, and print the table."""
    folders = dict(encoder.split("=", 1) for encoder in encoders)
    settings = [part for item in override for part in ("--" + item).split("=", 1)]
    scores = {
        name: [_score(folder, seed, output / f"{name}-{seed}", settings) for seed in seeds]
        for name, folder in folders.items()
    }
    typer.echo("| | " + " | ".join(folders) + " |\n| --- |" + " --- |" * len(folders))
    for row, key in SCORES.items():
        cells = [_shown([found[key] for found in scores[name]]) for name in folders]
        typer.echo(f"| {row} | " + " | ".join(cells) + " |")
    if table:
        table.parent.mkdir(parents=True, exist_ok=True)
        table.write_text(json.dumps({"seeds": seeds, "scores": scores}, indent=1), "utf-8")


def _score(encoder: str, seed: int, output: Path, settings: list[str]) -> dict[str, float]:
    """Scores of one pipeline, which is trained if it is not there."""
    metrics = output / "metrics.json"
    python = [sys.executable, "-m"]
    if not metrics.exists():
        train = ["spacy", "train", "configs/joint.cfg", "--output", str(output)]
        choices = ["--paths.encoder", encoder, "--system.seed", str(seed)]
        subprocess.run([*python, *train, *choices, *settings], check=True)
        evaluate = ["spacy_cnm", "evaluate", str(output / "model-best"), "corpus/demo/test.spacy"]
        subprocess.run([*python, *evaluate, str(metrics)], check=True)
    found: dict[str, float] = json.loads(metrics.read_text(encoding="utf-8"))["scores"]
    return found


def _shown(values: list[float]) -> str:
    """Mean and, of several, the standard deviation."""
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{spread}"


if __name__ == "__main__":
    typer.run(main)
