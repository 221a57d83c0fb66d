"""How well jieba, and pkuseg where it is installed, cut the gold documents into words.

The peer for the pipeline's own segmentation. jieba comes as `rjieba` (the same dictionary and HMM
in Rust). pkuseg needs `spacy-pkuseg` and an unpacked model; nothing is downloaded here.
"""

import importlib.util
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_cnm.errors import CNMError, Errors

from .segmentation import segmentation_prf, words_from_labels

#: Cuts a text into words; joined they are the text.
Segmenter = Callable[[str], Sequence[str]]


def read_gold(path: str | os.PathLike[str]) -> list[Doc]:
    """Read the documents with joint labels out of a `.spacy` file.

    path: the file.
    RETURNS: the documents that have tags, in order.
    RAISES: CNMError when there are none, or the file cannot be read.
    """
    try:
        docs = DocBin().from_disk(Path(path)).get_docs(Vocab())
        gold = [doc for doc in docs if doc.has_annotation("TAG")]
    except OSError as error:
        raise CNMError(Errors.E301.format(path=path, reason=error.strerror or error)) from error
    except Exception as error:  # zlib, msgpack and numpy each have their own for a damaged file
        raise CNMError(Errors.E311.format(path=path, reason=error)) from error
    if not gold:
        raise CNMError(Errors.E312.format(path=path))
    return gold


def segmenters() -> dict[str, Segmenter]:
    """Give the segmenters that work here: jieba with and without its HMM, and pkuseg.

    RAISES: CNMError when rjieba is not installed.
    """
    if importlib.util.find_spec("rjieba") is None:
        raise CNMError(Errors.E313)
    import rjieba

    found: dict[str, Segmenter] = {
        "jieba (HMM)": lambda text: rjieba.cut(text, True),
        "jieba (no HMM)": lambda text: rjieba.cut(text, False),
    }
    pkuseg = _pkuseg()
    if pkuseg:
        found["pkuseg"] = pkuseg
    return found


def score(docs: Iterable[Doc], segment: Segmenter) -> tuple[float, float, float]:
    """Compare a segmenter's words with the gold words of documents, as stretches of characters.

    White space is no word on either side.

    docs: documents with joint labels in `tag_`.
    segment: the segmenter.
    RETURNS: precision, recall, F1 in 0..1, micro-averaged.
    """
    docs = list(docs)
    return segmentation_prf(map(gold_words, docs), (_spans(segment(doc.text)) for doc in docs))


def gold_words(doc: Doc) -> list[tuple[int, int]]:
    """Give the words of a document with joint labels as (start, end) in characters."""
    return [
        (doc[start].idx, doc[end - 1].idx + len(doc[end - 1]))
        for start, end, _ in words_from_labels([token.tag_ for token in doc])
        if not doc[start:end].text.isspace()
    ]


def _spans(words: Iterable[str]) -> list[tuple[int, int]]:
    spans = []
    end = 0
    for word in words:
        start, end = end, end + len(word)
        if not word.isspace():
            spans.append((start, end))
    return spans


def _pkuseg() -> Segmenter | None:
    """Give pkuseg with spaCy's model, or None where the package or the model is missing."""
    home = Path(os.environ.get("PKUSEG_HOME", Path.home() / ".pkuseg"))
    model = home / "spacy_ontonotes"
    if not (model / "features.msgpack").is_file() or not importlib.util.find_spec("spacy_pkuseg"):
        return None
    import spacy_pkuseg

    return spacy_pkuseg.pkuseg(str(model)).cut
