"""Variants of an encoder that differ in the structure side."""

import json
import os
from pathlib import Path

import pytest
import torch

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import StructureTable, build_table
from spacy_cnm.modeling import CNMBertForPreTraining, CNMBertModel
from spacy_cnm.probing.encoders import Variant, load_encoder, save_variant, with_structure

TEXT = "U+6772\t杲\t^⿱日木$\nU+6773\t杳\t^⿱木日$\n"


def variant_of(cnm_folder: Path, folder: Path, **settings) -> Variant:
    return Variant(base=os.path.relpath(cnm_folder, folder), **settings)


def vectors(model: CNMBertModel, tokenizer, text: str = "杲杳木") -> torch.Tensor:
    with torch.no_grad():
        return model.fuse(tokenizer(text, return_tensors="pt")["input_ids"])[0]


@pytest.fixture
def small_table(tmp_path: Path) -> Path:
    source, path = tmp_path / "IDS.TXT", tmp_path / "small.cnmids"
    source.write_text(TEXT, "utf-8")
    build_table(source).save(path)
    return path


@pytest.mark.parametrize("own_table", [False, True])
@pytest.mark.parametrize("kind", ["tree", "flat"])
def test_a_variant_is_loaded_as_it_was_saved(cnm_folder, tmp_path, small_table, kind, own_table):
    folder = tmp_path / "variant"
    table = small_table if own_table else None
    variant = variant_of(cnm_folder, folder, structure_input=kind)
    model, tokenizer = with_structure(
        CNMBertForPreTraining,
        cnm_folder,
        variant,
        table=StructureTable.load(table) if table else None,
        seed=3,
    )
    save_variant(folder, model, variant, table)
    loaded, same = load_encoder(folder)
    assert same.get_vocab() == tokenizer.get_vocab()
    assert torch.allclose(vectors(loaded, same), vectors(model.bert, tokenizer), atol=1e-2)
    # All but the structure side is the base's.
    base, _ = load_encoder(cnm_folder)
    for name, value in base.encoder.state_dict().items():
        assert torch.equal(loaded.encoder.state_dict()[name], value)
    # A bag of components has no order.
    _, first, second, *_ = vectors(loaded, same)
    # The small table has a row less for each that it lacks.
    assert len(loaded.structure.roots) == (2 if own_table else len(base.structure.roots))
    structure = loaded.structure(loaded.structure_rows(same("杲杳", return_tensors="pt").input_ids))
    assert torch.equal(structure[0, 1], structure[0, 2]) == (kind == "flat")
    assert torch.equal(first, second) == (kind == "flat")


def test_nothing_of_an_untrained_one_is_the_base(cnm_folder, tmp_path):
    folder = tmp_path / "untrained"
    folder.mkdir()
    content = {"base": os.path.relpath(cnm_folder, folder), "untrained": True}
    (folder / "variant.json").write_text(json.dumps(content))
    (first, _), (again, _), (other, _) = (load_encoder(folder, seed=seed) for seed in (1, 1, 2))
    base, _ = load_encoder(cnm_folder)
    name = "encoder.layer.0.output.dense.weight"
    values = [model.state_dict()[name] for model in (first, again, other, base)]
    assert torch.equal(values[0], values[1])
    assert not torch.equal(values[0], values[2])
    assert not torch.equal(values[0], values[3])


def test_operators_of_another_size(cnm_folder, tmp_path):
    folder = tmp_path / "operators"
    small, large = (
        with_structure(CNMBertModel, cnm_folder, variant_of(cnm_folder, folder, operator_std=std))
        for std in (None, 1.0)
    )
    name = "structure.operator_embeddings.weight"
    before, after = (model.state_dict() for model, _ in (small, large))
    assert {key for key in before if not torch.equal(before[key], after[key])} == {name}
    assert before[name].std() < 0.2
    assert after[name].std() == pytest.approx(1.0, rel=0.2)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_plain_bert_is_wrapped_the_same_each_time(bert_folder, seed):
    (first, _), (again, _) = (load_encoder(bert_folder, seed) for _ in range(2))
    for name, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])


BAD = ['{"base": "x", "untrained": 1}', '{"base": "x", "operator_std": "1"}']


@pytest.mark.parametrize("content", ["", "[]", '{"base": "x", "colour": 1}', "{}", *BAD])
def test_a_variant_that_is_none(tmp_path, content):
    (tmp_path / "variant.json").write_text(content)
    with pytest.raises(CNMError, match=r"variant\.json"):
        load_encoder(tmp_path)


@pytest.mark.parametrize("weights", [None, b"x"])
def test_weights_that_are_none(cnm_folder, tmp_path, weights):
    (tmp_path / "variant.json").write_text(json.dumps({"base": str(cnm_folder)}))
    if weights:
        (tmp_path / "structure.safetensors").write_bytes(weights)
    with pytest.raises(CNMError, match=r"structure\.safetensors"):
        load_encoder(tmp_path)


def test_weights_of_another_size(cnm_folder, tmp_path, small_table):
    folder = tmp_path / "variant"
    variant = variant_of(cnm_folder, folder)
    model, _ = with_structure(CNMBertForPreTraining, cnm_folder, variant)
    save_variant(folder, model, variant, small_table)
    with pytest.raises(CNMError, match="component_embeddings"):
        load_encoder(folder)
