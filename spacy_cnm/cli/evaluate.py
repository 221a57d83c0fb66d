"""`spacy-cnm evaluate`, `show` and `resume`: what a trained pipeline does, and to train it on."""

from pathlib import Path
from typing import Annotated

import typer

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import check_outputs

Model = Annotated[
    str, typer.Argument(metavar="MODEL", help="Pipeline: a folder or an installed package.")
]
GpuId = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU to run on; -1 is the CPU.")]


def evaluate(
    model: Model,
    test: Annotated[Path, typer.Argument(metavar="TEST.spacy", help="Reference documents.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.json", help="File to write.")],
    baseline: Annotated[
        str, typer.Option(help="Other segmenters: jieba, none, or auto (jieba if installed).")
    ] = "auto",
    train: Annotated[
        Path | None,
        typer.Option(
            metavar="TRAIN.spacy",
            help="Score once more without the test documents whose text is here too.",
        ),
    ] = None,
    gpu_id: GpuId = -1,
    batch_size: Annotated[
        int | None,
        typer.Option(min=1, max=2**31 - 1, help="Documents a batch. Default: the pipeline's."),
    ] = None,
) -> None:
    """Score a pipeline on a test file: words, tags, entities, categories, and its speed."""
    from spacy_cnm.corpora.docs import write_json
    from spacy_cnm.evaluation.evaluate import evaluate as run
    from spacy_cnm.evaluation.table import table

    check_outputs([model, test, *([train] if train else [])], files=[out])
    evaluation = run(
        model, test, baseline=baseline, train=train, gpu_id=gpu_id, batch_size=batch_size
    )
    for line in table(evaluation):
        typer.echo(line)
    write_json(evaluation.to_dict(), out, sort_keys=True)


def show(
    model: Model,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT]...", help="Default: a few examples.")
    ] = None,
    gpu_id: GpuId = -1,
) -> None:
    """Show what a pipeline makes of texts: words, entities, rare characters, category."""
    if not all(text.strip() for text in texts or ()):
        raise CNMError(Errors.E423)
    from spacy_cnm.evaluation.pipelines import check_lengths, load_pipeline
    from spacy_cnm.evaluation.show import EXAMPLES, describe
    from spacy_cnm.evaluation.vocabulary import vocabulary_of

    nlp = load_pipeline(model, gpu_id=gpu_id)
    check_lengths(nlp, texts or ())
    vocabulary = vocabulary_of(nlp)
    docs = nlp.pipe(texts or EXAMPLES)
    typer.echo("\n\n".join(describe(doc, vocabulary) for doc in docs))


def resume(
    model: Annotated[Path, typer.Argument(metavar="FOLDER", help="Such as training/x/model-last.")],
    out: Annotated[Path, typer.Argument(metavar="OUT.cfg", help="Config to write.")],
) -> None:
    """Write a config with which `spacy train` goes on with a pipeline."""
    from spacy_cnm.files import atomic_path
    from spacy_cnm.pipeline.resuming import resume_config

    check_outputs([model], files=[out])
    config = resume_config(model)
    with atomic_path(out) as temporary:
        config.to_disk(temporary)
    typer.echo(f"Go on with: python -m spacy train {out} --output ANOTHER_FOLDER")
