"""The shipped pretraining configs, each with a model of the shape that it is for."""

import math
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import torch
from safetensors import safe_open
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

from spacy_cnm.modeling.scratch import new_encoder
from spacy_cnm.pretraining.config import load_config
from spacy_cnm.pretraining.trainer import pretrain

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
WORD_EMBEDDINGS = re.compile(r"embeddings\.word_embeddings\.weight$")

#: Whatever the recipe says, one step on the few texts of `text`.
ONE_STEP = {
    "data.heldout": {},
    "data.max_tokens": 512,
    "training.steps": 1,
    "training.micro_batches": 1,
    "training.precision": "fp32",  # of one process only one, says accelerate
    "optimizer.warmup_steps": 0,  # or the first learning rate is zero
    "logging.log_every": 1,
    "logging.tensorboard": False,
}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder that does not stay: checkpoints of large models are gigabytes."""
    yield tmp_path
    shutil.rmtree(tmp_path)


@pytest.fixture
def text(folder: Path) -> Path:
    """A file of four short texts."""
    path = folder / "train.txt"
    path.write_text("我在香港见到了王小明。\n今天天气很好！\n䢖说：“不是”\n上海的人\n", "utf-8")
    return path


def write_bert(folder: Path, tokenizer: BertTokenizerFast, layers: int, width: int) -> Path:
    """Write a plain BERT of a shape, with random weights and a small vocabulary."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=width // 64,
        intermediate_size=4 * width,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def word_embeddings(folder: Path) -> torch.Tensor:
    with safe_open(folder / "model.safetensors", "pt") as weights:
        return weights.get_tensor(next(filter(WORD_EMBEDDINGS.search, weights.keys())))


def check_one_step(name: str, source: Path, text: Path) -> None:
    """Train for a step, by which the weights have to change and stay numbers."""
    paths = {"paths.source": str(source), "data.train": str(text)}
    config = load_config(CONFIGS / f"pretrain_{name}.cfg", ONE_STEP | paths)
    output = text.parent / "output"
    state = pretrain(config, output)
    assert state.step == 1
    assert state.tokens > 20
    before, after = word_embeddings(source), word_embeddings(output / "model-best")
    assert not torch.equal(before, after)
    assert math.isfinite(after.sum())


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("pretrain_*.cfg")), ids=lambda path: path.stem)
def test_all_keys_exist(path):
    assert load_config(path).optimizer.warmup_steps < load_config(path).training.steps


@pytest.mark.slow
@pytest.mark.xdist_group("recipes")
@pytest.mark.parametrize(("name", "layers", "width"), [("mini", 4, 256), ("small", 6, 384)])
def test_a_step_of_a_new_encoder(name, layers, width, base_tokenizer, folder, text):
    vocab = base_tokenizer.get_vocab()
    model, tokenizer = new_encoder(sorted(vocab, key=vocab.get), n_layers=layers, width=width)
    model.save_pretrained(folder / "encoder")
    tokenizer.save_pretrained(folder / "encoder")
    check_one_step(name, folder / "encoder", text)


@pytest.mark.slow
@pytest.mark.xdist_group("recipes")
def test_a_step_of_base(base_tokenizer, folder, text):
    bert = write_bert(folder / "bert", base_tokenizer, layers=12, width=768)
    check_one_step("base", bert, text)


@pytest.mark.slow
@pytest.mark.xdist_group("recipes")
def test_a_step_of_large(base_tokenizer, folder, text):
    """About 40 seconds and 7 GB."""
    if psutil.virtual_memory().available < 9e9:
        pytest.skip("needs 9 GB of free memory")
    bert = write_bert(folder / "bert", base_tokenizer, layers=24, width=1024)
    check_one_step("large", bert, text)
