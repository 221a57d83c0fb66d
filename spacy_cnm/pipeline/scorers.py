"""Scores for pipelines that run on characters with joint labels and join them into words.

The scorers of words and labels take predicted documents before and after the word merger. Reference
documents are characters with joint labels. Positions count characters without white space, so that
the two sides may differ in their tokens and spaces.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import spacy
from spacy.scorer import Scorer
from spacy.tokens import Doc
from spacy.training import Example

from spacy_cnm.corpora.segmentation import (
    BEGIN,
    INSIDE,
    labels_from_word,
    segmentation_prf,
    words_from_labels,
)
from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.pipeline.word_merger import Word, words_of

Scores = dict[str, float | None]


@spacy.registry.scorers("spacy_cnm.joint_tag_scorer.v1")
def make_joint_tag_scorer() -> Callable[..., Scores]:
    """Create the scorer for a `tagger` that predicts joint labels.

    RETURNS: `score_joint_tags`.
    """
    return score_joint_tags


@spacy.registry.scorers("spacy_cnm.word_scorer.v1")
def make_word_scorer() -> Callable[..., Scores]:
    """Create the scorer for `cnm_word_merger`.

    RETURNS: `score_words`.
    """
    return score_words


@spacy.registry.scorers("spacy_cnm.categories_scorer.v1")
def make_categories_scorer() -> Callable[..., dict[str, Any]]:
    """Create the scorer for a `textcat` whose corpus has documents without categories.

    RETURNS: `score_categories`.
    """
    return score_categories


def score_categories(
    examples: Iterable[Example], *, multi_label: bool = False, **kwargs: Any
) -> dict[str, Any]:
    """Score categories with spaCy's scorer, on the documents that have any.

    spaCy's own takes every guess about a document without categories for a wrong one.

    multi_label, **kwargs: as `Scorer.score_cats` has them.
    RETURNS: its scores, with `cats_acc`, the share of documents that are right, where categories
        exclude each other; nothing where no reference has a category.
    """
    known = [example for example in examples if example.reference.cats]
    if not known:
        return {}
    scores = Scorer.score_cats(known, "cats", multi_label=multi_label, **kwargs)
    if not multi_label:
        # One guess a document: its micro-averaged F is the share of right ones.
        scores["cats_acc"] = scores["cats_micro_f"]
    return scores


def score_joint_tags(examples: Iterable[Example], **kwargs: Any) -> Scores:
    """Score joint labels character by character, also where the merger has joined them already.

    A joined word stands for `B-tag` on its first character and `I-tag` on the others: the labels
    as the merger read them. They differ from the tagger's own where those made no sense (`I-n` at
    the start, `B-n I-v`) or where the merger cut a word at the border of an entity.

    examples: reference documents without any tag are missing, not wrong, and so are characters
        with an empty reference tag.
    RETURNS: `tag_acc` in 0..1, or None where the references have no tag.
    RAISES: CNMError when the two documents of an example differ in their text.
    """
    n_right = n_all = 0
    for predicted, reference in _annotated_pairs(examples):
        labels = _character_labels(predicted)
        for token, (start, end) in zip(reference, _offsets(reference), strict=True):
            if token.tag_ and start < end:
                n_all += 1
                n_right += labels[start] == token.tag_
    return {"tag_acc": n_right / n_all if n_all else None}


def score_words(examples: Iterable[Example], **kwargs: Any) -> Scores:
    """Score words as spans of characters, without and with their tags.

    examples: reference documents without any tag are missing, not wrong; a predicted word that
        touches a character with an empty reference tag is left out.
    RETURNS: `word_p`, `word_r`, `word_f` and `word_tag_p`, `word_tag_r`, `word_tag_f` in 0..1,
        micro-averaged; all None where the references have no word.
    RAISES: CNMError when the two documents of an example differ in their text.
    """
    gold: list[list[Word]] = []
    guesses: list[list[Word]] = []
    for predicted, reference in _annotated_pairs(examples):
        words = _word_offsets(reference, words_from_labels([token.tag_ for token in reference]))
        known = {i for start, end, tag in words if tag for i in range(start, end)}
        gold.append([word for word in words if word[2]])
        guesses.append(
            [
                (start, end, tag)
                for start, end, tag in _word_offsets(predicted, words_of(predicted))
                if known.issuperset(range(start, end))
            ]
        )
    return _prf("word", _untagged(gold), _untagged(guesses)) | _prf("word_tag", gold, guesses)


def _prf(name: str, gold: list[list[Any]], predicted: list[list[Any]]) -> Scores:
    values: tuple[float | None, ...] = (None, None, None)
    if any(gold):
        values = segmentation_prf(gold, predicted)
    return {f"{name}_{key}": value for key, value in zip("prf", values, strict=True)}


def _untagged(documents: list[list[Word]]) -> list[list[tuple[int, int]]]:
    return [[(start, end) for start, end, _ in words] for words in documents]


def _annotated_pairs(examples: Iterable[Example]) -> Iterator[tuple[Doc, Doc]]:
    """Yield the predicted and the reference document where the reference has tags."""
    for example in examples:
        if example.reference.has_annotation("TAG"):
            _check_same_text(example.predicted, example.reference)
            yield example.predicted, example.reference


def _check_same_text(predicted: Doc, reference: Doc) -> None:
    texts = ["".join(doc.text.split()) for doc in (predicted, reference)]
    if texts[0] == texts[1]:
        return
    pairs = zip(*texts, strict=False)
    offset = next((i for i, (a, b) in enumerate(pairs) if a != b), min(map(len, texts)))
    left, right = (text[offset : offset + 10] for text in texts)
    raise CNMError(Errors.E231.format(offset=offset, predicted=left, reference=right))


def _offsets(doc: Doc) -> list[tuple[int, int]]:
    """Place each token of a document in its text without white space."""
    offsets = []
    end = 0
    for token in doc:
        start, end = end, end + sum(not char.isspace() for char in token.text)
        offsets.append((start, end))
    return offsets


def _word_offsets(doc: Doc, words: list[Word]) -> list[Word]:
    """Place words in the text without white space; white space itself is no word."""
    offsets = _offsets(doc)
    placed = [(offsets[start][0], offsets[end - 1][1], tag) for start, end, tag in words]
    return [word for word in placed if word[0] < word[1]]


def _character_labels(doc: Doc) -> list[str]:
    """Give each character that is not white space its joint label, as predicted or as joined."""
    labels: list[str] = []
    for token, (start, end) in zip(doc, _offsets(doc), strict=True):
        if start < end:
            is_joint = token.tag_.startswith((BEGIN, INSIDE))
            tag = token.tag_[len(BEGIN) :] if is_joint else token.tag_
            labels.extend(labels_from_word(end - start, tag))
            if is_joint:
                labels[start] = token.tag_
    return labels
