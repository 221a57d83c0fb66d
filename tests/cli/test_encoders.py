"""`spacy-cnm wrap` and `spacy-cnm new` as a user runs them."""

import gzip
import subprocess
import sys

import pytest
import torch
from transformers import AutoTokenizer

from spacy_cnm.modeling import CNMBertForMaskedLM, CNMBertModel


def cli(*arguments, code=0):
    """Run the command line; give what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "spacy_cnm", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def test_wrap_saves_a_checkpoint_that_loads(bert_folder, tmp_path):
    out = tmp_path / "wrapped"
    report = cli("wrap", bert_folder, out, "--structure-size", 8)
    assert "component embeddings" in report
    model = CNMBertModel.from_pretrained(out)
    assert model.config.structure_size == 8
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert tokenizer.tokenize("今䶮") == ["今", "䶮"]

    assert "--force" in cli("wrap", bert_folder, out, code=1)
    cli("wrap", bert_folder, out, "--structure-size", 8, "--force")
    again = CNMBertModel.from_pretrained(out)
    state, repeated = model.state_dict(), again.state_dict()
    structure = [key for key in state if key.startswith(("structure", "fusion"))]
    assert all(torch.equal(state[key], repeated[key]) for key in structure)


def test_wrap_keeps_the_masked_lm_head(bert_folder, tmp_path):
    cli("wrap", bert_folder, tmp_path / "lm", "--keep", "masked-lm", "--structure-size", 8)
    CNMBertForMaskedLM.from_pretrained(tmp_path / "lm")


def test_wrap_takes_the_first_base_that_is_there(bert_folder, cnm_folder, tmp_path):
    printed = cli("wrap", tmp_path / "none", cnm_folder, bert_folder, tmp_path / "out")
    assert f"Taking {cnm_folder}" in printed
    before, after = (CNMBertModel.from_pretrained(f) for f in (cnm_folder, tmp_path / "out"))
    expected = before.state_dict()
    assert all(torch.equal(value, expected[key]) for key, value in after.state_dict().items())


def test_half_the_bits_load_as_the_same_numbers(cnm_folder, tmp_path):
    cli("wrap", cnm_folder, tmp_path / "half", "--half")
    whole, half = (cnm_folder / "model.safetensors", tmp_path / "half" / "model.safetensors")
    assert half.stat().st_size < whole.stat().st_size
    before, after = (CNMBertModel.from_pretrained(f) for f in (cnm_folder, tmp_path / "half"))
    for name, weight in after.named_parameters():
        assert weight.dtype == torch.float32
        assert torch.equal(weight, before.get_parameter(name).half().float())


def test_new_counts_its_vocabulary_in_the_texts(tmp_path):
    (tmp_path / "a.txt").write_text("今天天气好\n今天", encoding="utf-8")
    out = tmp_path / "new"
    cli("new", tmp_path / "a.txt", out, "--layers", 1, "--width", 64, "--min-count", 2)
    assert CNMBertModel.from_pretrained(out).config.vocab_size == 5 + 2


def test_new_takes_the_size_of_the_vocabulary_and_the_settings(tmp_path):
    with gzip.open(tmp_path / "a.txt.gz", "wt", encoding="utf-8") as file:
        file.write("今天天气好，windows window\n今天好，windows\n")
    out = tmp_path / "new"
    shape = ("--layers", 1, "--width", 64, "--structure-size", 8, "--max-length", 32)
    counts = ("--min-count", 2, "--han", 2, "--pieces", 3)
    switches = ("--structure-scale", 0.1, "--learn-structure-scale", "--no-fusion-layer-norm")
    cli("new", tmp_path / "a.txt.gz", out, *shape, *counts, *switches, "--seed", 3)
    model = CNMBertModel.from_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(out)
    # 今 and 天 of the ideographs, the comma, windo and s with their forms inside of words.
    assert model.config.vocab_size == 5 + 2 + 1 + 2 * len("windos") + 3
    assert model.config.structure_scale == 0.1
    assert model.config.learn_structure_scale
    assert not model.config.fusion_layer_norm
    assert tokenizer.model_max_length == 32
    assert tokenizer.convert_tokens_to_ids("天") < model.config.vocab_size
    assert tokenizer.convert_tokens_to_ids("好") >= model.config.vocab_size
    assert len(tokenizer.tokenize("Windows")) < len("windows")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("wrap", "./nowhere", "out"), "nowhere"),
        (("new", "missing.txt", "out"), "missing.txt"),
        (("new", "missing.txt", "out", "--width", 100), "100"),
    ],
)
def test_errors_are_one_line(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed = cli(*arguments, code=1)
    assert message in printed
    assert "Traceback" not in printed
    assert not (tmp_path / "out").exists()
