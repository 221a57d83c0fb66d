"""Weights of the backbone that were missing were drawn at random."""

import shutil

import pytest
from safetensors.torch import load_file, save_file

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertForMaskedLM, CNMBertModel, load_or_wrap


def without(source, folder, part):
    """A copy of a checkpoint without the keys that have `part` in their name."""
    shutil.copytree(source, folder)
    path = folder / "model.safetensors"
    state = {key: value for key, value in load_file(path).items() if part not in key}
    assert len(state) < len(load_file(path))
    save_file(state, path, metadata={"format": "pt"})
    return folder


@pytest.mark.parametrize("part", ["layer.1.attention.self.query.weight", "word_embeddings"])
def test_both_kinds_of_checkpoint(bert_folder, cnm_folder, tmp_path, part):
    for source in bert_folder, cnm_folder:
        with pytest.raises(CNMError, match=rf"missing.*{part}"):
            load_or_wrap(without(source, tmp_path / source.name, part))


def test_weights_of_another_kind_of_model(bert_folder, tmp_path):
    with pytest.raises(CNMError, match="missing"):
        load_or_wrap(without(bert_folder, tmp_path / "bert", "bert."))


def test_misshapen_weights_of_a_bert(bert_folder, tmp_path):
    folder = shutil.copytree(bert_folder, tmp_path / "bert")
    config = (folder / "config.json").read_text("utf-8")
    (folder / "config.json").write_text(config.replace("143", "200"), encoding="utf-8")
    with pytest.raises(CNMError, match="word_embeddings"):
        load_or_wrap(folder)


def test_what_may_be_missing(bert_folder, cnm_folder, tmp_path):
    load_or_wrap(without(cnm_folder, tmp_path / "cnm", "pooler"))
    CNMBertForMaskedLM.from_pretrained(cnm_folder)
    with pytest.raises(CNMError, match=r"cls\.predictions\.transform"):
        CNMBertForMaskedLM.from_bert(without(bert_folder, tmp_path / "bert", "cls.predictions.tr"))
    CNMBertModel.from_bert(bert_folder)
