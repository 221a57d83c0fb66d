"""Cases 17 and 22: where the encoder comes from, and what is refused."""

import shutil

import pytest

from spacy_cnm.errors import CNMError

#: Initializes and loads a pipeline with every way to the network guarded.
OFFLINE = """
import os, socket, sys
os.environ.pop("HF_HUB_OFFLINE", None)
def refuse(*args, **kwargs):
    raise AssertionError("asked the network")
socket.getaddrinfo = socket.create_connection = socket.socket.connect = refuse
import spacy
nlp = spacy.load(sys.argv[1])
nlp("北京")
blank = spacy.blank("zh")
config = nlp.get_pipe_config("transformer")
for name in sys.argv[2:]:
    blank = spacy.blank("zh")
    blank.add_pipe("transformer", config={"model": {**config["model"], "name": name}})
    blank.initialize()
    blank("北京")
print("done")
"""
#: Wraps a BERT by its hub name, with no network.
CACHED = """
import os, socket
os.environ.pop("HF_HUB_OFFLINE", None)
os.environ["HF_HUB_CACHE"] = {cache!r}
def refuse(*args, **kwargs):
    raise OSError("Network is unreachable")
socket.getaddrinfo = refuse
from spacy_cnm.modeling import load_or_wrap
print(load_or_wrap("someone/small-bert")[0].config.hidden_size)
"""


def test_case_22_a_local_encoder_asks_nobody(trained_folder, cnm_folder, bert_folder, run_python):
    assert run_python(OFFLINE, trained_folder, cnm_folder, bert_folder).strip() == "done"


@pytest.mark.parametrize("name", ["./nowhere", "/no/such/folder"])
def test_a_missing_folder_is_named(build, name):
    with pytest.raises(CNMError, match=name):
        build(name).initialize()


def test_case_17_slow_tokenizers_are_refused(build, bert_folder):
    nlp = build(bert_folder, tokenizer_config={"use_fast": False})
    with pytest.raises(CNMError, match=r"use_fast.*true"):
        nlp.initialize()


def test_structure_config_reaches_the_model(build, bert_folder):
    nlp = build(bert_folder, structure_config={"structure_size": 8})
    nlp.initialize()
    model = nlp.get_pipe("transformer").model
    assert model.transformer.config.structure_size == 8
    assert model.layers[0].shims[0]._model is model.transformer


def test_case_22_a_cached_hub_name_needs_no_network(bert_folder, run_python, tmp_path):
    """The cache as huggingface_hub lays it out; asking the network fails."""
    model = tmp_path / "hub" / "models--someone--small-bert"
    shutil.copytree(bert_folder, model / "snapshots" / "abc")
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text("abc", encoding="utf-8")
    code = CACHED.format(cache=str(tmp_path / "hub"))
    assert run_python(code).strip() == "32"
