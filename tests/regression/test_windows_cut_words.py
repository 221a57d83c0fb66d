"""Windows began inside of a word of the tokenizer, where the rest of the word has other pieces."""

from spacy.tokens import Doc
from spacy.vocab import Vocab

from spacy_cnm.modeling import extend_tokenizer
from spacy_cnm.pipeline.span_getters import WordpieceSpans


def test_a_word_is_in_one_window(base_tokenizer):
    tokenizer = extend_tokenizer(base_tokenizer)
    words = list("今天hello好")  # as the character segmenter has it
    doc = Doc(Vocab(), words=words, spaces=[False] * len(words))
    (spans,) = WordpieceSpans(4, 4)([doc], tokenizer)
    assert [span.text for span in spans] == ["今天", "hello", "好"]


def test_no_window_lies_inside_of_another(base_tokenizer):
    tokenizer = extend_tokenizer(base_tokenizer)
    doc = Doc(Vocab(), words=["1", " 1.", "1", "1"], spaces=[False] * 4)
    (spans,) = WordpieceSpans(3, 1)([doc], tokenizer)
    assert [(span.start, span.end) for span in spans] == [(0, 2), (2, 4)]
