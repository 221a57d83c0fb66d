"""`spacy-cnm stress`: what a pipeline still finds when names have rare characters."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from spacy_cnm.files import check_outputs

from .evaluate import GpuId, Model


def stress(
    model: Model,
    test: Annotated[Path, typer.Argument(metavar="TEST.spacy", help="Reference documents.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.json", help="File to write.")],
    label: Annotated[
        list[str], typer.Option(help="Entities that change; can be given several times.")
    ] = ["PER"],  # noqa: B006
    keep: Annotated[
        Literal["first", "last"],
        typer.Option(help="Which character stays: the surname, or the last one of a place."),
    ] = "first",
    characters: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Only ideographs of this text file; default: the BMP's."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the choice of characters.")] = 0,
    gpu_id: GpuId = -1,
) -> None:
    """Score entities as they are, and with characters that the vocabulary lacks in them."""
    from spacy_cnm.corpora.docs import write_json
    from spacy_cnm.stress.stress import stress as run

    check_outputs([model, test, *([characters] if characters else [])], files=[out])
    found = run(model, test, label, keep=keep, characters=characters, seed=seed, gpu_id=gpu_id)
    typer.echo(f"{', '.join(found['labels'])} in {found['test']}")
    typer.echo(f"{'':8}{'P':>8}{'R':>8}{'F':>8}{'changed':>10}{'elsewhere':>11}{'alike':>8}")
    for name, row in found["results"].items():
        cells = "".join(f"{row[key]:8.4f}" for key in "prf")
        changed = ""
        if row.get("characters"):
            alike = row["alike"] / row["characters"]
            changed = f"{row['changed']:10,}{row['elsewhere']:11,}{alike:8.0%}"
        typer.echo(f"{name:8}{cells}{changed}")
    typer.echo("changed: names; elsewhere: characters outside of names, for false alarms.")
    typer.echo("alike: substitutes with the main component of what they replace; others are any.")
    write_json(found, out)
