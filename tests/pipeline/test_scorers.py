"""Words and joint labels are scored alike before and after the merge."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_cnm.errors import CNMError
from spacy_cnm.pipeline.scorers import (
    make_joint_tag_scorer,
    make_word_scorer,
    score_categories,
    score_joint_tags,
    score_words,
)
from spacy_cnm.pipeline.word_merger import WordMerger

WORD_KEYS = ["word_p", "word_r", "word_f", "word_tag_p", "word_tag_r", "word_tag_f"]
GOLD = ["B-t", "I-t", "B-n", "I-n", "B-a"]
GUESS = ["B-t", "I-t", "B-v", "I-v", "I-v"]


def make_doc(words, labels, spaces=None):
    return Doc(Vocab(), words=list(words), spaces=spaces or [False] * len(words), tags=labels)


def make_example(gold, guess, text="今天天气好", merged=False):
    predicted = make_doc(text, guess)
    if merged:
        WordMerger()(predicted)
    return Example(predicted, make_doc(text, gold))


@pytest.mark.parametrize("merged", [False, True])
def test_words_and_tags(merged):
    scores = score_words([make_example(GOLD, GUESS, merged=merged)])
    assert scores == {
        "word_p": 0.5,
        "word_r": pytest.approx(1 / 3),
        "word_f": pytest.approx(0.4),
        "word_tag_p": 0.5,
        "word_tag_r": pytest.approx(1 / 3),
        "word_tag_f": pytest.approx(0.4),
    }


def test_a_wrong_tag_counts_in_the_second_triple_only():
    scores = score_words([make_example(GOLD, ["B-t", "I-t", "B-v", "I-v", "B-a"])])
    assert scores["word_f"] == 1.0
    assert scores["word_tag_f"] == pytest.approx(2 / 3)


@pytest.mark.parametrize("merged", [False, True])
def test_label_accuracy(merged):
    example = make_example(GOLD, GUESS, merged=merged)
    assert score_joint_tags([example]) == {"tag_acc": pytest.approx(2 / 5)}


@pytest.mark.parametrize("merged", [False, True])
def test_all_right(merged):
    example = make_example(GOLD, GOLD, merged=merged)
    assert score_joint_tags([example]) == {"tag_acc": 1.0}
    assert score_words([example]) == dict.fromkeys(WORD_KEYS, 1.0)


def test_documents_are_averaged_by_counts():
    good, bad = make_example(GOLD, GOLD), make_example(["B-n"], ["B-v"], text="好")
    assert score_joint_tags([good, bad])["tag_acc"] == pytest.approx(5 / 6)
    assert score_words([good, bad])["word_tag_p"] == pytest.approx(3 / 4)


def test_references_without_tags_are_missing():
    missing = make_example([""] * 5, GOLD, merged=True)
    assert score_joint_tags([missing]) == {"tag_acc": None}
    assert score_words([missing]) == dict.fromkeys(WORD_KEYS)
    good = make_example(GOLD, GOLD)
    assert score_joint_tags([missing, good]) == {"tag_acc": 1.0}
    assert score_words([missing, good])["word_f"] == 1.0


def test_no_example_and_empty_documents():
    empty = Example(Doc(Vocab()), Doc(Vocab()))
    for examples in ([], [empty]):
        assert score_joint_tags(examples) == {"tag_acc": None}
        assert score_words(examples) == dict.fromkeys(WORD_KEYS)


@pytest.mark.parametrize("merged", [False, True])
def test_characters_with_an_empty_reference_tag_are_left_out(merged):
    example = make_example(["B-t", "I-t", "", "", "B-a"], GOLD, merged=merged)
    assert score_joint_tags([example]) == {"tag_acc": 1.0}
    assert score_words([example])["word_p"] == 1.0


def test_a_prediction_without_tags_is_wrong():
    example = make_example(GOLD, [""] * 5)
    assert score_joint_tags([example]) == {"tag_acc": 0.0}
    assert score_words([example])["word_tag_f"] == 0.0
    assert score_words([example])["word_p"] == pytest.approx(1 / 5)


def test_white_space_is_no_word_and_may_differ():
    words = ["今", "天", "\n", "好"]
    predicted = make_doc(words, ["B-t", "I-t", "I-t", "B-a"], [False, True, False, False])
    WordMerger()(predicted)
    reference = make_doc("今天好", ["B-t", "I-t", "B-a"])
    example = Example(predicted, reference)
    assert score_joint_tags([example]) == {"tag_acc": 1.0}
    assert score_words([example]) == dict.fromkeys(WORD_KEYS, 1.0)


def test_characters_beyond_the_basic_plane():
    example = make_example(["B-nr", "I-nr"], ["B-nr", "I-nr"], text="𰀀👩", merged=True)
    assert score_words([example])["word_tag_f"] == 1.0


@pytest.mark.parametrize("score", [score_words, score_joint_tags])
def test_other_text_is_an_error(score):
    example = Example(make_doc("今天", ["B-t", "I-t"]), make_doc("今年", ["B-t", "I-t"]))
    with pytest.raises(CNMError, match=r"from character 1 on.*'天' against '年'"):
        score([example])


def test_registered_functions_give_the_scorers():
    assert make_joint_tag_scorer() is score_joint_tags
    assert make_word_scorer() is score_words


def test_categories_of_documents_without_any_are_missing_not_wrong():
    nlp = spacy.blank("zh")
    examples = []
    for gold, guess in (("positive", 0.9), ("negative", 0.8), (None, 0.7)):
        predicted, reference = nlp.make_doc("书"), nlp.make_doc("书")
        predicted.cats = {"positive": guess, "negative": 1 - guess}
        if gold:
            reference.cats = {label: float(label == gold) for label in predicted.cats}
        examples.append(Example(predicted, reference))
    scores = score_categories(examples, labels=["positive", "negative"])
    assert scores["cats_acc"] == 0.5
    assert scores["cats_f_per_type"]["positive"]["p"] == 0.5
    assert score_categories(examples[2:], labels=["positive", "negative"]) == {}
