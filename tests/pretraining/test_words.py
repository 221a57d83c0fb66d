"""Pieces and the words in which they stand."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cnm.errors import CNMError
from spacy_cnm.pretraining import words
from spacy_cnm.pretraining.words import piece_words

TRICKY = "北京中国 \r\n\tab1.-+#𠮷"


def of_characters(*texts: str) -> list[int]:
    return piece_words(texts, np.arange(len("".join(texts)))).tolist()


def test_the_pieces_of_a_word_share_its_number():
    assert of_characters("我爱北京天安门") == [0, 1, 2, 2, 3, 3, 3]
    assert of_characters("abc 1.5") == [0, 0, 0, 1, 2, 2, 2]
    pieces = np.array([0, 3, 4])
    assert piece_words(["我爱北京天安门"], pieces).tolist() == [0, 2, 3]


def test_no_word_goes_from_one_text_to_the_next():
    assert of_characters("我在北", "京") == [0, 1, 2, 3]
    assert of_characters("", "我在北京", "", "北京") == [0, 1, 2, 2, 3, 3]
    assert of_characters("", "") == []


@settings(deadline=None, max_examples=150)
@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.text("北京中国 \r\n\tab1.-𠮷"))
)
def test_words_join_to_the_texts(texts):
    """The one thing that is taken for granted of jieba: each character is in a word, in order."""
    found = of_characters(*texts)
    assert len(found) == len("".join(texts))
    assert sorted(set(found)) == list(range(1 + max(found, default=-1)))
    assert found == sorted(found)


def test_a_missing_jieba_is_an_error_that_names_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "rjieba", None)
    words._jieba.cache_clear()
    with pytest.raises(CNMError, match=r"spacy-cnm\[pretrain\]"):
        words.check_installed()
