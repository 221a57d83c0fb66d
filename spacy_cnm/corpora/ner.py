"""The NER converter: which reader a format has, and how to tell the format of a file."""

import os
from typing import Any

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import check_regular

from .char_bio import looks_like_bmes, read_char_bio, read_char_bmes
from .convert import Reader, convert
from .docs import Summary
from .report import Report
from .text_files import read_lines
from .weibo import looks_like_weibo, read_weibo

#: format name -> reader. A further format is one more line here.
READERS: dict[str, Reader] = {
    "bio": read_char_bio,
    "bmes": read_char_bmes,
    "weibo": read_weibo,
}


def convert_ner(
    source: str | os.PathLike[str],
    target: str | os.PathLike[str],
    *,
    format: str = "auto",
    about: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[Report, list[Summary]]:
    """Convert a character-level NER file to `.spacy`.

    source, target, about: as in `convert.convert`, and all other settings too.
    format: "bio", "bmes" (BIOES too), "weibo", or "auto" to tell by the tokens and tags.
    RETURNS: the counts of the input and of the outputs.
    RAISES: CNMError for an unknown format, and whenever `convert` does.
    """
    if format not in ("auto", *READERS):
        raise CNMError(Errors.E307.format(format=format, known=", ".join(["auto", *READERS])))
    if format == "auto":
        check_regular(source)
        format = _format(read_lines(source))
    return convert(
        READERS[format], source, target, about={"format": format, **(about or {})}, **settings
    )


def _format(lines: list[str]) -> str:
    if looks_like_weibo(lines):
        return "weibo"
    return "bmes" if looks_like_bmes(lines) else "bio"
