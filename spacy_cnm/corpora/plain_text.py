"""Records as plain text, for whatever counts characters or learns from raw text."""

import os
import re
from collections.abc import Iterable

from spacy_cnm.files import atomic_path

from .records import Record

#: What some reader or other takes for the end of a line.
_LINE_BREAK = re.compile("\r\n|[\n\r\u2028\u2029]")


def write_texts(records: Iterable[Record], path: str | os.PathLike[str]) -> None:
    """Write the texts of records as UTF-8, one a line; a line break inside a text becomes a space.

    records: the records, in the order in which they are written.
    path: the file; it appears when it is complete.
    RAISES: CNMError when the file cannot be written.
    """
    with (
        atomic_path(path) as temporary,
        temporary.open("w", encoding="utf-8", newline="\n") as file,
    ):
        file.writelines(f"{_LINE_BREAK.sub(' ', record.text)}\n" for record in records)
