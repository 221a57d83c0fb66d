"""Reading a text file that may be anything: line by line, in bounded memory, with line numbers."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from spacy_cnm.errors import CNMError, Errors

from .report import Report

#: Longest line that is read, in bytes. The longest real one has about 200.
MAX_LINE = 65_536


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a file for reading; any failure of the system becomes a CNMError that names it."""
    try:
        with Path(path).open("rb") as stream:
            yield stream
    except OSError as error:
        raise CNMError(Errors.E006.format(path=path, why=error.strerror or error)) from error


def read_lines(path: str | os.PathLike[str], report: Report) -> Iterator[tuple[int, str]]:
    """Lines of a UTF-8 file without their ends; a byte order mark is skipped.

    path: the file. At most `MAX_LINE` bytes of it are held at once.
    report: takes note of damaged lines, which are left out.
    YIELDS: 1-based line number and text.
    RAISES: CNMError if the file cannot be read, or from a strict report at the first damage.
    """
    with opened(path) as stream:
        while raw := stream.readline(MAX_LINE + 1):
            report.n_lines = number = report.n_lines + 1
            if len(raw) > MAX_LINE:
                report.damaged(number, "line too long", f"more than {MAX_LINE:,} bytes")
                _skip_line(stream, raw)
                continue
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                report.damaged(number, "not UTF-8", f"byte {error.start + 1} of the line")
                continue
            if "\0" in text:
                report.damaged(number, "NUL character", "a binary file or UTF-16?")
                continue
            yield number, text.rstrip("\r\n")


def _skip_line(stream: BinaryIO, raw: bytes) -> None:
    while raw and not raw.endswith(b"\n"):
        raw = stream.readline(MAX_LINE)


def sha256_of(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with opened(path) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
