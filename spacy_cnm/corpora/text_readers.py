"""The texts of a file, whatever its format: what is pretrained on, or must not be."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from spacy_cnm.errors import CNMError, Errors

from . import char_bio, text_streams
from .docs import read_docs
from .text_files import read_lines


def read_texts(path: Path) -> Iterator[str]:
    """Read the texts of a file, whatever it is.

    path: `.txt` or `.jsonl`, also compressed (see `text_streams`); `.bio` (a sentence is a text);
        `.conllu` and `.iob2` (their `# text`, or else the words); `.tsv` with a header that has the
        column `text`; `.spacy`.
    YIELDS: the texts; a line break inside of one becomes a space.
    RAISES CNMError: the file cannot be read, or has no texts where they should be.
    """
    reader = _READERS.get(path.suffix, text_streams.read_lines)
    empty = True
    for text in reader(path):
        empty = False
        yield text.replace("\r\n", " ").replace("\n", " ").strip()
    if empty:
        raise CNMError(Errors.E304.format(path=path))


def _read_words(path: Path) -> Iterator[str]:
    for _, lines in char_bio.sentences(read_lines(path)):
        yield _sentence(lines)


def _sentence(lines: Iterable[str]) -> str:
    """Give the `# text` of a sentence, or where it has none its words without spaces between."""
    words = []
    for line in lines:
        if line.startswith("# text = "):
            return line.removeprefix("# text = ")
        number, *columns = line.split("\t")
        if number.isdecimal() and columns:
            words.append(columns[0])
    return "".join(words)


def _read_column(path: Path) -> Iterator[str]:
    column = None
    for number, line in enumerate(read_lines(path), start=1):
        cells = line.split("\t")
        if column is None and "text" in cells:
            column = cells.index("text")
        elif column is None or column >= len(cells):
            raise CNMError(Errors.E315.format(path=path, line=number))
        else:
            yield cells[column]


def _read_bio(path: Path) -> Iterator[str]:
    for _, lines in char_bio.sentences(read_lines(path)):
        if not char_bio.is_document_start(lines[0]):
            yield "".join(line.rsplit("\t" if "\t" in line else " ", 1)[0] for line in lines)


def _read_spacy(path: Path) -> Iterator[str]:
    for doc in read_docs(path):
        yield doc.text


#: Ending -> reader; all others are read as `text_streams` does.
_READERS: dict[str, Callable[[Path], Iterator[str]]] = {
    ".conllu": _read_words,
    ".iob2": _read_words,
    ".tsv": _read_column,
    ".bio": _read_bio,
    ".spacy": _read_spacy,
}
