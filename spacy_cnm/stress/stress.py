"""The rare-name stress test: what a pipeline still finds when names have rare characters."""

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from spacy.language import Language
from spacy.scorer import PRFScore
from spacy.tokens import Doc

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.evaluation.gold import read_gold
from spacy_cnm.evaluation.pipelines import check_lengths, full_name, load_pipeline
from spacy_cnm.evaluation.vocabulary import vocabulary_of

from .rare_names import (
    SEVERITIES,
    Keep,
    RareNames,
    Severity,
    check_settings,
    find_substitutes,
    read_characters,
)

#: Share of the ideographs outside of names that change in the last two rows.
ELSEWHERE = 0.05
#: Row -> how much of each name changes, and which share of everything else.
ROWS: dict[str, tuple[Severity | None, float]] = {
    **{severity: (severity, 0.0) for severity in SEVERITIES},
    "elsewhere": (None, ELSEWHERE),
    "everywhere": ("one", ELSEWHERE),
}


def stress(
    model: str,
    test: Path,
    labels: Collection[str],
    *,
    keep: Keep = "first",
    characters: Path | None = None,
    seed: int = 0,
    gpu_id: int = -1,
) -> dict[str, Any]:
    """Score the entities of some labels, as they are and with rare characters in them.

    A pipeline that takes every rare character for a name finds the changed names, too. So there are
    two more rows: names as they are and one in twenty of the other ideographs changed, and both.

    model: folder or package name of a pipeline with a CNM-BERT. What the base vocabulary of that
        lacks is rare; a matched baseline has the same, and so gets the same texts.
    test: `.spacy` file of reference documents, whose tokens are single characters.
    labels: entities that change; all others stay.
    keep, characters, seed: see `rare_names`.
    gpu_id: number of the GPU, -1 for the CPU.
    RETURNS: for "before" and each of ROWS precision, recall and F of the labels together, and how
        much was changed.
    RAISES: CNMError for a pipeline or file that cannot be used, or a label without entities.
    """
    check_settings(SEVERITIES[0], keep)
    labels = sorted(set(labels))
    gold = read_gold(test)
    known_labels = sorted(gold.entities or ())
    if missing := [label for label in labels if label not in known_labels]:
        known = ", ".join(known_labels) or "none at all"
        raise CNMError(Errors.E434.format(path=test, labels=", ".join(missing), known=known))
    nlp = load_pipeline(model, gpu_id=gpu_id)
    vocabulary = vocabulary_of(nlp)
    if vocabulary is None:
        raise CNMError(Errors.E432)
    check_lengths(nlp, (doc.text for doc in gold.docs))
    allowed = None if characters is None else read_characters(characters)
    substitutes = find_substitutes(vocabulary.lacks, allowed)
    rows = {"before": score_labels(nlp, gold.docs, labels)}
    for row, (severity, elsewhere) in ROWS.items():
        names = RareNames(substitutes, labels, severity, keep, seed, elsewhere)
        docs = [names.document(doc) for doc in gold.docs]
        if severity and not names.changed.changed:
            raise CNMError(Errors.E437.format(path=test, labels=", ".join(labels)))
        rows[row] = {**score_labels(nlp, docs, labels), **asdict(names.changed)}
    return {
        "model": {"name": full_name(nlp), "version": nlp.meta["version"]},
        "test": gold.source,
        "labels": labels,
        "keep": keep,
        "seed": seed,
        "substitutes": len(substitutes.all),
        "results": rows,
    }


def score_labels(nlp: Language, docs: Sequence[Doc], labels: Collection[str]) -> dict[str, float]:
    """Strict scores of the entities of some labels together.

    nlp: the pipeline.
    docs: reference documents.
    labels: entities that count; others neither help nor harm.
    RETURNS: `p`, `r`, `f` in 0..1; 0 where the denominator is 0.
    """
    counts = PRFScore()
    for reference, predicted in zip(docs, nlp.pipe(doc.text for doc in docs), strict=True):
        gold, found = (
            {(e.start_char, e.end_char, e.label_) for e in doc.ents if e.label_ in labels}
            for doc in (reference, predicted)
        )
        counts.score_set(found, gold)
    return {"p": counts.precision, "r": counts.recall, "f": counts.fscore}
