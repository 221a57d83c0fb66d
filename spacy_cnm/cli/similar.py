"""`spacy-cnm similar`: characters that look alike."""

import os
from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_cnm.errors import CNMError, Errors

#: Where `similar` looks for an encoder or a pipeline, the first that is there.
SOURCES = ("models/cnm-bert-mini", "zh_cnm_trf")


def similar(
    characters: Annotated[list[str], typer.Argument(metavar="CHARACTER...")],
    model: Annotated[
        str | None,
        typer.Option(
            help="CNM-BERT or pipeline: a folder or an installed package. Default: the first of "
            f"{', '.join(SOURCES)}."
        ),
    ] = None,
    among: Annotated[
        str,
        typer.Option(
            metavar="ENCODING|FILE|all",
            help="What may be found: what an encoding of Python has (gb2312, big5, gbk), the "
            "characters of a text file, or all that have a tree.",
        ),
    ] = "gbk",
    n: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 20,
) -> None:
    """Find the characters whose structure is most like that of others."""
    if not (chars := [char for text in characters for char in text]):
        raise CNMError(Errors.E126.format(text=""))
    candidates = _candidates(among)
    encoder, tokenizer = _load(model or _default_source())
    from spacy_cnm.modeling.neighbours import StructureIndex

    index = StructureIndex(encoder, tokenizer, candidates)
    for char in chars:
        found = index.nearest(char, n)
        typer.echo(f"{char} " + " ".join(f"{other} {value:.2f}" for other, value in found))


def _default_source() -> str:
    for source in SOURCES:
        if os.path.isdir(source) or (source.isidentifier() and find_spec(source)):
            return source
    raise CNMError(Errors.E441.format(sources=", ".join(SOURCES)))


def _candidates(among: str) -> Iterable[str]:
    """The characters that may be found."""
    from spacy_cnm.ids import StructureTable
    from spacy_cnm.stress.rare_names import read_characters

    if os.path.exists(among) and not os.path.isdir(among):
        return sorted(read_characters(Path(among)))
    characters = StructureTable.default().characters
    if among == "all":
        return characters
    try:
        return [char for char in characters if char.encode(among, "ignore")]
    except (LookupError, UnicodeError) as error:
        raise CNMError(Errors.E440.format(value=among)) from error


def _load(source: str) -> tuple[Any, Any]:
    """The encoder of a folder, or that of a pipeline, and its tokenizer."""
    from transformers import AutoConfig

    from spacy_cnm.evaluation.pipelines import load_pipeline
    from spacy_cnm.modeling import load_or_wrap
    from spacy_cnm.pipeline.encoders import encoders_of

    if Path(source, "config.json").exists():
        model, tokenizer = load_or_wrap(source)
        if AutoConfig.from_pretrained(source, local_files_only=True).model_type != "cnm_bert":
            raise CNMError(Errors.E128)
        return model, tokenizer
    for layer in encoders_of(load_pipeline(source)):
        if layer.tokenizer is not None:
            return layer.transformer, layer.tokenizer
    raise CNMError(Errors.E442.format(source=source))
