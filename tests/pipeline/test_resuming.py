"""A pipeline in training that was stopped goes on from its own weights."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.cli import app
from spacy.tokens import DocBin
from typer.testing import CliRunner

from spacy_cnm.errors import CNMError
from spacy_cnm.pipeline.resuming import resume_config

CONFIG = Path(__file__).parents[2] / "configs/joint.cfg"


def train(config: Path, output: Path, **overrides: object) -> None:
    words = [str(word) for item in overrides.items() for word in item]
    result = CliRunner().invoke(app, ["train", str(config), "--output", str(output), *words])
    assert result.exit_code == 0, f"{result.output}\n{result.exception!r}"


def weights(nlp: spacy.language.Language) -> dict[str, np.ndarray]:
    found = {}
    for name in ("transformer", "ner", "tagger", "textcat"):
        for i, node in enumerate(nlp.get_pipe(name).model.walk()):
            for key in node.param_names:
                found[f"{name}.{i}.{key}"] = node.get_param(key).copy()
            for shim in node.shims:
                for key, value in shim._model.state_dict().items():
                    found[f"{name}.{i}.{key}"] = value.numpy().copy()
    return found


def test_goes_on_from_the_weights(examples, cnm_folder, tmp_path):
    docs = [eg.reference for _ in range(10) for eg in examples(spacy.blank("zh"))]
    DocBin(docs=docs).to_disk(tmp_path / "docs.spacy")
    data = {"--paths.train": tmp_path / "docs.spacy", "--paths.dev": tmp_path / "docs.spacy"}
    steps = {"--training.max_steps": 2, "--training.eval_frequency": 2}
    first, second = tmp_path / "first", tmp_path / "second"
    train(CONFIG, first, **data, **steps, **{"--paths.encoder": cnm_folder})
    config = resume_config(first / "model-last")
    assert config.interpolate()["training"]["seed"] == 1  # the texts come in another order
    config.to_disk(tmp_path / "resume.cfg")
    # With a learning rate of 0 nothing moves: what comes out is what was begun with.
    rate = {"--training.optimizer.learn_rate.initial_rate": 0.0}
    train(tmp_path / "resume.cfg", second, **steps, **rate)
    before, after = (spacy.load(folder / "model-last") for folder in (first, second))
    assert before.pipe_labels == after.pipe_labels
    expected, found = weights(before), weights(after)
    assert expected.keys() == found.keys()
    assert len(expected) > 50
    for key, value in expected.items():
        np.testing.assert_array_equal(value, found[key], err_msg=key)


@pytest.mark.parametrize("part", ["transformer/model", "ner/model", "vocab/strings.json"])
def test_damaged_by_a_kill(examples, cnm_folder, tmp_path, part):
    docs = [eg.reference for eg in examples(spacy.blank("zh"))]
    DocBin(docs=docs).to_disk(tmp_path / "docs.spacy")
    data = {"--paths.train": tmp_path / "docs.spacy", "--paths.dev": tmp_path / "docs.spacy"}
    steps = {"--training.max_steps": 1, "--training.eval_frequency": 1}
    train(CONFIG, tmp_path / "out", **data, **steps, **{"--paths.encoder": cnm_folder})
    (tmp_path / "out/model-last" / part).write_bytes(b"")
    with pytest.raises(CNMError, match="model-best"):
        resume_config(tmp_path / "out/model-last")
    resume_config(tmp_path / "out/model-best")


def test_no_pipeline(tmp_path):
    with pytest.raises(CNMError, match="model-last"):
        resume_config(tmp_path)
    (tmp_path / "config.cfg").write_text("[paths]\ntrain = null\n")
    with pytest.raises(CNMError, match="model-last"):
        resume_config(tmp_path)
