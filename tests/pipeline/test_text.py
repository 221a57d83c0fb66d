"""Rare characters, white space, emoji and other scripts, all through a pipeline."""

import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

LOC, PER = "LOC", "PER"
#: (text, entities): labels have to stay in place.
TRICKY = [
    ("@美丽中国 奥运会", [(3, 5, LOC)]),
    ("我在\t北京\n见到了　王小明\r\n", [(3, 5, LOC), (10, 13, PER)]),
    ("  上海  ", [(2, 4, LOC)]),
    ("王小明👍🏽👨‍👩‍👧‍👦香港❤️🇨🇳", [(0, 3, PER), (12, 14, LOC)]),
    ("他说😀䢖刋𰀀在北京", [(3, 6, PER), (7, 9, LOC)]),
    ("é王小明，ｈｅｌｌｏ北京", [(1, 4, PER), (10, 12, LOC)]),
    ("[MASK]北京[PAD]上海[SEP]", [(6, 8, LOC), (13, 15, LOC)]),
    ("\u200b王小明\ufeff是\x00人", [(1, 4, PER)]),
]


def test_case_1_unknown_characters_differ(trained, vectors_of):
    left, right = (trained(text) for text in ("重刋道藏", "重䢖道藏"))
    assert (vectors_of(left)[1] - vectors_of(right)[1]).abs().max() > 1e-3


def test_case_1_a_plain_bert_learns_to_tell_them_apart(build, train, bert_folder, vectors_of):
    nlp = build(bert_folder, "tagger")
    train(nlp, 0)
    texts = ("重刋道藏", "重䢖道藏")
    left, right = (vectors_of(nlp(text)) for text in texts)
    assert left.equal(right)  # both are [UNK] to begin with
    train(nlp, 5, initialize=False)
    left, right = (vectors_of(nlp(text)) for text in texts)
    assert (left[1] - right[1]).abs().max() > 1e-4


def test_cases_15_and_21_labels_stay_in_place(build, train, cnm_folder, tmp_path):
    no_dropout = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    nlp = build(cnm_folder, "ner", transformer_config=no_dropout)
    examples = [
        Example.from_dict(nlp.make_doc(text), {"entities": entities}) for text, entities in TRICKY
    ]
    train(nlp, 250, examples=examples)
    nlp.to_disk(tmp_path)
    for pipeline in (nlp, spacy.load(tmp_path)):
        for doc, (text, entities) in zip(
            pipeline.pipe([t for t, _ in TRICKY]), TRICKY, strict=True
        ):
            assert doc.text == text
            found = [(ent.start_char, ent.end_char, ent.label_) for ent in doc.ents]
            assert found == entities


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("@美丽中国 奥运会", "@美丽中国奥运会"),
        ("我在\t北京\n见到了\u3000王小明\r\n", "我在北京见到了王小明"),
        (" \n 上海 \t", "上海"),
    ],
)
def test_case_15_white_space_changes_no_vector(trained, vectors_of, pieces_of, text, clean):
    doc = trained(text)
    kept = [token.i for token in doc if not token.is_space]
    assert [doc[i].text for i in kept] == list(clean)
    assert (vectors_of(doc)[kept] - vectors_of(trained(clean))).abs().max() < 1e-5
    assert all(
        not pieces for token, pieces in zip(doc, pieces_of(doc), strict=True) if token.is_space
    )


def test_case_21_emoji_leave_names_alone(trained, pieces_of):
    text = "王小明👍🏽👨‍👩‍👧‍👦香港❤️🇨🇳䢖"
    doc = trained(text)
    assert doc.text == text
    for token, pieces in zip(doc, pieces_of(doc), strict=True):
        if token.text in "王小明香港䢖":
            assert pieces == [token.text]


def test_literal_special_tokens_are_text(trained_folder):
    nlp = spacy.load(trained_folder)
    batch = nlp("[MASK]北[PAD]京[UNK]")._.trf_data.wordpieces
    tokenizer = nlp.get_pipe("transformer").model.tokenizer
    assert tokenizer.mask_token_id not in batch.input_ids
    assert tokenizer.pad_token_id not in batch.input_ids
    assert batch.lengths == [batch.input_ids.shape[1]]


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("ja", ["東京", "タワー", "は", "辻", "さん", "の", "䢖", "です", "。"]),
        ("ko", ["大韓民國", "은", "民主共和國", "이다", "漢字", "한글"]),
        ("en", ["The", "character", "䢖", "is", "rare", "."]),
    ],
)
def test_other_languages(lang, words, cnm_folder, transformer_config, pieces_of, tmp_path):
    """With the rule-based tokenizer, since sudachipy and mecab are no dependencies."""
    tokenizer = {"nlp": {"tokenizer": {"@tokenizers": "spacy.Tokenizer.v1"}}}
    nlp = spacy.blank(lang, config=tokenizer)
    nlp.add_pipe("transformer", config=transformer_config(cnm_folder))
    nlp.initialize()
    nlp.to_disk(tmp_path)
    doc = spacy.load(tmp_path)(Doc(nlp.vocab, words=words))
    pieces = pieces_of(doc)
    assert all(pieces)
    for token, found in zip(doc, pieces, strict=True):
        if all("\u3400" <= char <= "\u9fff" for char in token.text):
            assert found == list(token.text)
    assert nlp("䢖")._.trf_data.wordpieces.strings == [["[CLS]", "䢖", "[SEP]"]]


@pytest.mark.parametrize(("lang", "package"), [("ja", "sudachipy"), ("ko", "natto")])
def test_own_tokenizers_of_other_languages(lang, package, cnm_folder, transformer_config):
    pytest.importorskip(package, reason=f"spaCy's tokenizer for {lang!r} needs {package}")
    nlp = spacy.blank(lang)
    nlp.add_pipe("transformer", config=transformer_config(cnm_folder))
    nlp.initialize()
    assert nlp("東京")._.trf_data.align.lengths.all()
