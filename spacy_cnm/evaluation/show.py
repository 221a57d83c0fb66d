"""What a pipeline makes of a text, to be read by people."""

import unicodedata
from collections.abc import Iterable

from spacy.tokens import Doc, Span

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import StructureTable
from spacy_cnm.ids.text import code_point

from .vocabulary import Vocabulary

#: Shown where no text is given: news with rare names, and two reviews.
EXAMPLES = (
    "新华社北京一月三日电，记者王䶮今天从外交部获悉，代表团下周访问莫斯科。",
    "李堃和陈𬭸都在上海工作。他们常去浙江省的一个小镇。",
    "这本书写得很好，我一口气就读完了！",
    "屏幕太暗，电池只能用半天，很失望。",
)

#: Columns of a terminal that a line may fill.
_WIDTH = 80
_INDENT = 14


def describe(doc: Doc, vocabulary: Vocabulary | None = None) -> str:
    """Describe a document in a few lines of at most 80 columns.

    doc: what a pipeline has made of a text.
    vocabulary: the base vocabulary; without it no rare characters are pointed out.
    RETURNS: lines joined by line feeds: the text, words with their tags, the number of sentences,
        entities, characters outside the base vocabulary, the best category. What the pipeline
        does not set is not mentioned.
    """
    lines = _wrap(" ".join(doc.text.splitlines()), separator="")
    if doc.has_annotation("TAG"):
        words = [f"{token.text}/{token.tag_}" for token in doc if not token.text.isspace()]
        lines += _part("words", _wrap(words, indent=_INDENT, separator=" "))
    if len(doc) and doc.has_annotation("SENT_START"):
        lines += _part("sentences", [str(sum(1 for _ in doc.sents))])
    if doc.ents:
        lines += _part("entities", _entities(doc.ents, vocabulary))
    rest = "".join(token.text for token in doc if not token.ent_type)
    lines += _part("characters", _notes(rest, vocabulary))
    if doc.cats:
        label, score = max(doc.cats.items(), key=lambda item: item[1])
        lines += _part("category", [f"{label}  {score:.2f}"])
    return "\n".join(line.rstrip() for line in lines)


def _entities(ents: Iterable[Span], vocabulary: Vocabulary | None) -> list[str]:
    """Give a line an entity, its label aligned, and under it its rare characters."""
    ents = list(ents)
    width = max(_columns(ent.text) for ent in ents)
    lines = []
    for ent in ents:
        lines.append(f"{ent.text}{' ' * (width - _columns(ent.text))}  {ent.label_}")
        lines += [f"  {note}" for note in _notes(ent.text, vocabulary)]
    return lines


def _notes(text: str, vocabulary: Vocabulary | None) -> list[str]:
    """Give a line for each character outside the base vocabulary."""
    if vocabulary is None:
        return []
    return [
        f"{char} {code_point(char)} not in the vocabulary, structure {_structure(char)}"
        for char in dict.fromkeys(text)
        if vocabulary.lacks(char)
    ]


def _structure(char: str) -> str:
    try:
        return str(StructureTable.default().tree(char))
    except CNMError:
        return "unknown"


def _part(title: str, lines: list[str]) -> list[str]:
    """Put a title in front of the first line and indent the others."""
    return [f"{'' if i else f'  {title}':<{_INDENT}}{line}" for i, line in enumerate(lines)]


def _wrap(pieces: Iterable[str], *, separator: str, indent: int = 0) -> list[str]:
    """Fill lines with pieces; a piece that is too long has a line of its own."""
    lines: list[str] = []
    free = 0
    for piece in pieces:
        size = _columns(separator + piece)
        if lines and size <= free:
            lines[-1] += separator + piece
            free -= size
        else:
            lines.append(piece)
            free = _WIDTH - indent - _columns(piece)
    return lines


def _columns(text: str) -> int:
    """Count the columns of a text in a terminal; an ideograph takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)
