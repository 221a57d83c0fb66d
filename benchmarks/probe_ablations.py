"""Make the ablated encoders of the probe: the same body and budget, another structure side.

    python benchmarks/probe_ablations.py ../shared/corpora/ids/IDS.TXT

All begin from the token-only encoder and a new structure side, and for some steps of the second
stage (`configs/pretrain_mini_cued.cfg`) the structure side alone learns: nothing else differs.
Needs `corpus/mini` (`spacy project run pretrain-corpus`). What is finished is kept in
`models/probe` and not made again; runs that were stopped go on. `--steps` and `--corpus` make it a
trial.
"""

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from spacy_cnm.files import atomic_folder
from spacy_cnm.ids import StructureTable
from spacy_cnm.modeling import CNMBertForPreTraining, load_or_wrap
from spacy_cnm.modeling.checkpoint import write_model
from spacy_cnm.modeling.hardware import cpu_has_bfloat16
from spacy_cnm.probing.encoders import Variant, save_variant, with_structure

CONFIG = "configs/pretrain_mini_cued.cfg"


@dataclass(frozen=True)
class Ablation:
    """What differs: settings of the pretraining, or options of `ids build` for another table."""

    settings: list[str] = field(default_factory=list)
    table: list[str] = field(default_factory=list)
    kind: str = "tree"
    operator_std: float | None = None


ABLATIONS = {
    "tree": Ablation(),
    "flat": Ablation(["--model.flat", "true"], kind="flat"),
    # Operators as large as children, where BERT's initialization makes them small; and asked for.
    "large-operators": Ablation(operator_std=1.0),
    "operators": Ablation(["--model.operator_loss_weight", "1.0"], operator_std=1.0),
    "no-aux": Ablation(["--model.aux", "false"]),
    # Every part that occurs anywhere is decomposed, down to the smallest.
    "smallest-parts": Ablation(table=["--min-count", "100000", "--max-depth", "12"]),
    # The paper's rule: a character without a decomposition has the unknown vector.
    "unknown-vector": Ablation(table=["--no-self-leaf"]),
}


def main(
    ids: Annotated[Path, typer.Argument(help="IDS.TXT, for the other tables.")],
    base: Annotated[Path, typer.Option(help="The token-only encoder.")] = Path(
        "models/bert-mini-matched"
    ),
    corpus: Annotated[Path, typer.Option(help="Folder of the texts.")] = Path("corpus/mini"),
    out: Annotated[Path, typer.Option(help="Folder for the variants.")] = Path("models/probe"),
    work: Annotated[Path, typer.Option(help="Folder for the runs.")] = Path("training/probe"),
    steps: Annotated[int, typer.Option(min=1, help="Steps of each.")] = 300,
) -> None:
    """Make what is missing."""
    for name, ablation in ABLATIONS.items():
        if not (out / name).exists():
            _make(name, ablation, ids, base, corpus, out / name, work / name, steps)


def _make(
    name: str,
    ablation: Ablation,
    ids: Path,
    base: Path,
    corpus: Path,
    out: Path,
    work: Path,
    steps: int,
) -> None:
    command = [sys.executable, "-m", "spacy_cnm"]
    table = work / "table.cnmids" if ablation.table else None
    if table:
        work.mkdir(parents=True, exist_ok=True)
        subprocess.run([*command, "ids", "build", ids, table, *ablation.table], check=True)
    variant = Variant(
        os.path.relpath(base, out),
        structure_input=ablation.kind,
        operator_std=ablation.operator_std,
    )
    start = work / "start"
    if not start.exists():
        loaded = StructureTable.load(table) if table else None
        model, tokenizer = with_structure(CNMBertForPreTraining, base, variant, table=loaded)
        with atomic_folder(start) as folder:
            write_model(folder, model, tokenizer)
    settings = {
        "paths.source": start,
        "paths.corpus": corpus,
        "model.only_structure": "true",
        "training.steps": steps,
        "training.precision": "bf16" if cpu_has_bfloat16() else "fp32",
        "optimizer.warmup_steps": max(1, steps // 10),
        "logging.evaluate_every": steps,
        "logging.checkpoint_every": 100,
    }
    run = [*command, "pretrain", CONFIG, "--output", work / "run", "--resume"]
    run += [str(part) for key, value in settings.items() for part in (f"--{key}", value)]
    typer.echo(f"{name}: {steps} steps")
    subprocess.run([*run, *ablation.settings], check=True)
    model, _ = load_or_wrap(work / "run" / "model-last", cls=CNMBertForPreTraining)
    save_variant(out, model, variant, table)


if __name__ == "__main__":
    typer.run(main)
