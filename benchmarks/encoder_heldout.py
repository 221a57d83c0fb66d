"""What pretrained encoders know of held-out text and of characters that they never met.

    python benchmarks/encoder_heldout.py corpus/mini models/cnm-bert-mini models/bert-mini-matched

For each folder (saved with `spacy-cnm wrap --keep pretraining`): masked-LM perplexity and
accuracy on heldout.txt and on rare.txt (texts with characters outside the vocabulary), with the
same masks for all; and, where the component loss was on, how many components are found of the
characters that have a tree but do not occur in characters.tsv. Rows and masks depend on the two
sizes: those of another run give other figures than its metrics.jsonl.
"""

import csv
from pathlib import Path
from typing import Annotated

import torch
import typer
from accelerate import Accelerator

from spacy_cnm.ids import FIRST_ROW, StructureTable
from spacy_cnm.modeling import CNMBertForPreTraining, load_or_wrap
from spacy_cnm.pretraining.config import DataSection
from spacy_cnm.pretraining.heldout import component_hits, evaluate
from spacy_cnm.pretraining.setup import make_stream

#: Characters whose components are computed at once.
_CHUNK = 1024


def main(
    corpus: Annotated[Path, typer.Argument(help="heldout.txt, rare.txt and characters.tsv.")],
    encoders: Annotated[list[Path], typer.Argument(metavar="FOLDER...")],
    max_length: Annotated[int, typer.Option(help="Word pieces a row at most.")] = 256,
    max_tokens: Annotated[int, typer.Option(help="Word pieces a batch at most.")] = 4096,
) -> None:
    """Print one table."""
    typer.echo("| | text | masked | perplexity | accuracy | components right | recall |")
    typer.echo("|" + " --- |" * 7)
    for folder in encoders:
        model, tokenizer = load_or_wrap(
            folder, cls=CNMBertForPreTraining, model_config={"attn_implementation": "eager"}
        )
        for name in ("heldout", "rare"):
            data = DataSection(
                train=[corpus / f"{name}.txt"], max_length=max_length, max_tokens=max_tokens
            )
            stream = make_stream(data, data.train, tokenizer)
            found = evaluate(model, stream.batches(epochs=1), Accelerator())
            _print(folder, name, found)
        if model.config.component_loss_weight:
            _print(folder, *never_met(model, corpus / "characters.tsv"))


def never_met(model: CNMBertForPreTraining, characters: Path) -> tuple[str, dict[str, float]]:
    """Component accuracy and recall on characters that are not in a list, with how many."""
    with characters.open(encoding="utf-8", newline="") as file:
        met = {row[0] for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    table = StructureTable.default()
    rows = [table[char] for char in table.characters if char not in met]
    new = torch.tensor(sorted(row for row in rows if row >= FIRST_ROW))
    with torch.no_grad():
        parts = [component_hits(model, chunk) for chunk in new.split(_CHUNK)]
    right = torch.cat([right for _, right, _ in parts]).double().mean().item()
    recall = torch.cat([recall for _, _, recall in parts]).double().mean().item()
    return f"{len(new):,} characters", {"component_accuracy": right, "component_recall": recall}


def _print(folder: Path, text: str, found: dict[str, float]) -> None:
    keys = ("masked", "perplexity", "masked_accuracy", "component_accuracy", "component_recall")
    cells = [f"{found[key]:.5g}" if key in found else "" for key in keys]
    typer.echo(f"| {folder} | {text} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    typer.run(main)
