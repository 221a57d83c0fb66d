"""A tokenizer with other ids than the model's gave wrong structures without a word."""

import shutil

import numpy as np
import pytest
import srsly
from transformers import AutoTokenizer, BertConfig, BertModel

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertModel, extend_tokenizer, load_or_wrap, wrap_bert
from spacy_cnm.modeling.scratch import bert_tokenizer
from spacy_cnm.pipeline.shim import CNMShim
from spacy_cnm.pipeline.stt import HFObjects

RARE = "䶮堃𬭸𰀀鑫"


@pytest.fixture(scope="module")
def padded(base_tokenizer, tmp_path_factory):
    """A BERT with nine rows more than its tokenizer has tokens."""
    folder = tmp_path_factory.mktemp("padded")
    config = BertConfig(
        vocab_size=len(base_tokenizer) + 9,
        hidden_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=64,
    )
    BertModel(config).save_pretrained(folder)
    base_tokenizer.save_pretrained(folder)
    return folder


def extended_with(base_tokenizer, i, j):
    """The extended tokenizer, with two tokens the other way round."""
    vocab = base_tokenizer.get_vocab()
    tokens = sorted(vocab, key=vocab.__getitem__)
    tokens[i], tokens[j] = tokens[j], tokens[i]
    return extend_tokenizer(bert_tokenizer(tokens))


def check_structure(model, tokenizer, table):
    ids = tokenizer.convert_tokens_to_ids(list(RARE))
    assert model.struct_index[ids].tolist() == [table[char] for char in RARE]
    assert len(model.struct_index) == len(model.token_index) == 1 + max(ids_of(tokenizer))


def ids_of(tokenizer):
    return tokenizer.get_vocab().values()


def test_unused_rows(padded, base_tokenizer, table, tmp_path):
    model, tokenizer = wrap_bert(CNMBertModel, padded, structure_size=8)
    check_structure(model, tokenizer, table)
    check_structure(*load_or_wrap(padded, structure_config={"structure_size": 8}), table)
    with pytest.raises(CNMError, match="wrap_bert"):
        CNMBertModel.from_bert(padded)
    with pytest.raises(CNMError, match=f"first_id={len(base_tokenizer) + 9}"):
        CNMBertModel.from_bert(padded, tokenizer=base_tokenizer)
    # A checkpoint with the tokenizer that is not extended.
    model.save_pretrained(tmp_path)
    base_tokenizer.save_pretrained(tmp_path)
    check_structure(*load_or_wrap(tmp_path), table)


def test_extended_for_another_number_of_rows(padded, base_tokenizer, table):
    with pytest.raises(CNMError, match="not extended"):
        CNMBertModel.from_bert(padded, tokenizer=extend_tokenizer(base_tokenizer))
    fitting = extend_tokenizer(base_tokenizer, first_id=len(base_tokenizer) + 9)
    model = CNMBertModel.from_bert(padded, tokenizer=fitting, structure_size=8)
    check_structure(model, fitting, table)


def test_checkpoint_with_the_tokenizer_of_another(cnm_folder, base_tokenizer, tmp_path):
    folder = shutil.copytree(cnm_folder, tmp_path / "checkpoint")
    extended_with(base_tokenizer, 10, 11).save_pretrained(folder)
    with pytest.raises(CNMError, match="vocabularies differ"):
        load_or_wrap(folder)
    tokens = [*extended_with(base_tokenizer, 0, 0).all_special_tokens, "今"]
    extend_tokenizer(bert_tokenizer(tokens)).save_pretrained(folder)
    with pytest.raises(CNMError, match="tokenizer was extended"):
        load_or_wrap(folder)


def test_checkpoint_without_a_fingerprint(cnm_folder, base_tokenizer, tmp_path):
    folder = shutil.copytree(cnm_folder, tmp_path / "checkpoint")
    config = srsly.read_json(folder / "config.json")
    assert len(config.pop("vocabulary_fingerprint")) == 64
    srsly.write_json(folder / "config.json", config)
    load_or_wrap(folder)
    extended_with(base_tokenizer, 10, 100).save_pretrained(folder)
    with pytest.raises(CNMError, match="ideographs have other ids"):
        load_or_wrap(folder)


def test_pipeline_with_the_tokenizer_of_another(cnm_folder, base_tokenizer):
    model = CNMBertModel.from_pretrained(cnm_folder)

    def stored(tokenizer):
        hf = HFObjects(tokenizer, model, None)
        return CNMShim(hf, mixed_precision=False, grad_scaler_config={}).to_bytes()

    shim = CNMShim(HFObjects(None, None, None), mixed_precision=False, grad_scaler_config={})
    shim.from_bytes(stored(AutoTokenizer.from_pretrained(cnm_folder)))
    assert np.array_equal(shim._model.struct_index, model.struct_index)
    with pytest.raises(CNMError, match="tokenizer beside 'the saved pipeline'"):
        shim.from_bytes(stored(extended_with(base_tokenizer, 10, 11)))
