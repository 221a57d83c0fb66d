"""Config files of pretraining: every shipped one loads, and a wrong key is named."""

from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.pretraining.config import load_config

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
SMOKE = CONFIGS / "pretrain_smoke.cfg"


@pytest.mark.parametrize("name", ["smoke", "mini", "mini_cued", "small", "base", "large"])
def test_the_shipped_configs_load(name):
    config = load_config(CONFIGS / f"pretrain_{name}.cfg")
    assert config.model.switches() == {
        "structure_input": "tree",
        "component_loss_weight": 0.1,
        "operator_loss_weight": 0.0,
    }
    assert config.data.train


@pytest.mark.parametrize("name", ["base", "large"])
def test_the_papers_hyperparameters(name):
    config = load_config(CONFIGS / f"pretrain_{name}.cfg")
    assert config.optimizer.name == "lamb"
    assert config.optimizer.learn_rate == 1e-4
    assert config.optimizer.warmup_steps == 10_000
    assert config.training.steps == 1_000_000
    assert config.training.precision == "fp16"
    rows = config.data.max_tokens // 512 * config.training.micro_batches
    assert rows == {"base": 256, "large": 512}[name]


@pytest.mark.parametrize(
    ("switches", "structure_input", "weight"),
    [
        ({}, "tree", 0.1),
        ({"use_structure": False}, "none", 0.0),
        ({"flat": True}, "flat", 0.1),
        ({"fusion": False}, "none", 0.1),
        ({"aux": False}, "tree", 0.0),
        ({"component_loss_weight": 0.5}, "tree", 0.5),
        ({"operator_loss_weight": 0.5}, "tree", 0.1),
    ],
)
def test_the_switches_of_the_ablations(switches, structure_input, weight):
    config = load_config(SMOKE, {f"model.{key}": value for key, value in switches.items()})
    assert config.model.switches() == {
        "structure_input": structure_input,
        "component_loss_weight": weight,
        "operator_loss_weight": switches.get("operator_loss_weight", 0.0),
    }


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"training.stps": 3}, "training.stps: no such key (did you mean training.steps?)"),
        ({"trainin.steps": 3}, "trainin: no such key (did you mean training?)"),
        ({"training.steps": "many"}, "training.steps = 'many': input should be a valid integer"),
        ({"training.steps": 0}, "training.steps = 0: input should be greater than or equal to 1"),
        ({"data.train": []}, "data.train = []"),
        (
            {"optimizer.name": "sgd"},
            "optimizer.name = 'sgd': input should be 'adamw', 'lamb' or 'muon'",
        ),
        ({"data.masked": 1.5}, "data.masked = 1.5"),
        ({"data.max_tokens": 32}, "max_tokens is less than max_length (64)"),
    ],
)
def test_a_wrong_key_or_value_is_named(overrides, message):
    with pytest.raises(CNMError) as error:
        load_config(SMOKE, overrides)
    assert message in str(error.value)
    assert str(SMOKE) in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[model]\nsource = ${paths.nothing}\n", "paths"),
        ("no section", "section"),
        ('[model]\nsource = "a"\n', "data: is missing"),
    ],
)
def test_a_file_that_is_no_config(text, message, tmp_path):
    path = tmp_path / "wrong.cfg"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CNMError, match=message):
        load_config(path)


def test_a_missing_file(tmp_path):
    with pytest.raises(CNMError, match="No such file"):
        load_config(tmp_path / "none.cfg")


def test_one_file_may_stand_without_a_list():
    config = load_config(SMOKE, {"data.train": "a.txt"})
    assert config.data.train == [Path("a.txt")]
