"""Tokens that were added to the base tokenizer got other ids, or made wrapping impossible."""

import copy

import pytest
import torch
from transformers import AutoTokenizer, BertModel

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertModel, wrap_bert

TEXT = "王䶮在foo的北京堃, 我𰀀"


@pytest.fixture
def base(base_tokenizer):
    tokenizer = copy.deepcopy(base_tokenizer)
    tokenizer.add_tokens(["䶮", "foo", "北京堃"])
    tokenizer.add_special_tokens({"additional_special_tokens": ["<e>"]})
    return tokenizer


def test_they_keep_their_ids_and_vectors(base, bert_folder, table, tmp_path):
    plain = BertModel.from_pretrained(bert_folder)
    plain.resize_token_embeddings(len(base), mean_resizing=False)
    model, tokenizer = wrap_bert(CNMBertModel, plain, tokenizer=base, structure_size=8)
    vocab = tokenizer.get_vocab()
    assert {token: vocab[token] for token in base.get_vocab()} == base.get_vocab()
    assert tokenizer.additional_special_tokens == ["<e>"]
    tokenizer.save_pretrained(tmp_path)
    for extended in tokenizer, AutoTokenizer.from_pretrained(tmp_path):
        theirs, ours = base(TEXT, return_tensors="pt"), extended(TEXT, return_tensors="pt")
        assert ours["input_ids"][0, :-2].equal(theirs["input_ids"][0, :-2])
        with torch.no_grad():
            difference = plain.eval()(**theirs)[0] - model(**ours)[0]
        assert difference.abs().max() < 1e-5
    assert int(model.struct_index[vocab["䶮"]]) == table["䶮"]


def test_without_embeddings_they_are_refused(base, bert_folder):
    with pytest.raises(CNMError, match=r"'<e>' has id 146.*resize"):
        wrap_bert(CNMBertModel, bert_folder, tokenizer=base)
