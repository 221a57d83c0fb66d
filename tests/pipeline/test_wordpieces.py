"""Every token is aligned to its own pieces, and no piece is lost."""

import shutil
from itertools import chain

import numpy
import pytest
import spacy
from spacy.tokens import Doc
from spacy_transformers.align import get_alignment_via_offset_mapping
from spacy_transformers.layers.transformer_model import huggingface_tokenize
from transformers import AutoTokenizer

from spacy_cnm.modeling import extend_tokenizer
from spacy_cnm.pipeline.wordpieces import tokenize_spans

GETTERS = {
    "wordpieces": {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 62, "stride": 62},
    "small": {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 10, "stride": 7},
    "strided": {
        "@span_getters": "spacy-transformers.strided_spans.v1",
        "window": 128,
        "stride": 96,
    },
    "doc": {"@span_getters": "spacy-transformers.doc_spans.v1"},
}
#: 400 different ideographs, most of them outside of the vocabulary of the small encoder.
LONG = "".join(chr(0x4E00 + 7 * i) for i in range(400))


@pytest.fixture(scope="module")
def tokenizer(base_tokenizer):
    extended = extend_tokenizer(base_tokenizer)
    extended.model_max_length = 64
    return extended


@pytest.fixture(scope="module", params=GETTERS)
def nlp(request, build, cnm_folder):
    pipeline = build(cnm_folder, get_spans=GETTERS[request.param])
    pipeline.initialize()
    return pipeline


def make_doc(nlp, words):
    return nlp(Doc(nlp.vocab, words=words, spaces=[False] * len(words)))


def assert_nothing_lost(doc, tokenizer):
    """Every piece of the text is there, in order, and aligned to a token."""
    data = doc._.trf_data
    special = {"[CLS]", "[SEP]", "[PAD]"}
    strings = list(chain.from_iterable(data.wordpieces.strings))
    aligned = set(data.align.dataXd.ravel().tolist())
    assert aligned == {i for i, string in enumerate(strings) if string not in special}
    assert max(data.wordpieces.lengths) <= 64
    assert data.wordpieces.input_ids.shape == data.model_output.last_hidden_state.shape[:2]
    pieces = [string for string in strings if string not in special]
    expected = tokenizer.tokenize(doc.text)
    assert len(pieces) >= len(expected)
    assert set(expected) <= set(pieces)


@pytest.mark.parametrize(
    "text",
    ["今天天气很好", "我在北京 abc 100%", "好𰀀𰀁的,é ＡＢ\t。", "", "  ", "hello"],
)
def test_as_the_stock_code_where_a_text_fits(tokenizer, text):
    nlp = spacy.blank("zh")
    docs = [nlp(text + "一"), nlp("王小明"), nlp(text + "二三不是")]
    spans = [[doc[:]] for doc in docs]
    flat = [doc[:] for doc in docs]
    rows, batch, align = tokenize_spans(spans, tokenizer)
    encoded = huggingface_tokenize(tokenizer, [span.text for span in flat])
    expected = get_alignment_via_offset_mapping(flat, encoded["offset_mapping"])
    assert [[span.text for span in row] for row in rows] == [[d.text] for d in docs]
    assert batch.strings == [list(row) for row in encoded["input_texts"]]
    assert numpy.array_equal(batch.input_ids, encoded["input_ids"])
    assert numpy.array_equal(batch.attention_mask, encoded["attention_mask"])
    assert numpy.array_equal(batch.token_type_ids, encoded["token_type_ids"])
    assert batch.lengths == encoded["attention_mask"].sum(axis=1).tolist()
    assert numpy.array_equal(align.dataXd, expected.dataXd)
    assert numpy.array_equal(align.lengths, expected.lengths)


def test_case_2_offsets_do_not_shift(nlp, pieces_of):
    """Accents, full-width letters, variation selectors between ideographs."""
    text = "今é天ＡＢ天\U000e0100气ﬁ葛\ufe00é好"
    doc = nlp(text)
    assert doc.text == text
    for token, pieces in zip(doc, pieces_of(doc), strict=True):
        if "\u4e00" <= token.text <= "\u9fff":
            assert set(pieces) == {token.text}
    assert pieces_of(doc)[1] == ["e"] or set(pieces_of(doc)[1]) == {"e"}


@pytest.mark.parametrize("text", ["以σπδ来", "好𰀀𰀁的", "䢖hello䶮", "重\U0002b820\U000323af道"])
def test_case_3_unknowns_leave_their_neighbours_alone(nlp, pieces_of, text):
    doc = nlp(text)
    pieces = pieces_of(doc)
    for token, found in zip(doc, pieces, strict=True):
        if not token.is_ascii and token.text not in "σπδ":
            assert set(found) == {token.text}
    assert all(pieces)


@pytest.mark.parametrize(
    ("text", "unified"), [("⽣日", "生日"), ("⾦⾊", "金色"), ("\ufa10", "塚")]
)
def test_case_4_compatibility_forms_are_read_as_unified(nlp, vectors_of, text, unified):
    doc = nlp(text)
    assert doc.text == text
    assert (vectors_of(doc) - vectors_of(nlp(unified))).abs().max() < 1e-6


def test_case_5_every_token_of_many_windows_has_its_own_pieces(nlp, pieces_of, tokenizer):
    doc = nlp(LONG)
    assert [set(pieces) for pieces in pieces_of(doc)] == [{char} for char in LONG]
    assert_nothing_lost(doc, tokenizer)


@pytest.mark.parametrize(
    "word",
    [
        "https://example.com/" + "中a1/" * 145,
        "王小明" * 200,
        "䢖" * 600,
        "a" * 600,
        "abc-" * 150,
        "北京 上海　" * 100,
    ],
)
def test_case_6_over_long_tokens_keep_all_their_pieces(nlp, pieces_of, tokenizer, word):
    doc = make_doc(nlp, ["我", "在", word, "说", word, "的"])
    pieces = pieces_of(doc)
    assert len(doc) == 6
    assert set(pieces[0]) == {"我"}
    assert set(pieces[3]) == {"说"}
    assert set(pieces[5]) == {"的"}
    for i in (2, 4):
        assert len(pieces[i]) >= len(tokenizer.tokenize(word))
    assert_nothing_lost(doc, tokenizer)


def test_case_6_rows_do_not_overlap_where_windows_do_not(build, cnm_folder, pieces_of, tokenizer):
    nlp = build(cnm_folder, get_spans=GETTERS["doc"])
    nlp.initialize()
    word = "王小明a-" * 120
    doc = make_doc(nlp, ["我", " ", word, "\t", LONG, "的"])
    assert pieces_of(doc) == [tokenizer.tokenize(text.text) for text in doc]


def test_case_6_over_long_tokens_train(build, train, cnm_folder):
    nlp = build(cnm_folder, "tagger")
    doc = Doc(nlp.vocab, words=["我", "王小明" * 200, "的"])
    reference = Doc(nlp.vocab, words=[t.text for t in doc], tags=["a", "b", "c"])
    train(nlp, 40, examples=[spacy.training.Example(doc, reference)])
    assert [token.tag_ for token in nlp(doc.copy())] == ["a", "b", "c"]


def test_case_7_length_is_capped_by_the_position_table(bert_folder, build, tmp_path, tokenizer):
    for name in ("config.json", "model.safetensors"):
        shutil.copy(bert_folder / name, tmp_path)
    vocab = AutoTokenizer.from_pretrained(bert_folder).get_vocab()
    lines = sorted(vocab, key=vocab.__getitem__)
    (tmp_path / "vocab.txt").write_text("\n".join(lines), encoding="utf-8")
    nlp = build(tmp_path, get_spans=GETTERS["doc"])
    nlp.initialize()
    assert_nothing_lost(nlp("我在北京见到了王小明" * 60), tokenizer)
    loaded = spacy.blank("zh").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert loaded.get_pipe("transformer").model.tokenizer.model_max_length == 64
