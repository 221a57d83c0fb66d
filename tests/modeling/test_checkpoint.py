"""Damaged and unsuitable checkpoints are errors that name what is wrong."""

import json
import shutil
import socket

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, BertModel, RobertaConfig, RobertaModel

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertModel, load_or_wrap

WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(cnm_folder, tmp_path):
    return shutil.copytree(cnm_folder, tmp_path / "checkpoint")


def edit(folder, change):
    state = load_file(folder / WEIGHTS)
    change(state)
    save_file(state, folder / WEIGHTS, metadata={"format": "pt"})


@pytest.mark.parametrize(
    "key",
    ["structure.binary.weight", "structure.roots", "fusion.linear.bias", "token_index"],
)
def test_missing_key_is_named(folder, key):
    edit(folder, lambda state: state.pop(key))
    with pytest.raises(CNMError, match=key):
        CNMBertModel.from_pretrained(folder)


def test_extra_key_is_named(folder):
    edit(folder, lambda state: state.update({"structure.surplus": torch.zeros(2)}))
    with pytest.raises(CNMError, match=r"structure\.surplus"):
        CNMBertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    "key", ["structure.component_embeddings.weight", "structure.node_children"]
)
def test_misshapen_key_is_named(folder, key):
    edit(folder, lambda state: state.update({key: state[key][:-1].clone()}))
    with pytest.raises(CNMError, match=key.replace(".", r"\.")):
        CNMBertModel.from_pretrained(folder)


@pytest.mark.parametrize("key", ["token_index", "struct_index", "structure.roots"])
@pytest.mark.parametrize("value", [-1, 10**6])
def test_index_out_of_range_is_named(folder, key, value):
    edit(folder, lambda state: state[key].__setitem__(3, value))
    with pytest.raises(CNMError, match=key):
        CNMBertModel.from_pretrained(folder)


def test_cut_off_file(folder):
    content = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(content[: len(content) // 2])
    with pytest.raises(CNMError, match="checkpoint"):
        load_or_wrap(folder)


def test_plain_bert_is_not_loaded_as_a_checkpoint(bert_folder):
    with pytest.raises(CNMError, match=r"structure_size.*'bert'"):
        CNMBertModel.from_pretrained(bert_folder)


def test_pickled_weights_are_refused(bert_folder, tmp_path):
    folder = shutil.copytree(bert_folder, tmp_path / "pickled")
    model = BertModel.from_pretrained(folder)
    (folder / WEIGHTS).unlink()
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    with pytest.raises(CNMError, match="safetensors"):
        load_or_wrap(folder)


def test_other_model_types_are_refused(base_tokenizer, tmp_path):
    config = RobertaConfig(
        vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=1
    )
    RobertaModel(config).save_pretrained(tmp_path)
    base_tokenizer.save_pretrained(tmp_path)
    with pytest.raises(CNMError, match="roberta"):
        load_or_wrap(tmp_path)


def test_slow_tokenizer_is_refused(bert_folder):
    with pytest.raises(CNMError, match="use_fast"):
        load_or_wrap(bert_folder, tokenizer_config={"use_fast": False})


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder", "a/b/c", "", "no such model"])
def test_a_missing_folder_is_not_looked_for_on_the_hub(name, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: pytest.fail("asked the network"))
    with pytest.raises(CNMError, match="folder"):
        load_or_wrap(name)


def test_a_local_folder_asks_nobody(bert_folder, cnm_folder, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", lambda *a, **k: pytest.fail("asked the network"))
    monkeypatch.setattr(socket.socket, "connect", lambda *a, **k: pytest.fail("asked the network"))
    load_or_wrap(bert_folder)
    load_or_wrap(cnm_folder)


def test_vocab_and_weights_only_folder_is_capped(bert_folder, tmp_path):
    folder = tmp_path / "bare"
    folder.mkdir()
    for name in ("config.json", WEIGHTS):
        shutil.copy(bert_folder / name, folder)
    tokens = AutoTokenizer.from_pretrained(bert_folder).get_vocab()
    ordered = sorted(tokens, key=tokens.__getitem__)
    (folder / "vocab.txt").write_text("\n".join(ordered), encoding="utf-8")
    model, tokenizer = load_or_wrap(folder)
    assert tokenizer.model_max_length == model.config.max_position_embeddings == 64


def test_structure_config(bert_folder, cnm_folder):
    model, _ = load_or_wrap(bert_folder, structure_config={"structure_size": 8})
    assert model.config.structure_size == 8
    with pytest.raises(CNMError, match="structure_sise"):
        load_or_wrap(bert_folder, structure_config={"structure_sise": 8})
    with pytest.raises(CNMError, match="structure_size = 8"):
        load_or_wrap(cnm_folder, structure_config={"structure_size": 8})


def test_config_of_another_table_is_refused(folder):
    config = json.loads((folder / "config.json").read_text("utf-8"))
    config["structure_rows"] -= 1
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(CNMError, match="structure"):
        CNMBertModel.from_pretrained(folder)
