"""Misspelt settings were ignored, and arguments of another kind failed far from their cause."""

import pytest
from transformers import BertConfig, BertForMaskedLM, BertModel

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import (
    CNMBertForMaskedLM,
    CNMBertModel,
    extend_tokenizer,
    load_or_wrap,
    wrap_bert,
)


def test_unknown_setting(bert_folder):
    with pytest.raises(CNMError, match=r"structur_size.*structure_size"):
        CNMBertModel.from_bert(bert_folder, structur_size=8)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("structure_size", 0),
        ("structure_size", 8.0),
        ("structure_size", True),
        ("structure_scale", float("nan")),
        ("structure_scale", -1),
        ("fusion_layer_norm", "no"),
    ],
)
def test_values(bert_folder, key, value):
    with pytest.raises(CNMError, match=f"{key} is {value!r}"):
        wrap_bert(CNMBertModel, bert_folder, **{key: value})


def test_kinds(bert_folder, cnm_folder, base_tokenizer):
    for call, wanted in (
        (lambda: extend_tokenizer("bert"), "tokenizer"),
        (lambda: extend_tokenizer(base_tokenizer, "table.cnm"), r"StructureTable\.load"),
        (lambda: CNMBertModel.from_bert(bert_folder, table="table.cnm"), "structure table"),
        (lambda: CNMBertModel.from_bert(None), "BertModel"),
        (lambda: CNMBertModel.from_bert(""), "folder"),
        (lambda: CNMBertModel.from_bert(BertModel(BertConfig(num_hidden_layers=0))), "tokenizer"),
        (
            lambda: CNMBertModel.from_bert(CNMBertModel.from_pretrained(cnm_folder)),
            "type 'cnm_bert'",
        ),
        (
            lambda: CNMBertForMaskedLM.from_bert(BertModel.from_pretrained(bert_folder)),
            "BertForMaskedLM",
        ),
    ):
        with pytest.raises(CNMError, match=wanted):
            call()


def test_a_model_with_a_head_is_taken_without_it(bert_folder):
    plain = BertForMaskedLM.from_pretrained(bert_folder)
    model = CNMBertModel.from_bert(plain)
    weight = model.embeddings.word_embeddings.weight
    assert weight.equal(plain.bert.embeddings.word_embeddings.weight)


@pytest.mark.parametrize("kind", ["bert_folder", "cnm_folder"])
@pytest.mark.parametrize("length", [3, 0, -1, "64"])
def test_a_length_without_room_for_words(request, kind, length):
    with pytest.raises(CNMError, match="model_max_length"):
        load_or_wrap(request.getfixturevalue(kind), tokenizer_config={"model_max_length": length})


def test_the_callers_tokenizer_is_left_alone(bert_folder, base_tokenizer):
    tokenizer = extend_tokenizer(base_tokenizer)
    length = tokenizer.model_max_length
    _, own = wrap_bert(CNMBertModel, bert_folder, tokenizer=tokenizer)
    assert tokenizer.model_max_length == length
    assert own.model_max_length == 64


def test_settings_of_fine_tuning_reach_a_wrapped_bert(bert_folder, cnm_folder):
    """They did so for a CNM-BERT only, and a plain BERT lost them without a word."""
    for folder in (bert_folder, cnm_folder):
        given = {"token_dropout": 0.25, "freeze_structure": True}
        model, _ = load_or_wrap(folder, model_config=given)
        assert model.config.token_dropout == 0.25
        assert not any(p.requires_grad for p in model.structure.parameters())
