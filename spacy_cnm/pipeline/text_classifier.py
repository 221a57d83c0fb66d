"""A `textcat` that can learn from a corpus in which only some documents have a category."""

from collections.abc import Callable, Iterable
from typing import Any

from spacy.language import Language
from spacy.pipeline.textcat import DEFAULT_SINGLE_TEXTCAT_MODEL, TextCategorizer
from spacy.tokens import Doc
from thinc.api import Model
from thinc.types import ArrayXd, Floats2d


class PartialTextCategorizer(TextCategorizer):
    """spaCy's `textcat` for categories that exclude each other, with missing ones left out.

    The stock component takes a document without categories for one that has none of them, and
    learns from it that every category is wrong. Here such a document has no part in the loss, as
    in `textcat_multilabel`.
    """

    @property
    def support_missing_values(self) -> bool:
        """Categories that a reference document lacks are unknown, not wrong."""
        return True

    def predict(self, docs: Iterable[Doc]) -> ArrayXd:
        """Scores of documents; an empty one has none, in a batch as alone."""
        docs = list(docs)
        scores = super().predict(docs)
        scores[[i for i, doc in enumerate(docs) if not len(doc)]] = 0.0
        return scores


@Language.factory(
    "cnm_textcat",
    assigns=["doc.cats"],
    default_config={
        "threshold": 0.0,
        "model": DEFAULT_SINGLE_TEXTCAT_MODEL,
        "scorer": {"@scorers": "spacy_cnm.categories_scorer.v1"},
    },
    default_score_weights={
        "cats_score": 1.0,
        "cats_score_desc": None,
        "cats_micro_p": None,
        "cats_micro_r": None,
        "cats_micro_f": None,
        "cats_macro_p": None,
        "cats_macro_r": None,
        "cats_macro_f": None,
        "cats_macro_auc": None,
        "cats_f_per_type": None,
    },
)
def make_partial_textcat(
    nlp: Language,
    name: str,
    model: Model[list[Doc], Floats2d],
    threshold: float,
    scorer: Callable[..., dict[str, Any]] | None,
) -> PartialTextCategorizer:
    """Create a text categorizer; the arguments are those of spaCy's `textcat`.

    model: predicts one score a category, which sum to 1.
    threshold: not used for categories that exclude each other.
    scorer: scores documents that have categories.
    """
    return PartialTextCategorizer(nlp.vocab, model, name, threshold=threshold, scorer=scorer)
