"""`spacy-cnm probe`: what encoders know of the layout, the parts and the strokes of characters."""

import os
import re
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import check_folder

_NAME = re.compile(r"[\w+-]+")


def probe(
    out: Annotated[Path, typer.Argument(help="Folder for tables, figures and report.html.")],
    encoders: Annotated[
        list[str],
        typer.Argument(metavar="NAME=FOLDER...", help="What is compared; CNM-BERT comes first."),
    ],
    labels: Annotated[
        Path, typer.Option(help="Folder with char_labels.tsv, or a benchmark's table.")
    ],
    tiers: Annotated[
        Path | None, typer.Option(help="Characters with their tier; without, no long tail.")
    ] = None,
    ablation: Annotated[
        list[str],
        typer.Option(metavar="NAME=FOLDER", help="An encoder for the long-tail split only."),
    ] = [],  # noqa: B006
    seeds: Annotated[int, typer.Option(min=1, help="How many seeds, from 0.")] = 5,
    processes: Annotated[
        int | None, typer.Option(min=1, help="How many work at a time. Default: a CPU each.")
    ] = None,
) -> None:
    """Probe encoders, frozen and fine-tuned, and write the report. Goes on where it was stopped."""
    from spacy_cnm.probing.lookup import LOOKUP

    given = [_named(text) for text in (*encoders, *ablation)]
    if len({LOOKUP, *(name for name, _ in given)}) <= len(given):
        raise typer.BadParameter(f"two encoders have one name, or one is called {LOOKUP}")
    folders = [folder for _, folder in given]
    from spacy_cnm.probing.labels import read_benchmark, read_labels
    from spacy_cnm.probing.report import OUTPUTS, check_extra, check_logs, write_report
    from spacy_cnm.probing.splits import read_tiers
    from spacy_cnm.probing.study import make_study, run

    check_extra()
    check_folder(out, OUTPUTS, [labels, *([tiers] if tiers else []), *folders])
    check_folder(out / "runs", [])
    if any(os.path.realpath(out) == os.path.realpath(folder) for folder in folders):
        raise CNMError(Errors.E421.format(path=out))
    known = read_labels(labels) if labels.is_dir() else read_benchmark(labels)
    ranks = read_tiers(tiers) if tiers else {}
    if tiers and not ranks.keys() & known.keys():
        raise CNMError(Errors.E610.format(path=tiers))
    check_logs(folders)
    study = make_study(
        known,
        ranks,
        dict(given[: len(encoders)]),
        dict(given[len(encoders) :]),
        seeds,
    )
    runs = run(out / "runs", study, processes=processes or _cpus())
    command = shlex.join(["spacy-cnm", *sys.argv[1:]])
    write_report(out, study, runs, command)
    typer.echo((out / "table.md").read_text("utf-8"))
    typer.echo(f"Report: {out / 'report.html'}")


def _named(text: str) -> tuple[str, Path]:
    name, _, folder = text.partition("=")
    if not (_NAME.fullmatch(name) and folder):
        raise typer.BadParameter(f"{text!r} is not NAME=FOLDER, the name of letters and digits")
    return name, Path(folder)


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
