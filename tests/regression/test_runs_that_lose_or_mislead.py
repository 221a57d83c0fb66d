"""Pretraining that would save what is worthless, write over what is not, or end in a traceback."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

from spacy_cnm.corpora.pretraining_text import (
    Source,
    load_pretraining_text,
    write_pretraining_text,
)
from spacy_cnm.corpora.text_streams import read_lines
from spacy_cnm.errors import CNMError
from spacy_cnm.pretraining.checkpoints import check_same
from spacy_cnm.pretraining.config import load_config
from spacy_cnm.pretraining.progress import Progress
from spacy_cnm.pretraining.trainer import pretrain

SMOKE = Path(__file__).resolve().parents[2] / "configs" / "pretrain_smoke.cfg"


@pytest.fixture(scope="module")
def settings(cnm_folder, tmp_path_factory):
    train = tmp_path_factory.mktemp("text") / "train.txt"
    train.write_text("我在北京见到了王小明。\n今天天气很好。\n" * 50, "utf-8")
    return {
        "paths.source": str(cnm_folder),
        "data.train": str(train),
        "data.heldout": {},
        "data.max_length": 48,
        "training.steps": 2,
        "logging.checkpoint_every": 1,
        "logging.evaluate_every": 1,
    }


@pytest.fixture(scope="module")
def run(settings, tmp_path_factory):
    """The output of a whole run."""
    output = tmp_path_factory.mktemp("run") / "output"
    pretrain(load_config(SMOKE, settings), output)
    return output


@pytest.fixture
def copy(run, tmp_path):
    """A copy of it, to be damaged."""
    return shutil.copytree(run, tmp_path / "copy")


def test_weights_that_are_not_finite_are_not_saved(settings, tmp_path):
    # The loss of a step is that of the weights before it.
    rate = {"optimizer.learn_rate": 1e38, "optimizer.warmup_steps": 0, "optimizer.clip_norm": 0}
    config = load_config(SMOKE, settings | rate | {"training.steps": 1})
    with pytest.raises(CNMError, match=r"The weight bert\.[a-z_.]+ is not finite at step 1"):
        pretrain(config, tmp_path / "output")
    assert not list((tmp_path / "output").rglob("*.safetensors"))


@pytest.mark.parametrize("key", ["vocabulary_fingerprint", "structure_fingerprint", "vocab_size"])
def test_a_source_that_was_made_anew(key, settings, copy):
    path = copy / "checkpoints" / "step-00000002" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: 7}))
    with pytest.raises(CNMError, match=f"another config or model: {key} was 7, is "):
        pretrain(load_config(SMOKE, settings), copy, resume=True)


def test_a_corpus_that_was_made_anew(settings, copy, tmp_path):
    longer = tmp_path / "train.txt"
    longer.write_text(Path(settings["data.train"]).read_text("utf-8"), "utf-8")
    config = load_config(SMOKE, settings | {"data.train": str(longer), "training.steps": 4})
    output = tmp_path / "output"
    pretrain(config, output)
    longer.write_text("今天天气很好。\n" * 50, "utf-8")
    with pytest.raises(CNMError, match=r"size of .*train\.txt was \d+, is \d+"):
        pretrain(config, output, resume=True)


def test_another_version_of_a_library_is_the_same_model(settings, copy):
    path = copy / "checkpoints" / "step-00000002" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"transformers_version": "4.48"}))
    assert pretrain(load_config(SMOKE, settings), copy, resume=True).step == 2


def test_an_evaluation_that_fails_loses_no_step(settings, tmp_path):
    heldout = tmp_path / "heldout.txt"
    heldout.write_text("\x01\x02\n", "utf-8")
    config = load_config(SMOKE, settings | {"data.heldout": {"a": str(heldout)}})
    config = config.model_copy(
        update={"logging": config.logging.model_copy(update={"checkpoint_every": 100})}
    )
    with pytest.raises(CNMError, match=r"heldout\.txt: the texts of stream 0 have no word piece"):
        pretrain(config, tmp_path / "output")
    assert (tmp_path / "output" / "checkpoints" / "step-00000001").is_dir()


def test_a_heldout_file_is_read_to_its_end_first(settings, tmp_path):
    heldout = tmp_path / "heldout.txt"
    heldout.write_bytes("今天天气很好。\n".encode() * 2000 + b"\xff\n")
    config = load_config(SMOKE, settings | {"data.heldout": {"a": str(heldout)}})
    with pytest.raises(CNMError, match=r"heldout\.txt:2001"):
        pretrain(config, tmp_path / "output")
    assert not (tmp_path / "output").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_a_finished_run_without_checkpoints_stays(resume, settings, copy):
    shutil.rmtree(copy / "checkpoints")
    before = (copy / "metrics.jsonl").read_bytes()
    with pytest.raises(CNMError, match="holds a finished run without its checkpoints"):
        pretrain(load_config(SMOKE, settings), copy, resume=resume)
    assert (copy / "metrics.jsonl").read_bytes() == before


def test_a_run_that_has_no_checkpoint_yet(settings, copy):
    shutil.rmtree(copy / "checkpoints")
    shutil.rmtree(copy / "model-last")
    with pytest.raises(CNMError, match="holds a run"):
        pretrain(load_config(SMOKE, settings), copy)
    assert pretrain(load_config(SMOKE, settings), copy, resume=True).step == 2


def test_two_runs_in_one_output(settings, tmp_path):
    output = tmp_path / "output"
    output.mkdir()
    with (
        FileLock(output / ".lock"),
        pytest.raises(CNMError, match="another run is writing there"),
    ):
        pretrain(load_config(SMOKE, settings), output)
    assert pretrain(load_config(SMOKE, settings), output).step == 2


@pytest.mark.parametrize(
    ("end", "kept"),
    [
        (b'{"step": 2, "tokens": 9}', [1, 2]),  # whole, but for its line break
        (b'{"step": 2, "tok', [1]),
        (b"\xff\xfe\n", [1]),
        (b'5\n[]\n{"tokens": 9}\n', [1]),
    ],
)
def test_metrics_with_a_damaged_end(end, kept, tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'{"step": 1, "tokens": 4}\n' + end)
    progress = Progress(tmp_path, main=True, steps=3, start=2, tensorboard=False)
    progress.write(3, {"tokens": 13})
    progress.close()
    lines = path.read_text("utf-8").splitlines()
    assert [json.loads(line)["step"] for line in lines] == [*kept, 3]


@pytest.mark.parametrize("key", ["run", "schedule", "config", "optimizer"])
def test_a_checkpoint_without_a_part(key, settings, copy):
    path = copy / "checkpoints" / "step-00000002" / "state.json"
    state = json.loads(path.read_text())
    del state[key]
    path.write_text(json.dumps(state))
    with pytest.raises(CNMError, match="step-00000002: is no intact checkpoint"):
        pretrain(load_config(SMOKE, settings), copy, resume=True)


def test_settings_that_differ_are_all_named():
    with pytest.raises(CNMError, match="a was 1, is 2; b was None, is 3"):
        check_same(Path("step-1"), {"a": 1, "c": 4}, {"a": 2, "b": 3, "c": 4})


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"optimizer.betas": [1.5, 0.9]}, r"optimizer\.betas\.0 = 1\.5"),
        ({"optimizer.betas": [0.9, -1]}, r"optimizer\.betas\.1 = -1"),
        ({"optimizer.learn_rate": float("inf")}, r"optimizer\.learn_rate = inf"),
        ({"optimizer.eps": float("nan")}, r"optimizer\.eps = nan"),
        ({"training.seed": 1 << 64}, r"training\.seed = "),
        ({"data.buffer": 1 << 70}, r"data\.buffer = "),
        ({"data.train": ["a\0.txt"]}, "no path holds a NUL"),
    ],
)
def test_values_out_of_range(overrides, message, settings):
    with pytest.raises(CNMError, match=message):
        load_config(SMOKE, settings | overrides)


@pytest.mark.parametrize(
    "addition",
    ["\n[data]\n", "\n[paths]\nsource = ${paths.source}\n", "\n[vars]\na = 1\na = 2\n"],
)
def test_a_config_that_contradicts_itself(addition, tmp_path):
    path = tmp_path / "a.cfg"
    text = SMOKE.read_text("utf-8")
    path.write_text(text + addition, "utf-8")
    with pytest.raises(CNMError, match="cannot be read as a config"):
        load_config(path)


def test_a_config_of_an_editor_that_writes_a_bom(settings, tmp_path):
    path = tmp_path / "a.cfg"
    path.write_bytes(b"\xef\xbb\xbf" + SMOKE.read_bytes())
    assert load_config(path, settings) == load_config(SMOKE, settings)


def test_more_streams_than_texts(settings, tmp_path):
    config = load_config(SMOKE, settings | {"training.micro_batches": 101})
    with pytest.raises(CNMError, match="no text for stream 100 of 101"):
        pretrain(config, tmp_path / "output")


def test_an_override_without_a_key(tmp_path):
    command = [sys.executable, "-m", "spacy_cnm", "pretrain", str(SMOKE), "--training.", "1"]
    done = subprocess.run(
        [*command, "--output", str(tmp_path / "o")], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 1
    assert "'--training.' is no setting" in done.stderr


def test_control_characters_of_json(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "中文\\u0000测试"}\n', "utf-8")
    with pytest.raises(CNMError, match="it holds a NUL"):
        list(read_lines(path))
    path.write_text('{"text": "中\\t文\\r测\\u0001试。"}\n' * 3 + '{"text": "好"}\n', "utf-8")
    corpus = load_pretraining_text([Source(path)], held_out=0.0)
    write_pretraining_text(corpus, tmp_path / "out")
    lines = (tmp_path / "out" / "characters.tsv").read_text("utf-8").splitlines()
    assert all(len(line.split("\t")[0]) == 1 and line[0].isprintable() for line in lines)


def test_a_second_sigterm_is_obeyed():
    code = (
        "import signal, sys\n"
        "from spacy_cnm.cli import _terminate\n"
        "signal.signal(signal.SIGTERM, _terminate)\n"
        "try:\n"
        "    signal.raise_signal(signal.SIGTERM)\n"
        "except SystemExit:\n"
        "    print('lost', flush=True)\n"  # as in a finalizer
        "signal.raise_signal(signal.SIGTERM)\n"
        "print('went on')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == -signal.SIGTERM
    assert done.stdout == "lost\n"
