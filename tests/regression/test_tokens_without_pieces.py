"""BERT's normalizer deletes variation selectors, joiners, private-use characters and the like.

Tokens of such characters were aligned to nothing: the components met a vector of zeros that no
training had shown them, called it a place, and cut the words around it.
"""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from transformers import AutoTokenizer

from spacy_cnm.pipeline.word_merger import words_of
from spacy_cnm.pipeline.wordpieces import tokenize_spans


@pytest.fixture(scope="module")
def tokenizer(cnm_folder):
    return AutoTokenizer.from_pretrained(cnm_folder)


def pieces_of_tokens(doc, tokenizer):
    _, batch, align = tokenize_spans([[doc[:]]], tokenizer)
    strings = np.array(batch.strings).ravel()
    return [strings[align[i].dataXd.ravel()].tolist() for i in range(len(doc))]


@pytest.mark.parametrize("mark", ["\U000e0100", "\ufe00", "\u200d", "\u200b", "\u0301", "\ue000"])
def test_a_token_without_pieces_has_those_of_the_one_before_it(tokenizer, mark):
    doc = spacy.blank("zh")(f"王{mark}䶮")
    assert [token.text for token in doc] == ["王", mark, "䶮"]
    assert pieces_of_tokens(doc, tokenizer) == [["王"], ["王"], ["䶮"]]


def test_the_first_token_has_cls(tokenizer):
    doc = spacy.blank("zh")("\ufeff\u200b北京")
    assert pieces_of_tokens(doc, tokenizer) == [["[CLS]"], ["[CLS]"], ["北"], ["京"]]
    assert pieces_of_tokens(spacy.blank("zh")("\ue000\ue001"), tokenizer) == [["[CLS]"]] * 2


def test_documents_of_a_batch_do_not_share_pieces(tokenizer):
    nlp = spacy.blank("zh")
    docs = [nlp("北京"), nlp(""), nlp("\u200b上海"), nlp("\n")]
    spans = [[doc[:]] if len(doc) else [] for doc in docs]
    _, batch, align = tokenize_spans(spans, tokenizer)
    strings = np.array(batch.strings).ravel()
    found = [strings[align[i].dataXd.ravel()].tolist() for i in range(len(align.lengths))]
    assert found == [["北"], ["京"], ["[CLS]"], ["上"], ["海"], []]
    width = batch.input_ids.shape[1]
    assert align[2].dataXd.ravel().tolist() == [width]  # the second row's own [CLS]


def test_marks_stay_with_their_word():
    labels = {"北": "B-ns", "\u200b": "B-v", "京": "I-ns", "王": "B-nr", "\U000e0101": "I-ns"}
    words = ["北", "\u200b", "京", "王", "\U000e0101"]
    doc = Doc(spacy.blank("zh").vocab, words=words, spaces=[False] * 5)
    for token in doc:
        token.tag_ = labels[token.text]
    assert words_of(doc) == [(0, 3, "ns"), (3, 5, "nr")]
