"""Every shipped config goes through spaCy's own commands."""

import re
from pathlib import Path

import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

FOLDER = Path(__file__).parents[2] / "configs"
# Those of pretraining are for `spacy-cnm pretrain`.
CONFIGS = sorted(set(FOLDER.glob("*.cfg")) - set(FOLDER.glob("pretrain_*.cfg")))
TEXTS = ["我在北京见到了王小明。", "", "  ", "重䢖道藏"]


@pytest.fixture(scope="module")
def overrides(examples, cnm_folder, tmp_path_factory):
    """Command-line overrides: a small corpus and the small encoder."""
    folder = tmp_path_factory.mktemp("corpus")
    nlp = spacy.blank("zh")
    docs = [example.reference for _ in range(30) for example in examples(nlp)]
    for name in ("train", "dev"):
        DocBin(docs=docs).to_disk(folder / f"{name}.spacy")
    return {
        "--paths.train": folder / "train.spacy",
        "--paths.dev": folder / "dev.spacy",
        "--paths.encoder": cnm_folder,
    }


def run(*args, **options):
    """Run `python -m spacy ...` in this process."""
    words = [*args, *(word for option in options.items() for word in option)]
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"
    return result.output


@pytest.fixture(params=CONFIGS, ids=lambda path: path.stem)
def config(request):
    return request.param


def test_there_are_configs():
    assert CONFIGS


def test_fill_config_changes_nothing_of_ours(config, tmp_path):
    """The config is complete: filling only adds spaCy's own defaults."""
    run("init", "fill-config", config, tmp_path / "filled.cfg")
    ours = spacy.util.load_config(config)["components"]["transformer"]["model"]
    filled = spacy.util.load_config(tmp_path / "filled.cfg")["components"]["transformer"]["model"]
    assert filled == ours


def test_debug_config(config, overrides):
    assert "Config is valid" in run("debug", "config", config, **overrides)


def test_debug_data(config, overrides):
    assert count_training_docs(config, overrides) == 120


@pytest.mark.parametrize("task", ["ner", "joint"])
def test_the_augmenter_can_be_switched_on(task, overrides):
    level = {"--corpora.train.augmenter.level": 1.0}
    assert count_training_docs(FOLDER / f"{task}.cfg", overrides | level) > 120


def count_training_docs(config, overrides):
    output = run("debug", "data", config, "--no-format", **overrides)
    found = re.search(r"(\d+) training docs", output)
    assert found
    return int(found[1])


def test_train_and_load(config, overrides, tmp_path):
    run(
        "train",
        config,
        "--output",
        tmp_path,
        **overrides,
        **{"--training.max_steps": 2, "--training.eval_frequency": 1},
    )
    nlp = spacy.load(tmp_path / "model-last")
    assert nlp.resume_training()
    for doc, text in zip(nlp.pipe(TEXTS), TEXTS, strict=True):
        assert doc.text == text
