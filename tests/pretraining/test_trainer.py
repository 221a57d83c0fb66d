"""Whole runs of a small encoder: what they write, stop and take up again, and their ablations."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import srsly
import torch
from safetensors.torch import load_file

from spacy_cnm.errors import CNMError, CNMWarning
from spacy_cnm.modeling import CNMBertForPreTraining, CNMBertModel, load_or_wrap
from spacy_cnm.pretraining.config import PretrainConfig, load_config
from spacy_cnm.pretraining.setup import load, make_accelerator
from spacy_cnm.pretraining.trainer import pretrain

SMOKE = Path(__file__).resolve().parents[2] / "configs" / "pretrain_smoke.cfg"


def make_config(settings, **changes) -> PretrainConfig:
    """The smoke config with the settings of the fixture; `a__b` is the key a.b."""
    return load_config(SMOKE, settings | {k.replace("__", "."): v for k, v in changes.items()})


def command(settings, output, **changes) -> list[str]:
    changes = settings | {key.replace("__", "."): value for key, value in changes.items()}
    overrides = [part for key, value in changes.items() for part in (f"--{key}", json.dumps(value))]
    return ["spacy_cnm", "pretrain", str(SMOKE), "--output", str(output), *overrides]


def read_metrics(output: Path) -> list[dict]:
    return [json.loads(line) for line in (output / "metrics.jsonl").read_text().splitlines()]


def losses(output: Path) -> list[float]:
    return [line["mlm_loss"] for line in read_metrics(output) if "mlm_loss" in line]


def weights(output: Path, name: str = "model-last") -> dict[str, torch.Tensor]:
    return load_file(output / name / "model.safetensors")


def assert_same(first: dict[str, torch.Tensor], second: dict[str, torch.Tensor]) -> None:
    assert first.keys() == second.keys()
    assert [key for key in first if not torch.equal(first[key], second[key])] == []


@pytest.fixture(scope="module")
def run(settings, tmp_path_factory) -> Path:
    """The output of an undisturbed run."""
    output = tmp_path_factory.mktemp("run") / "output"
    state = pretrain(make_config(settings), output)
    assert state.step == 20
    return output


def test_what_a_run_leaves(run):
    assert sorted(path.name for path in run.iterdir()) == [
        ".lock",
        "checkpoints",
        "metrics.jsonl",
        "model-best",
        "model-last",
    ]
    names = sorted(path.name for path in (run / "checkpoints").iterdir())
    assert names == ["step-00000010", "step-00000020"]
    assert not [path for path in run.rglob("*") if path.suffix in (".bin", ".pt", ".pkl")]


def test_the_metrics(run):
    lines = read_metrics(run)
    assert [line["step"] for line in lines] == [5, 10, 10, 15, 20, 20]
    training = [line for line in lines if "mlm_loss" in line]
    assert all(line["tokens_per_second"] > 0 for line in training)
    assert training[-1]["mlm_loss"] < training[0]["mlm_loss"]
    heldout = lines[-1]["heldout"]["heldout"]
    assert 0 < heldout["masked_accuracy"] < 1
    assert heldout["perplexity"] == pytest.approx(torch.tensor(heldout["mlm_loss"]).exp().item())
    assert 0 <= heldout["outside_recall"] <= 1
    assert heldout["outside"] > 0
    assert heldout["component_excess"] > 0


@pytest.mark.parametrize("name", ["model-best", "model-last"])
def test_the_model_is_an_encoder_for_spacy(run, name, recwarn):
    model, tokenizer = load_or_wrap(run / name)
    assert isinstance(model, CNMBertModel)
    expected = weights(run, name)["bert.embeddings.word_embeddings.weight"]
    assert torch.equal(model.embeddings.word_embeddings.weight, expected)
    assert "䢖" in tokenizer.get_vocab()
    assert not [w for w in recwarn if "initialized" in str(w.message)]


def test_a_run_ends_the_same_each_time(run, settings, tmp_path):
    pretrain(make_config(settings), tmp_path / "again")
    assert_same(weights(run), weights(tmp_path / "again"))


def test_a_run_may_be_stopped_and_resumed(run, settings, tmp_path):
    """Killed by SIGKILL at a random moment, and once more asked to stop by SIGTERM."""
    output = tmp_path / "output"
    often = {"logging__checkpoint_every": 1, "logging__keep_checkpoints": 3}
    start = [sys.executable, "-m", *command(settings, output, **often)]
    environment = os.environ | {"OMP_NUM_THREADS": str(torch.get_num_threads())}
    for number in (signal.SIGKILL, signal.SIGTERM):
        seen = max((output / "checkpoints").glob("step-*"), default=None)
        process = subprocess.Popen([*start, "--resume"], env=environment, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and process.poll() is None:
            newest = max((output / "checkpoints").glob("step-*"), default=None)
            if newest is not None and newest != seen:
                break
            time.sleep(0.01)
        time.sleep(random.uniform(0, 0.3))
        process.send_signal(number)
        _, errors = process.communicate(timeout=120)
        if number == signal.SIGTERM and process.returncode:
            assert process.returncode == 1, errors.decode()
    config = make_config(settings, **often)
    state = pretrain(config, output, resume=True)
    assert state.step == 20
    assert_same(weights(run), weights(output))
    steps = [line["step"] for line in read_metrics(output)]
    assert steps == [5, 10, 10, 15, 20, 20]
    assert losses(output) == losses(run)


def test_two_processes_make_the_same_curve(run, settings, tmp_path):
    output = tmp_path / "output"
    # As `accelerate launch` does it for several processes.
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2", "-m"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(
        [*launch, *command(settings, output)], env=environment, capture_output=True, timeout=300
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    assert [line["processes"] for line in read_metrics(output) if "processes" in line] == [2] * 4
    assert losses(output) == pytest.approx(losses(run), rel=1e-4)
    expected, found = read_metrics(run)[-1], read_metrics(output)[-1]
    assert found["tokens"] == expected["tokens"]
    assert found["heldout"]["heldout"] == pytest.approx(expected["heldout"]["heldout"], rel=1e-3)


def test_the_matched_baseline_differs_in_the_structure_only(run, settings, tmp_path):
    output = tmp_path / "output"
    pretrain(make_config(settings, model__use_structure=False), output)
    before, after = weights(run, "model-best"), weights(output)
    assert before.keys() == after.keys()
    tokens = [line["tokens"] for line in read_metrics(output)]
    assert tokens == [line["tokens"] for line in read_metrics(run)]
    config = json.loads((output / "model-last" / "config.json").read_text())
    assert config["structure_input"] == "none"
    # What it does not use is as it was.
    start, _ = load_or_wrap(settings["paths.source"])
    key = "structure.component_embeddings.weight"
    assert torch.equal(after[f"bert.{key}"], start.state_dict()[key])
    heldout = read_metrics(output)[-1]["heldout"]["heldout"]
    assert "component_accuracy" not in heldout


@pytest.mark.parametrize(
    ("switches", "expected"),
    [
        ({}, ("tree", 0.1)),
        ({"model__use_structure": False}, ("none", 0.0)),
        ({"model__flat": True, "model__component_loss_weight": 0.5}, ("flat", 0.5)),
    ],
)
@pytest.mark.parametrize("source", ["bert_folder", "cnm_folder"])
def test_the_switches_reach_a_bert_too(source, switches, expected, settings, request):
    folder = request.getfixturevalue(source)
    model, _ = load(make_config(settings, paths__source=str(folder), **switches))
    assert (model.config.structure_input, model.config.component_loss_weight) == expected


def test_cued_characters_are_of_training_only(settings, tmp_path):
    """They change the loss in training from the first step; held-out masks stay the same."""
    runs = {}
    for share in (0.0, 0.5):
        config = make_config(settings, data__cued=share, optimizer__learn_rate=1e-12)
        pretrain(config, tmp_path / str(share))
        runs[share] = read_metrics(tmp_path / str(share))
    losses, heldout = (
        [next(line for line in lines if key in line)[key] for lines in runs.values()]
        for key in ("mlm_loss", "heldout")
    )
    assert losses[0] != losses[1]
    for name, first in heldout[0].items():
        assert heldout[1][name]["masked"] == first["masked"]
        assert heldout[1][name]["mlm_loss"] == pytest.approx(first["mlm_loss"], rel=1e-4)


def test_one_process_has_one_precision(settings, tmp_path):
    config = make_config(settings, training__steps=1)
    pretrain(config, tmp_path / "fp32")
    with pytest.raises(CNMError, match="another precision than 'bf16'"):
        pretrain(make_config(settings, training__precision="bf16"), tmp_path / "bf16")


def test_components_are_learned_without_being_fused(settings, tmp_path):
    output = tmp_path / "output"
    pretrain(make_config(settings, model__fusion=False), output)
    lines = [line for line in read_metrics(output) if "component_loss" in line]
    assert lines[-1]["component_loss"] < lines[0]["component_loss"]


def test_nothing_but_the_structure_side_learns(settings, tmp_path):
    output = tmp_path / "output"
    config = make_config(settings, model__only_structure=True)
    before, _ = load(config)
    pretrain(config, output)
    after, _ = load_or_wrap(output / "model-last", cls=CNMBertForPreTraining)
    # The heads are new each time.
    changed = {
        name
        for name, weight in before.bert.named_parameters()
        if not torch.equal(weight, after.bert.get_parameter(name))
    }
    assert {name.split(".")[0] for name in changed} == {"structure", "fusion"}


def test_micro_batches_are_read_by_streams_of_their_own(settings, tmp_path):
    config = make_config(settings, training__micro_batches=3, training__steps=3)
    state = pretrain(config, tmp_path / "output")
    assert len(state.positions) == 3


@pytest.mark.parametrize("name", ["lamb", "muon"])
def test_an_optimizer_of_the_library(name, settings, tmp_path):
    pytest.importorskip("pytorch_optimizer")
    chosen = {"optimizer__name": name, "optimizer__learn_rate": 0.01}
    output, again = tmp_path / "output", tmp_path / "again"
    pretrain(make_config(settings, **chosen), output)
    assert losses(output)[-1] < losses(output)[0]
    pretrain(make_config(settings, **chosen), again)
    for folder in ("model-last", "model-best", "checkpoints/step-00000020"):
        shutil.rmtree(again / folder)
    pretrain(make_config(settings, **chosen), again, resume=True)
    assert_same(weights(output), weights(again))


def test_a_run_is_not_started_over_another(run, settings):
    with pytest.raises(CNMError, match="holds a run"):
        pretrain(make_config(settings), run)


def test_resuming_with_another_config(run, settings):
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    config = make_config(settings, optimizer__learn_rate=0.5, training__seed=3)
    with pytest.raises(
        CNMError, match=r"optimizer\.learn_rate was 0\.001, is 0\.5; training\.seed"
    ):
        pretrain(config, run, resume=True)
    assert {path: path.read_bytes() for path in run.rglob("*") if path.is_file()} == before


def test_a_run_of_before_a_key_was_there_is_resumed(run, settings, tmp_path):
    output = tmp_path / "output"
    shutil.copytree(run, output)
    shutil.rmtree(output / "model-last")
    state = output / "checkpoints/step-00000020/state.json"
    content = srsly.read_json(state)
    assert content["config"].pop("data.cued") == 0
    srsly.write_json(state, content)
    with pytest.raises(CNMError, match=r"data\.cued was 0\.0, is 0\.3"):
        pretrain(make_config(settings, data__cued=0.3), output, resume=True)
    pretrain(make_config(settings), output, resume=True)
    assert_same(weights(run), weights(output))


def test_a_damaged_checkpoint_is_named(run, settings, tmp_path):
    for name in ("state.json", "optimizer.safetensors", "model.safetensors"):
        output = tmp_path / name
        checkpoint = output / "checkpoints" / "step-00000010"
        checkpoint.mkdir(parents=True)
        for path in (run / "checkpoints" / "step-00000010").iterdir():
            whole = path.read_bytes()
            (checkpoint / path.name).write_bytes(whole[:100] if path.name == name else whole)
        with pytest.raises(CNMError, match="step-00000010: is no intact checkpoint"):
            pretrain(make_config(settings), output, resume=True)


def test_a_loss_that_is_not_finite(settings, tmp_path):
    config = make_config(settings, optimizer__learn_rate=1e30, optimizer__clip_norm=0)
    with pytest.raises(CNMError, match="not finite at step"):
        pretrain(config, tmp_path / "output")
    for checkpoint in (tmp_path / "output" / "checkpoints").glob("step-*"):
        assert torch.isfinite(
            load_file(checkpoint / "model.safetensors")["bert.fusion.linear.weight"]
        ).all()


def test_an_evaluation_that_is_not_finite(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(
        "spacy_cnm.pretraining.trainer.evaluate", lambda *_: {"mlm_loss": float("nan")}
    )
    with pytest.raises(CNMError, match="not finite at step 10"):
        pretrain(make_config(settings), tmp_path / "output")
    assert not (tmp_path / "output" / "model-best").exists()


def test_figures_for_tensorboard(settings, tmp_path):
    pytest.importorskip("tensorboard")
    pretrain(make_config(settings, logging__tensorboard=True), tmp_path / "output")
    assert list((tmp_path / "output" / "tensorboard").glob("events.*"))


def test_more_positions_than_the_model_has(settings, tmp_path):
    config = make_config(settings, data__max_length=500)
    with pytest.raises(CNMError, match=r"data\.max_length is 500, but the model has 64"):
        pretrain(config, tmp_path / "output")
    assert not (tmp_path / "output").exists()


def test_bfloat16_on_a_cpu_without_it(settings, tmp_path, monkeypatch):
    monkeypatch.setattr("spacy_cnm.pretraining.setup.cpu_has_bfloat16", lambda: False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    monkeypatch.setattr("spacy_cnm.pretraining.setup.Accelerator", lambda **_: None)
    config = make_config(settings, training__precision="bf16")
    with pytest.warns(CNMWarning, match="--training.precision fp32"):
        make_accelerator(config)


def test_half_precision_without_a_gpu(settings, tmp_path):
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(CNMError, match="needs a GPU"):
        pretrain(make_config(settings, training__precision="fp16"), tmp_path / "output")


@pytest.mark.parametrize("key", ["data__train", "data__heldout"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "is missing|No such file"),
        (b"", "no text"),
        (b"\x00\x01\x02" * 50, "NUL|binary"),
        ("北京".encode("utf-16"), "UTF-8|NUL"),
    ],
)
def test_files_that_no_run_can_use(content, message, key, settings, corpus, tmp_path):
    path = tmp_path / "texts.txt"
    if content is not None:
        path.write_bytes(content)
    files = {
        "data__train": [str(corpus / "train.txt"), str(path)],
        "data__heldout": {"a": str(path)},
    }
    with pytest.raises(CNMError, match=message):
        pretrain(make_config(settings, **{key: files[key]}), tmp_path / "output")
    assert not (tmp_path / "output").exists()


def test_text_without_chinese(settings, tmp_path):
    path = tmp_path / "latin.txt"
    path.write_text("only Latin text\n" * 5, encoding="utf-8")
    config = make_config(settings, data__train=str(path))
    with pytest.raises(CNMError, match=r"no Chinese character.*use_structure = false"):
        pretrain(config, tmp_path / "output")
    config = make_config(
        settings, data__train=str(path), model__use_structure=False, training__micro_batches=1
    )
    assert pretrain(config, tmp_path / "output").step == 20
