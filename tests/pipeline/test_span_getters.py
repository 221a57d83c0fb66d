"""Windows in word pieces: they cover everything, in order, and fit."""

import itertools
import pickle

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import extend_tokenizer
from spacy_cnm.pipeline.span_getters import WordpieceSpans, configure_wordpiece_spans

VOCAB = Vocab()
WORDS = st.text(
    st.sampled_from("今天䢖𰀀塚abAé.-1 \t\u3000한\U0001f600\u200d\ufe0f"), min_size=1, max_size=8
)
DOCS = st.lists(st.lists(WORDS, max_size=30), min_size=1, max_size=3)


@pytest.fixture(scope="module")
def tokenizer(base_tokenizer):
    extended = extend_tokenizer(base_tokenizer)
    extended.model_max_length = 64
    return extended


def n_pieces(span, tokenizer):
    return len(tokenizer.tokenize(span.text))


def make_doc(words):
    return Doc(VOCAB, words=words, spaces=[False] * len(words))


def test_windows_cover_fit_and_touch(tokenizer):
    # The tokenizer is no argument of the inner test, which would print it.
    @settings(max_examples=150, deadline=None)
    @given(texts=DOCS, window=st.integers(1, 70), share=st.floats(0, 1))
    def check(texts, window, share):
        docs = [make_doc(words) for words in texts]
        nested = WordpieceSpans(window, max(1, round(window * share)))(docs, tokenizer)
        assert len(nested) == len(docs)
        for doc, spans in zip(docs, nested, strict=True):
            check_windows(doc, spans, min(window, 62), tokenizer)

    check()


def check_windows(doc, spans, window, tokenizer):
    if not len(doc):
        assert spans == []
        return
    assert all(span.doc is doc and len(span) for span in spans)
    assert spans[0].start == 0
    assert spans[-1].end == len(doc)
    for left, right in itertools.pairwise(spans):
        assert left.start < right.start <= left.end < right.end
    whole = tokenizer.tokenize(doc.text)
    for span in spans:
        pieces = tokenizer.tokenize(span.text)
        start = n_pieces(doc[: span.start], tokenizer)
        assert whole[start : start + len(pieces)] == pieces
        assert len(pieces) <= window or is_one_unit(span, tokenizer)


def is_one_unit(span, tokenizer):
    """Whether no cut between two tokens leaves the pieces on both sides as they are."""
    pieces = tokenizer.tokenize(span.text)
    for i in range(1, len(span)):
        left, right = (tokenizer.tokenize(part.text) for part in (span[:i], span[i:]))
        if left and right and left + right == pieces:
            encoding = tokenizer(span.text, add_special_tokens=False).encodings[0]
            words = encoding.word_ids
            if words[len(left) - 1] != words[len(left)]:
                return False
    return True


def test_windows_of_ideographs(tokenizer):
    doc = make_doc(list("今天天气很好我在北京"))
    spans = WordpieceSpans(4, 3)([doc], tokenizer)[0]
    assert [(span.start, span.end) for span in spans] == [(0, 4), (3, 7), (6, 10)]
    assert WordpieceSpans(10, 1)([doc], tokenizer)[0] == [doc[:]]


def test_windows_are_clipped_to_the_position_table(tokenizer):
    doc = make_doc(list("今天" * 100))
    assert {len(span) for span in WordpieceSpans(510, 400)([doc], tokenizer)[0][:-1]} == {62}


@pytest.mark.parametrize(("window", "stride"), [(0, 0), (4, 5), (4, 0), (-1, 1)])
def test_impossible_windows_are_refused(window, stride):
    with pytest.raises(CNMError, match=f"window = {window} and stride = {stride}"):
        configure_wordpiece_spans(window, stride)


def test_other_architectures_are_told(bert_folder):
    nlp = spacy.blank("zh")
    getter = {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 8, "stride": 4}
    stock = "spacy-transformers.TransformerModel.v3"
    model = {"@architectures": stock, "name": str(bert_folder), "get_spans": getter}
    nlp.add_pipe("transformer", config={"model": model})
    with pytest.raises(CNMError, match=r"strided_spans\.v1"):
        nlp.initialize()


def test_getter_is_plain_data():
    getter = configure_wordpiece_spans(10, 5)
    assert pickle.loads(pickle.dumps(getter)) == getter
