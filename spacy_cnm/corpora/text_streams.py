"""Reading large text files one text at a time: plain or as JSON lines, compressed or not.

Unlike `text_files`, which holds a file in memory, a file is read here as it is needed, so that its
size does not matter.
"""

import gzip
import io
import itertools
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import check_regular

#: What the name of a file may end in, before the ending of the compression.
KINDS = (".txt", ".jsonl")
#: What it may end in after that.
COMPRESSIONS = (".gz", ".xz")
_OPEN: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".xz": lzma.open}
_BOM = b"\xef\xbb\xbf"


def read_lines(path: Path, *, start: int = 0) -> Iterator[str]:
    """Read the texts of a `.txt` file (one a line) or a `.jsonl` file (key "text").

    Both may be compressed (`.gz`, `.xz`). Only LF and CR LF end a line. White space around a text
    is left out, and so is a text of nothing else.

    path: the file.
    start: number of texts, as counted by this function, to leave out at the beginning.
    YIELDS: the texts. What is wrong in a file is found when its place is reached.
    RAISES CNMError: the file is missing, is no regular file, has another ending, holds no text, is
        binary or not UTF-8, its compression is damaged or cut off, or a JSON line is damaged or
        has no text.
    """
    return itertools.islice(_texts(path), start, None)


def _texts(path: Path) -> Iterator[str]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression = suffixes.pop() if suffixes and suffixes[-1] in COMPRESSIONS else ""
    kind = suffixes[-1] if suffixes else ""
    if kind not in KINDS:
        raise CNMError(Errors.E501.format(path=path, known=" ".join(KINDS + COMPRESSIONS)))
    check_regular(path)
    empty = True
    for number, line in _decoded(path, compression):
        text = _json_text(line, path, number) if kind == ".jsonl" and line else line
        if text:
            empty = False
            yield text
    if empty:
        raise CNMError(Errors.E504.format(path=path))


def _decoded(path: Path, compression: str) -> Iterator[tuple[int, str]]:
    """Give the lines, stripped, with their numbers from 1."""
    offset = 0
    for number, line in enumerate(_raw_lines(path, compression), start=1):
        if b"\0" in line:
            raise CNMError(Errors.E303.format(path=path))
        try:
            text = (line.removeprefix(_BOM) if number == 1 else line).decode()
        except UnicodeDecodeError as error:
            byte = offset + error.start
            raise CNMError(Errors.E302.format(path=path, line=number, byte=byte)) from error
        offset += len(line)
        yield number, text.strip()


def _raw_lines(path: Path, compression: str) -> Iterator[bytes]:
    try:
        # The inner files of both compressions give lines through Python code, one call for each;
        # the reader around them does so in C.
        with _OPEN[compression](path, "rb") as file, io.BufferedReader(file, 1 << 16) as lines:
            yield from lines
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise CNMError(Errors.E502.format(path=path, reason=error)) from error
    except OSError as error:
        raise CNMError(Errors.E301.format(path=path, reason=error.strerror or error)) from error


def _json_text(line: str, path: Path, number: int) -> str:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise CNMError(Errors.E503.format(path=path, line=number, what=error)) from error
    text = entry.get("text") if isinstance(entry, dict) else None
    if not isinstance(text, str):
        what = 'there is no "text" with a string'
        raise CNMError(Errors.E503.format(path=path, line=number, what=what))
    if "\0" in text:
        raise CNMError(Errors.E503.format(path=path, line=number, what="it holds a NUL"))
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, which only an escape can write
        raise CNMError(Errors.E503.format(path=path, line=number, what=error.reason)) from error
    return text.strip()
