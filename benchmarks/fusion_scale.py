"""How the structure enters the encoder: short runs of equal length, compared on held-out text.

    python benchmarks/fusion_scale.py encoder/mini corpus/mini

Every run starts from the same random weights and reads the same batches with the same masks; they
differ in the scale of the structure vectors before the fusion, in whether it is learned, and in the
learning rate of the structure encoder. `rare` is text with characters outside the vocabulary; the
last column is the share of the characters never met whose components are all named. What is
finished is kept in the output folder and not done again.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from encoder_heldout import never_met

from spacy_cnm.files import atomic_path
from spacy_cnm.modeling import CNMBertForPreTraining, CNMBertModel, load_or_wrap

#: name -> (fields of CNMBertConfig, overrides of configs/pretrain_mini.cfg)
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    "tokens only": ({}, {"model.use_structure": "false"}),
    "equation 5 (scale 1)": ({"structure_scale": 1.0}, {}),
    "scale 1, structure rate 3e-5": (
        {"structure_scale": 1.0},
        {"optimizer.structure_learn_rate": "3e-5"},
    ),
    "scale 0.2": ({"structure_scale": 0.2}, {}),
    "scale 0.04": ({"structure_scale": 0.04}, {}),
    "scale 0.04, structure rate 1e-3": (
        {"structure_scale": 0.04},
        {"optimizer.structure_learn_rate": "1e-3"},
    ),
    "learned scale from 0.04": ({"structure_scale": 0.04, "learn_structure_scale": True}, {}),
    "bag of components, scale 0.04": ({"structure_scale": 0.04}, {"model.flat": "true"}),
}
COLUMNS = {
    "loss": ("heldout", "mlm_loss"),
    "loss, rare": ("rare", "mlm_loss"),
    "recall outside": ("rare", "outside_recall"),
    "never met": ("never met", "component_accuracy"),
}


def main(
    encoder: Annotated[Path, typer.Argument(help="An encoder with random weights.")],
    corpus: Annotated[Path, typer.Argument(help="Folder with train.txt, heldout.txt, rare.txt.")],
    steps: Annotated[int, typer.Option(help="Optimizer steps a run.")] = 800,
    only: Annotated[list[str], typer.Option(help="Variants to run; default: all.")] = [],  # noqa: B006
    output: Annotated[Path, typer.Option()] = Path("training/fusion_scale"),
) -> None:
    """Run the variants that are missing, and print the table of all that are there."""
    settings = {"encoder": str(encoder), "corpus": str(corpus), "steps": steps}
    for name in only or VARIANTS:
        if name not in VARIANTS:
            raise typer.BadParameter(f"{name!r} is none of {', '.join(map(repr, VARIANTS))}")
        found = _results(output, name)
        if not found:
            _run(name, settings, output)
        elif found["settings"] != settings:
            raise typer.BadParameter(f"{output} has runs of other settings: {found['settings']}")
    typer.echo("| | " + " | ".join(COLUMNS) + " |\n| --- |" + " --- |" * len(COLUMNS))
    for name in VARIANTS:
        if found := _results(output, name):
            cells = [found.get(part, {}).get(key) for part, key in COLUMNS.values()]
            shown = ["" if value is None else f"{value:.3f}" for value in cells]
            typer.echo(f"| {name} | " + " | ".join(shown) + " |")


def _run(name: str, settings: dict[str, Any], output: Path) -> None:
    fields, changes = VARIANTS[name]
    encoder, corpus, steps = Path(settings["encoder"]), Path(settings["corpus"]), settings["steps"]
    folder = output / _slug(name)
    shutil.rmtree(folder, ignore_errors=True)
    _with_settings(encoder, output / f"{_slug(name)}-start", fields)
    overrides = {
        "paths.source": str(output / f"{_slug(name)}-start"),
        "paths.corpus": str(corpus),
        "training.steps": str(steps),
        "optimizer.warmup_steps": str(steps // 8),
        "logging.evaluate_every": str(steps),
        "logging.checkpoint_every": str(steps),
        **changes,
    }
    arguments = [part for key, value in overrides.items() for part in (f"--{key}", value)]
    command = ["spacy_cnm", "pretrain", "configs/pretrain_mini.cfg", "--output", str(folder)]
    subprocess.run([sys.executable, "-m", *command, *arguments], check=True)
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    results: dict[str, Any] = {"settings": settings, **json.loads(lines[-1])["heldout"]}
    model, _ = load_or_wrap(folder / "model-last", cls=CNMBertForPreTraining)
    if model.config.component_loss_weight:
        results["never met"] = never_met(model, corpus / "characters.tsv")[1]
    with atomic_path(folder / "results.json") as temporary:
        temporary.write_text(json.dumps(results, indent=1), encoding="utf-8")


def _with_settings(source: Path, target: Path, fields: dict[str, Any]) -> None:
    """The same weights under other settings; a scale that is learned starts at its setting."""
    model, tokenizer = load_or_wrap(source)
    config = model.config
    for key, value in fields.items():
        setattr(config, key, value)
    changed = CNMBertModel(config)
    changed.load_state_dict(model.state_dict(), strict=False)
    changed.save_pretrained(target)
    tokenizer.save_pretrained(target)


def _results(output: Path, name: str) -> dict[str, Any] | None:
    """The last held-out metrics of a finished run."""
    path = output / _slug(name) / "results.json"
    if not path.exists():
        return None
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _slug(name: str) -> str:
    return "".join(char if char.isalnum() else "-" for char in name)


if __name__ == "__main__":
    typer.run(main)
