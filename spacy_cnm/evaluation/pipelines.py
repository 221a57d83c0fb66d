"""Load a trained pipeline, with errors that say what to do."""

from collections.abc import Iterable
from pathlib import Path

import spacy
from spacy.language import Language

from spacy_cnm.errors import CNMError, Errors, one_line


def load_pipeline(name: str, *, gpu_id: int = -1) -> Language:
    """Load a pipeline.

    name: a folder, or the name of an installed package.
    gpu_id: number of the GPU to run on, -1 for the CPU.
    RETURNS: the pipeline.
    RAISES: CNMError when there is no such pipeline or GPU, or when it cannot be loaded.
    """
    if gpu_id >= 0:
        try:
            spacy.require_gpu(gpu_id)
        except ValueError as error:
            raise CNMError(Errors.E412.format(gpu_id=gpu_id, reason=one_line(error))) from error
    try:
        return spacy.load(name)
    except Exception as error:  # of whatever library meets the damage
        is_one = any(Path(name, file).exists() for file in ("config.cfg", "meta.json"))
        if isinstance(error, OSError) and not is_one:
            raise CNMError(Errors.E410.format(name=name, reason=one_line(error))) from error
        raise CNMError(Errors.E411.format(name=name, reason=one_line(error))) from error


def check_lengths(nlp: Language, texts: Iterable[str]) -> None:
    """Check that a pipeline takes texts of these lengths.

    RAISES: CNMError for the first that is too long.
    """
    for number, text in enumerate(texts, start=1):
        if len(text) > nlp.max_length:
            settings = {"number": number, "length": len(text), "longest": nlp.max_length}
            raise CNMError(Errors.E436.format(**settings))


def full_name(nlp: Language) -> str:
    """Give the name that the pipeline has as a package: language and name."""
    return f"{nlp.meta['lang']}_{nlp.meta['name']}"


def sets(nlp: Language, attribute: str) -> bool:
    """Tell whether a component says of itself that it sets an attribute, such as "doc.ents"."""
    return any(attribute in nlp.get_pipe_meta(name).assigns for name in nlp.pipe_names)
