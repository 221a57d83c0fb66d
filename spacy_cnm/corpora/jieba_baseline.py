"""How well jieba, and pkuseg where it is installed, cut the gold documents into words.

The peer for the pipeline's own segmentation. jieba comes as `rjieba` (the same dictionary and HMM
in Rust). pkuseg needs `spacy-pkuseg` and an unpacked model; nothing is downloaded here.
"""

import importlib.util
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.pipeline.scorers import score_words

from .docs import read_docs

#: Cuts a text into words; joined they are the text.
Segmenter = Callable[[str], Sequence[str]]


def read_gold(path: str | os.PathLike[str]) -> list[Doc]:
    """Read the documents with joint labels out of a `.spacy` file.

    path: the file.
    RETURNS: the documents that have tags, in order.
    RAISES: CNMError when there are none, or the file cannot be read.
    """
    gold = [doc for doc in read_docs(path) if doc.has_annotation("TAG")]
    if not gold:
        raise CNMError(Errors.E312.format(path=path))
    return gold


def segmenters() -> dict[str, Segmenter]:
    """Give the segmenters that work here: jieba with and without its HMM, and pkuseg.

    RAISES: CNMError when rjieba is not installed.
    """
    if not is_installed():
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
    """Compare a segmenter's words with the gold words of documents, as a pipeline's are compared.

    docs: documents with joint labels in `tag_`, at least one.
    segment: the segmenter.
    RETURNS: precision, recall, F1 in 0..1, micro-averaged (see `pipeline.scorers.score_words`).
    """
    scores = score_words(Example(_as_doc(segment(doc.text)), doc) for doc in docs)
    return cast(
        "tuple[float, float, float]", tuple(scores[f"word_{key}"] for key in ("p", "r", "f"))
    )


def is_installed() -> bool:
    """Tell whether rjieba is there."""
    return importlib.util.find_spec("rjieba") is not None


def _as_doc(words: Sequence[str]) -> Doc:
    return Doc(Vocab(), words=list(words), spaces=[False] * len(words))


def _pkuseg() -> Segmenter | None:
    """Give pkuseg with spaCy's model, or None where the package or the model is missing."""
    home = Path(os.environ.get("PKUSEG_HOME", Path.home() / ".pkuseg"))
    model = home / "spacy_ontonotes"
    if not (model / "features.msgpack").is_file() or not importlib.util.find_spec("spacy_pkuseg"):
        return None
    import spacy_pkuseg

    return spacy_pkuseg.pkuseg(str(model)).cut
