"""The encoder that ships and its matched baseline: size, numbers, and what they are to show."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from spacy_cnm.ids import FIRST_ROW
from spacy_cnm.modeling import CNMBertForPreTraining, CNMBertModel, load_or_wrap
from spacy_cnm.pretraining.heldout import component_hits

MODELS = Path(__file__).resolve().parents[2] / "models"
NAMES = ("cnm-bert-mini", "bert-mini-matched")


@pytest.fixture(scope="module", params=NAMES)
def folder(request) -> Path:
    return MODELS / request.param


def test_they_are_small_and_exact(folder):
    path = folder / "model.safetensors"
    assert path.stat().st_size <= 16_000_000
    stored = load_file(path)
    model, _ = load_or_wrap(folder, cls=CNMBertForPreTraining)
    loaded = model.state_dict()
    for name, tensor in stored.items():
        if tensor.is_floating_point():
            assert tensor.dtype == torch.float16
            assert loaded[name].dtype == torch.float32
        assert torch.equal(loaded[name], tensor.to(loaded[name].dtype))


def test_they_are_encoders_with_a_card(folder, recwarn):
    model, tokenizer = load_or_wrap(folder)
    assert isinstance(model, CNMBertModel)
    assert (model.config.num_hidden_layers, model.config.hidden_size) == (4, 256)
    assert tokenizer.tokenize("王䶮：“好”—…‘’") == [*"王䶮：“好”—…‘’"]
    vocabulary = tokenizer.get_vocab()
    assert all(vocabulary[mark] < model.config.vocab_size for mark in "“”‘’—…")
    card = (folder / "README.md").read_text("utf-8")
    for heading in ("Data", "Training", "Figures", "Limits", "Licence"):
        assert f"## {heading}" in card
    assert not list(recwarn)


def test_they_differ_in_the_structure_only():
    ours, matched = (load_or_wrap(MODELS / name)[0].config.to_dict() for name in NAMES)
    changed = {key for key in ours if ours[key] != matched[key]} - {"_name_or_path"}
    assert changed == {"structure_input", "component_loss_weight"}
    assert (ours["structure_input"], matched["structure_input"]) == ("tree", "none")


def test_components_of_rare_characters_are_found(table):
    model, _ = load_or_wrap(MODELS / "cnm-bert-mini", cls=CNMBertForPreTraining)
    # None of Extensions C to F is in its pretraining text but for a handful.
    rows = [table[char] for char in table.characters if 0x2A700 <= ord(char) < 0x2EBF0]
    sample = torch.tensor(sorted(row for row in rows if row >= FIRST_ROW)[::20])
    with torch.no_grad():
        _, right, recall = component_hits(model, sample)
    assert recall.mean() >= 0.95
    assert right.double().mean() >= 0.9


def test_two_unknown_names_are_two(table):
    for name, differ in zip(NAMES, (True, False), strict=True):
        model, tokenizer = load_or_wrap(MODELS / name)
        with torch.no_grad():
            first, second = (
                model(**tokenizer(text, return_tensors="pt")).last_hidden_state
                for text in ("重刋道藏", "重䢖道藏")
            )
        assert torch.equal(first, second) is not differ


def test_a_character_is_known_by_its_structure():
    """[UNK] with the structure of a character is that character, for CNM-BERT only."""
    command = [sys.executable, "benchmarks/known_by_structure.py", *(f"models/{n}" for n in NAMES)]
    done = subprocess.run(command, check=True, cwd=MODELS.parent, capture_output=True, text=True)
    ours, matched = (int(n) for n in re.findall(r": (\d+) of 51", done.stdout))
    assert ours >= 40
    assert matched <= 15
