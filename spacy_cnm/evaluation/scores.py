"""All scores of a pipeline, each from the scorer that also counts while it trains."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from spacy.language import Language
from spacy.scorer import get_ner_prf
from spacy.tokens import Span
from spacy.training import Example

from spacy_cnm.pipeline.scorers import score_categories, score_joint_tags, score_words

from .gold import Gold
from .pipelines import sets
from .vocabulary import vocabulary_of

#: Factory of the component whose categories do not exclude each other.
_MULTI_LABEL = "textcat_multilabel"


@dataclass
class Scores:
    """Scores by spaCy's names, and why some are not there.

    values: for example `word_f`, `ents_per_type`; each in 0..1.
    missing: "words", "entities" or "categories" -> the reason.
    """

    values: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def score(nlp: Language, examples: Sequence[Example], gold: Gold) -> Scores:
    """Score everything that the test file has and the pipeline sets.

    A document that lacks an annotation is missing in that score, not wrong.

    nlp: the pipeline that made the predictions.
    examples: predicted and reference documents.
    gold: the test file.
    RETURNS: the scores.
    RAISES: CNMError when a predicted document has another text than its reference.
    """
    scores = Scores()
    parts = (
        ("words", "token.tag", gold.words > 0, _words),
        ("entities", "doc.ents", gold.entities is not None, _entities),
        ("categories", "doc.cats", gold.docs_with_cats > 0, _categories),
    )
    for name, attribute, in_gold, compute in parts:
        if not in_gold:
            scores.missing[name] = f"the test file has no {name}"
        elif not sets(nlp, attribute):
            scores.missing[name] = f"no component of the pipeline sets {attribute}"
        else:
            scores.values.update(compute(nlp, examples))
    return scores


def _words(nlp: Language, examples: Sequence[Example]) -> dict[str, Any]:
    return score_words(examples) | score_joint_tags(examples)


def _entities(nlp: Language, examples: Sequence[Example]) -> dict[str, Any]:
    """Strict scores, and the recall of entities with a character outside the base vocabulary."""
    values: dict[str, Any] = get_ner_prf(examples)
    vocabulary = vocabulary_of(nlp)
    if vocabulary is not None:
        hits = [
            _place(ent) in found
            for example in examples
            for found in [{_place(ent) for ent in example.predicted.ents}]
            for ent in example.reference.ents
            if any(map(vocabulary.lacks, ent.text))
        ]
        values["ents_outside"] = len(hits)
        values["ents_outside_r"] = sum(hits) / len(hits) if hits else None
    return values


def _place(ent: Span) -> tuple[int, int, str]:
    return ent.start_char, ent.end_char, ent.label_


def _categories(nlp: Language, examples: Sequence[Example]) -> dict[str, Any]:
    labels = sorted(
        {label for eg in examples for label in (*eg.reference.cats, *eg.predicted.cats)}
    )
    multi_label = any(nlp.get_pipe_meta(name).factory == _MULTI_LABEL for name in nlp.pipe_names)
    found = score_categories(examples, labels=labels, multi_label=multi_label)
    keys = ("cats_micro_f", "cats_macro_f", "cats_f_per_type", "cats_acc")
    return {key: found[key] for key in keys if key in found}
