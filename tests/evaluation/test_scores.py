"""Scores and counts on predictions made by hand."""

from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span
from spacy.training import Example

from spacy_cnm.corpora.docs import make_doc, reference_nlp, write_docs
from spacy_cnm.corpora.records import Place, Record
from spacy_cnm.errors import CNMError
from spacy_cnm.evaluation.gold import Gold, read_gold
from spacy_cnm.evaluation.scores import Scores, score

ALL_PIPES = ("ner", "tagger", "textcat", "cnm_word_merger")
PLACE = Place("x", 1)


def blank(*pipes: str) -> Language:
    """An untrained pipeline, asked only for what its components set."""
    nlp = spacy.blank("zh")
    for pipe in pipes:
        nlp.add_pipe(pipe)
    return nlp


def pairs(gold: Gold, change: Callable[[Doc], None]) -> list[Example]:
    """The gold documents as predictions, each changed by a function."""
    examples = []
    for reference in gold.docs:
        predicted = reference.copy()
        change(predicted)
        examples.append(Example(predicted, reference))
    return examples


@pytest.fixture
def gold(test_file: Path) -> Gold:
    return read_gold(test_file)


def test_counts(gold: Gold) -> None:
    assert gold.to_dict() == {
        "source": "test.spacy",
        "docs": 5,
        "characters": 40,
        "words": 17,
        "entities": {"PER": 2, "LOC": 3},
        "docs_with_cats": 2,
        "cats": {"positive": 1, "negative": 1},
    }


def test_perfect(gold: Gold) -> None:
    scores = score(blank(*ALL_PIPES), pairs(gold, lambda doc: None), gold)
    assert scores.missing == {}
    for key in ("word_f", "word_tag_f", "tag_acc", "ents_f", "cats_acc", "cats_macro_f"):
        assert scores.values[key] == 1, key
    assert scores.values["ents_per_type"].keys() == {"PER", "LOC"}
    assert scores.values["cats_f_per_type"].keys() == {"positive", "negative"}


def test_guesses_about_documents_without_annotation_are_not_wrong(gold: Gold) -> None:
    def change(doc: Doc) -> None:
        if not doc.cats:
            doc.cats = {"positive": 0.9, "negative": 0.1}
        if not doc.has_annotation("ENT_IOB"):
            doc.set_ents([Span(doc, 0, 1, "PER")])
        if not doc.has_annotation("TAG"):
            for token in doc:
                token.tag_ = "B-n"

    scores = score(blank(*ALL_PIPES), pairs(gold, change), gold).values
    assert [scores[key] for key in ("word_f", "tag_acc", "ents_f", "cats_acc")] == [1, 1, 1, 1]


def test_wrong_guesses(gold: Gold) -> None:
    def change(doc: Doc) -> None:
        if doc.cats:
            doc.cats = {"positive": 0.9, "negative": 0.1}
        doc.set_ents([ent for ent in doc.ents if ent.label_ != "PER"])

    scores = score(blank(*ALL_PIPES), pairs(gold, change), gold).values
    assert scores["cats_acc"] == 1 / 2
    assert scores["cats_f_per_type"]["negative"]["r"] == 0
    assert (scores["ents_p"], scores["ents_r"]) == (1, 3 / 5)
    assert scores["ents_per_type"]["PER"]["f"] == 0


def test_words_joined_by_the_merger_score_the_same(gold: Gold) -> None:
    nlp = blank("cnm_word_merger")
    merger = nlp.get_pipe("cnm_word_merger")
    joined = score(blank(*ALL_PIPES), pairs(gold, merger), gold)
    assert joined == score(blank(*ALL_PIPES), pairs(gold, lambda doc: None), gold)


def test_only_entities(gold: Gold) -> None:
    scores = score(blank("ner"), pairs(gold, lambda doc: None), gold)
    assert set(scores.values) == {"ents_p", "ents_r", "ents_f", "ents_per_type"}
    assert scores.missing == {
        "words": "no component of the pipeline sets token.tag",
        "categories": "no component of the pipeline sets doc.cats",
    }


def test_what_the_file_lacks(tmp_path: Path) -> None:
    write_docs([Record("好", PLACE, cats={"a": 1.0, "b": 0.0})], tmp_path / "a.spacy")
    gold = read_gold(tmp_path / "a.spacy")
    scores = score(blank(*ALL_PIPES), pairs(gold, lambda doc: None), gold)
    assert scores.missing == {
        "words": "the test file has no words",
        "entities": "the test file has no entities",
    }
    assert scores.values["cats_acc"] == 1


def test_no_entity_anywhere_is_an_annotation(tmp_path: Path) -> None:
    write_docs([Record("好", PLACE, entities=())], tmp_path / "a.spacy")
    gold = read_gold(tmp_path / "a.spacy")
    assert gold.to_dict()["entities"] == {}
    scores = score(blank("ner"), pairs(gold, lambda doc: None), gold)
    assert scores.values["ents_f"] is None
    assert "entities" not in scores.missing


def test_categories_that_do_not_exclude_each_other() -> None:
    nlp = reference_nlp()
    doc = make_doc(nlp, Record("好", PLACE, cats={"a": 1.0, "b": 1.0, "c": 0.0}))
    guess = doc.copy()
    guess.cats = {"a": 0.9, "b": 0.2, "c": 0.1}
    gold = Gold("x", [doc])
    scores: Scores = score(blank("textcat_multilabel"), [Example(guess, doc)], gold)
    assert scores.values["cats_micro_f"] == pytest.approx(2 / 3)
    assert "cats_acc" not in scores.values


def test_nothing_annotated(tmp_path: Path) -> None:
    write_docs([Record("好", PLACE)], tmp_path / "a.spacy")
    with pytest.raises(CNMError, match=r"a\.spacy: no document has tags, entities or categories"):
        read_gold(tmp_path / "a.spacy")
    write_docs([], tmp_path / "b.spacy")
    with pytest.raises(CNMError, match=r"b\.spacy: no document"):
        read_gold(tmp_path / "b.spacy")
