"""A configuration that was edited by hand gave other vectors without a word."""

import shutil

import pytest
import srsly
import torch
from safetensors.torch import load_file, save_file

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import CNMBertConfig, CNMBertModel, load_or_wrap


@pytest.fixture
def folder(cnm_folder, tmp_path):
    return shutil.copytree(cnm_folder, tmp_path / "checkpoint")


def edit(folder, change):
    config = srsly.read_json(folder / "config.json")
    change(config)
    srsly.write_json(folder / "config.json", config)


@pytest.mark.parametrize(
    "key",
    [
        "extended_vocab_size",
        "structure_size",
        "structure_rows",
        "structure_components",
        "structure_groups",
        "structure_scale",
        "fusion_layer_norm",
    ],
)
def test_no_key_of_the_structure_side_may_be_missing(folder, key):
    edit(folder, lambda config: config.pop(key))
    with pytest.raises(CNMError, match=f"lacks {key}"):
        load_or_wrap(folder)
    with pytest.raises(CNMError, match=f"lacks {key}"):
        CNMBertModel.from_pretrained(folder)
    assert CNMBertConfig().extended_vocab_size == CNMBertConfig().vocab_size


@pytest.mark.parametrize(
    "change",
    [
        lambda groups: [[0, 0, sum(count for *_, count in groups)]],
        lambda groups: [groups[0], [1, 3, groups[1][2]], *groups[2:]],
        lambda groups: [groups[0], [1, 2, groups[1][2] + groups[3][2]], groups[2], *groups[4:]],
        lambda groups: [[0, 0, groups[0][2] - 5], [1, 2, groups[1][2] + 5], *groups[2:]],
        lambda groups: "abc",
    ],
)
def test_groups_agree_with_the_operators(folder, change):
    edit(folder, lambda c: c.update(structure_groups=change(c["structure_groups"])))
    with pytest.raises(CNMError):
        CNMBertModel.from_pretrained(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("structure_size", "16"),
        ("structure_size", 0),
        ("structure_scale", "x"),
        ("structure_scale", 0),
        ("fusion_layer_norm", 1),
    ],
)
def test_values_are_of_their_kind(folder, key, value):
    edit(folder, lambda config: config.update({key: value}))
    with pytest.raises(CNMError, match=f"{key} is {value!r}"):
        load_or_wrap(folder)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_structure_weights_are_finite(folder, value):
    path = folder / "model.safetensors"
    state = load_file(path)
    state["fusion.linear.weight"][0, 0] = torch.tensor(value)
    save_file(state, path, metadata={"format": "pt"})
    with pytest.raises(CNMError, match=r"fusion\.linear\.weight.*not finite"):
        CNMBertModel.from_pretrained(folder)
