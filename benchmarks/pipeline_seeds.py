"""Train and score pipelines on several encoders and seeds.

    python benchmarks/pipeline_seeds.py demo joint cnm=models/cnm-bert-mini
        matched=models/bert-mini-matched

Trains `configs/TASK.cfg` on `corpus/DATASET` once an encoder and seed, and scores the test split
with `spacy-cnm evaluate`; the encoders differ in nothing else. It is computed in bf16 where the CPU
has it, else in fp32. What is finished is kept in `metrics/seeds/DATASET` and not done again.
`results.py` makes tables of it. Needs the corpus (`spacy-cnm corpora dataset DATASET corpus/DATASET
--root FOLDER`).
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_cnm.modeling.hardware import cpu_has_bfloat16


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
    """Train and score what is missing."""
    for encoder in encoders:
        if not all(encoder.partition("=")):
            raise typer.BadParameter(f"{encoder!r} is not NAME=FOLDER")
    # A seed of each encoder before the next seed, so that what is there can be compared early.
    for seed in seeds:
        for encoder in encoders:
            name, folder = encoder.split("=", 1)
            settings = {"task": task, "encoder": folder, "overrides": sorted(override)}
            metrics = Path("metrics/seeds") / dataset / f"{name}-{seed}.json"
            if not metrics.exists():
                _run(dataset, name, seed, settings, metrics)
            elif (found := _settings(metrics)) != settings:
                typer.echo(f"{metrics} is from other settings: {found}. Move it away.", err=True)
                raise typer.Exit(1)


def _settings(metrics: Path) -> Any:
    """The settings of a run; None where the file holds none."""
    try:
        return json.loads(metrics.read_text(encoding="utf-8"))["settings"]
    except (ValueError, TypeError, KeyError):
        return None


def _run(dataset: str, name: str, seed: int, settings: dict[str, Any], metrics: Path) -> None:
    corpus, output = Path("corpus") / dataset, Path("training/seeds") / dataset / f"{name}-{seed}"
    python = [sys.executable, "-m"]
    train = ["spacy", "train", f"configs/{settings['task']}.cfg", "--output", str(output)]
    for key, value in {
        "paths.train": corpus / "train.spacy",
        "paths.dev": corpus / "dev.spacy",
        "paths.encoder": settings["encoder"],
        "system.seed": seed,
    }.items():
        train += [f"--{key}", str(value)]
    precision = "bf16" if cpu_has_bfloat16() else "fp32"
    train += ["--components.transformer.model.mixed_precision", json.dumps(precision == "bf16")]
    train += [part for item in settings["overrides"] for part in ("--" + item).split("=", 1)]
    subprocess.run([*python, *train], check=True)
    scores = output / "metrics.json"
    evaluate = ["spacy_cnm", "evaluate", str(output / "model-best"), str(corpus / "test.spacy")]
    evaluate += [str(scores), "--train", str(corpus / "train.spacy")]
    evaluate += ["--baseline", "jieba" if settings["task"] == "tagger" else "none"]
    subprocess.run([*python, *evaluate], check=True)
    content = {"settings": settings, "precision": precision}
    content |= json.loads(scores.read_text(encoding="utf-8"))
    scores.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    metrics.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(scores, metrics.with_suffix(".new"))
    metrics.with_suffix(".new").replace(metrics)
    shutil.rmtree(output / "model-last")


if __name__ == "__main__":
    typer.run(main)
