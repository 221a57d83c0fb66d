"""The scores of pipelines on several encoders and seeds: mean and spread.

    python benchmarks/pipeline_seeds.py demo joint cnm=models/cnm-bert-mini
        matched=models/bert-mini-matched

Trains `configs/TASK.cfg` on `corpus/DATASET` once an encoder and seed, and scores the test split
with `spacy-cnm evaluate`; the encoders differ in nothing else. What is finished is kept in
`metrics/seeds/DATASET` and not done again. Needs the corpus (`spacy-cnm corpora dataset DATASET
corpus/DATASET --root FOLDER`).
"""

import json
import shutil
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

#: Rows of the table, and where they are in what `spacy-cnm evaluate` writes.
ROWS = {
    "words F": ("scores", "word_f"),
    "words with tags F": ("scores", "word_tag_f"),
    "joint tags of characters": ("scores", "tag_acc"),
    "entities F": ("scores", "ents_f"),
    "entities F, texts not in training": ("unseen", "scores", "ents_f"),
    "recall of entities outside the vocabulary": ("scores", "ents_outside_r"),
    "category": ("scores", "cats_acc"),
    "category, texts not in training": ("unseen", "scores", "cats_acc"),
}


def main(
    dataset: Annotated[str, typer.Argument(help="Folder in corpus/.")],
    task: Annotated[str, typer.Argument(help="ner, tagger, textcat or joint.")],
    encoders: Annotated[list[str], typer.Argument(metavar="NAME=FOLDER...")],
    seeds: Annotated[list[int], typer.Option("--seed", help="May be given several times.")] = [  # noqa: B006
        0,
        1,
        2,
    ],
    override: Annotated[
        list[str], typer.Option(metavar="KEY=VALUE", help="A setting for all, as training.x=1.")
    ] = [],  # noqa: B006
) -> None:
    """Train and score what is missing, and print the table."""
    folders = dict(encoder.split("=", 1) for encoder in encoders)
    settings = [part for item in override for part in ("--" + item).split("=", 1)]
    # A seed of each encoder before the next seed, so that what is there can be compared early.
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in folders}
    for seed in seeds:
        for name, folder in folders.items():
            found[name].append(_evaluation(dataset, task, name, folder, seed, settings))
    typer.echo("| | " + " | ".join(folders) + " |\n| --- |" + " --- |" * len(folders))
    for row, path in ROWS.items():
        values = [[_value(content, path) for content in found[name]] for name in folders]
        if all(value is not None for column in values for value in column):
            typer.echo(f"| {row} | " + " | ".join(map(_shown, values)) + " |")


def _evaluation(
    dataset: str, task: str, name: str, encoder: str, seed: int, settings: list[str]
) -> dict[str, Any]:
    """What `spacy-cnm evaluate` writes about one pipeline, which is trained if it is not there."""
    metrics = Path("metrics/seeds") / dataset / f"{name}-{seed}.json"
    if not metrics.exists():
        corpus, output = Path("corpus") / dataset, Path("training/seeds") / dataset
        output /= f"{name}-{seed}"
        python = [sys.executable, "-m"]
        train = ["spacy", "train", f"configs/{task}.cfg", "--output", str(output)]
        for key, value in {
            "paths.train": corpus / "train.spacy",
            "paths.dev": corpus / "dev.spacy",
            "paths.encoder": encoder,
            "system.seed": seed,
        }.items():
            train += [f"--{key}", str(value)]
        subprocess.run([*python, *train, *settings], check=True)
        evaluate = ["spacy_cnm", "evaluate", str(output / "model-best")]
        evaluate += [str(corpus / "test.spacy"), str(metrics)]
        evaluate += ["--train", str(corpus / "train.spacy"), "--baseline", "none"]
        subprocess.run([*python, *evaluate], check=True)
        shutil.rmtree(output / "model-last")
    found: dict[str, Any] = json.loads(metrics.read_text(encoding="utf-8"))
    return found


def _value(content: Any, path: tuple[str, ...]) -> float | None:
    for key in path:
        content = None if content is None else content.get(key)
    return None if content is None else float(content)


def _shown(values: list[float]) -> str:
    """Mean and, of several, the standard deviation."""
    spread = f" ± {statistics.stdev(values):.3f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.3f}{spread}"


if __name__ == "__main__":
    typer.run(main)
