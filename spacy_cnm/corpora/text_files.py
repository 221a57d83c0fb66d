"""Reading UTF-8 text with errors that name the file and the line."""

import os
from pathlib import Path

from spacy_cnm.errors import CNMError, Errors


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Read a UTF-8 file (a byte-order mark is allowed) as lines without their ends.

    path: the file.
    RETURNS: the lines; see `decode_lines`.
    RAISES: CNMError when the file cannot be read, is binary or is not UTF-8.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise CNMError(Errors.E301.format(path=path, reason=error.strerror or error)) from error
    return decode_lines(data, os.fspath(path))


def decode_lines(data: bytes, name: str) -> list[str]:
    """Decode UTF-8 bytes into lines.

    Only LF and CR LF end a line: U+2028, form feeds and the like are characters of the text.

    data: the bytes of a file.
    name: what to call it in errors.
    RETURNS: the lines without their ends; the empty rest after the last line end is no line.
    RAISES: CNMError when the bytes are binary or not UTF-8.
    """
    if b"\0" in data:
        raise CNMError(Errors.E303.format(path=name))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CNMError(Errors.E302.format(path=name, line=line, byte=error.start)) from error
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if not lines[-1]:
        lines.pop()
    return lines
