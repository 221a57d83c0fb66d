"""What cannot be loaded ended in other libraries' errors, or in pages of text."""

import shutil

import pytest
import srsly
from transformers import AutoTokenizer

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertModel, load_or_wrap
from spacy_cnm.pipeline.shim import CNMShim
from spacy_cnm.pipeline.stt import HFObjects


@pytest.mark.parametrize("kind", ["bert_folder", "cnm_folder"])
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda path: path.unlink(), "the folder has no tokenizer.json"),
        (lambda path: path.write_text("{" * 1000), "tokenizer.json is damaged"),
        (lambda path: path.write_text("{}"), "tokenizer"),
    ],
)
def test_tokenizers(request, tmp_path, kind, change, reason):
    folder = shutil.copytree(request.getfixturevalue(kind), tmp_path / "model")
    (folder / "vocab.txt").unlink(missing_ok=True)
    change(folder / "tokenizer.json")
    with pytest.raises(CNMError, match=reason) as caught:
        load_or_wrap(folder)
    assert len(str(caught.value)) < 1000


def test_empty_folder(tmp_path):
    with pytest.raises(CNMError, match=r"no config\.json, no model\.safetensors") as caught:
        load_or_wrap(tmp_path)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("text", ["", "[]", '{"model_type": "bert", "vocab_size": "many"}'])
def test_configurations(bert_folder, tmp_path, text):
    folder = shutil.copytree(bert_folder, tmp_path / "model")
    (folder / "config.json").write_text(text, encoding="utf-8")
    with pytest.raises(CNMError, match="Cannot load a model") as caught:
        load_or_wrap(folder)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "change",
    [
        {"format": "2"},
        {"config": [1]},
        {"config": {"model_type": "cnm_bert"}},
        {"state": None},
        {"state": "text"},
        {"tokenizer": {}},
        {"tokenizer": {"tokenizer.json": b"{"}},
        {"tokenizer": None},
        {"_init_tokenizer_config": 3},
    ],
)
def test_messages_of_a_pipeline(cnm_folder, change):
    model = CNMBertModel.from_pretrained(cnm_folder)
    hf = HFObjects(AutoTokenizer.from_pretrained(cnm_folder), model, None)
    shim = CNMShim(hf, mixed_precision=False, grad_scaler_config={})
    message = srsly.msgpack_loads(shim.to_bytes())
    with pytest.raises(CNMError) as caught:
        shim.from_bytes(srsly.msgpack_dumps({**message, **change}))
    assert len(str(caught.value)) < 700
    with pytest.raises(CNMError, match="damaged"):
        shim.from_bytes(srsly.msgpack_dumps([message]))
