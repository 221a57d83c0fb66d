"""Whole studies of a small encoder: what they write, and what they go on with."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.probing.labels import Labels, read_benchmark
from spacy_cnm.probing.probe import DEFAULTS, Protocol
from spacy_cnm.probing.splits import read_tiers
from spacy_cnm.probing.study import Job, Study, _Work, make_study, run
from spacy_cnm.probing.summary import Summary

SHORT = {protocol: replace(training, epochs=2) for protocol, training in DEFAULTS.items()}


@pytest.fixture(scope="module")
def study(benchmark_file, tiers_file, cnm_folder, bert_folder) -> Study:
    labels, tiers = read_benchmark(benchmark_file), read_tiers(tiers_file)
    return make_study(labels, tiers, {"cnm": cnm_folder}, {"plain": bert_folder}, 2)


def test_every_probe_is_done_once(study, tmp_path):
    runs = run(tmp_path, study, processes=2, training=SHORT)
    # Three splits of the encoder and one of the ablation, two protocols, two seeds; a look-up each.
    assert len(runs) == 3 + (3 + 1) * 2 * 2
    assert len(list(tmp_path.iterdir())) == len(runs) - 3
    before = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    removed = tmp_path / "long-tail-fine-tuned-cnm-1.json"
    content = json.loads(removed.read_text())
    removed.unlink()
    assert [r["scores"] for r in run(tmp_path, study, processes=1, training=SHORT)] == [
        r["scores"] for r in runs
    ]
    after = {path: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert {path for path in before if before[path] != after[path]} == {removed}
    # The same seed gives the same result, in whatever process.
    assert json.loads(removed.read_text())["scores"] == content["scores"]
    summary = Summary(runs)
    assert summary.rows("long-tail") == [
        ("lookup", "lookup"),
        ("cnm", "frozen"),
        ("cnm", "fine-tuned"),
        ("plain", "frozen"),
        ("plain", "fine-tuned"),
    ]
    # The labels are those of the IDS.
    assert summary.score("lookup", "lookup", "IID", "test", "layout_accuracy").mean == 1.0
    assert summary.score("cnm", "frozen", "IID", "OOV", "component_f1").n == 2
    assert summary.score("plain", "frozen", "IID", "OOV", "component_f1") is None


def test_probes_of_another_study_stay(study, tmp_path):
    path = tmp_path / "IID-frozen-cnm-0.json"
    for content in ("{", "[]", '{"settings": {}}'):
        path.write_text(content)
        with pytest.raises(CNMError, match=r"IID-frozen-cnm-0\.json: holds no result"):
            run(tmp_path, study, processes=1, training=SHORT)
        assert path.read_text() == content
    whole = {"settings": {"model": "cnm"}, "scores": {}, "layouts": {}}
    whole |= {"precision": "fp32", "seconds": 1.0}
    for key, value in (("scores", {"test": [1]}), ("scores", {"test": {"layout_f1": "abc"}})):
        path.write_text(json.dumps(whole | {key: value}))
        with pytest.raises(CNMError, match=r"holds no result of a probe \(scores\.test"):
            run(tmp_path, study, processes=1, training=SHORT)
    path.write_text(json.dumps(whole))
    with pytest.raises(CNMError, match="weights, split, protocol"):
        run(tmp_path, study, processes=1, training=SHORT)


def test_a_failure_ends_the_others(study, tmp_path, cnm_folder):
    """What fails in a process fails the study, and leaves no process behind."""
    broken = {protocol: replace(training, batch=0) for protocol, training in SHORT.items()}
    with pytest.raises(ZeroDivisionError):
        run(tmp_path, study, processes=2, training=broken)
    deadline = time.monotonic() + 30
    for process in multiprocessing.active_children():
        while exists(process.pid):
            process.join(0.1)
            assert time.monotonic() < deadline


def test_a_benchmark_without_parts_and_strokes(benchmark_file, cnm_folder, tmp_path):
    """What is not known is neither learned nor asked; there is no compositional split then."""
    labels = {
        char: Labels(layout=known.layout) for char, known in read_benchmark(benchmark_file).items()
    }
    study = make_study(labels, {}, {"cnm": cnm_folder}, {}, 1)
    assert list(study.subject.splits) == ["IID"]
    (content,) = done(study, "frozen", tmp_path, seeds=(0,))
    assert set(content["scores"]["test"]) == {"n", "layout_f1", "layout_accuracy"}


def test_frozen_probes_do_not_depend_on_what_was_done_before(benchmark_file, cnm_folder, tmp_path):
    """A new encoder has the same weights, whichever seeds are still to be done."""
    folder = tmp_path / "untrained"
    folder.mkdir()
    content = {"base": os.path.relpath(cnm_folder, folder), "untrained": True}
    (folder / "variant.json").write_text(json.dumps(content))
    study = make_study(read_benchmark(benchmark_file), {}, {"untrained": folder}, {}, 2)
    _, second = done(study, "frozen", tmp_path, seeds=(0, 1))
    (alone,) = done(study, "frozen", tmp_path, seeds=(1,))
    assert alone["scores"] == second["scores"]
    assert alone["precision"] == "fp32"


def done(study: Study, protocol: Protocol, out: Path, seeds: tuple[int, ...]) -> list[dict]:
    """Do probes of a study's only encoder on the first split, in this process."""
    work = _Work(out, study.subject, dict.fromkeys(study.encoders.values(), ""), SHORT)
    ((name, folder),) = study.encoders.items()
    job = Job(name, folder, next(iter(study.subject.splits)), protocol, seeds)
    work.do(job)
    return [json.loads(work.path(job, seed).read_text()) for seed in seeds]


def test_characters_without_a_label_do_not_count(benchmark_file, cnm_folder):
    labels = dict.fromkeys(read_benchmark(benchmark_file), Labels())
    with pytest.raises(CNMError, match="too few characters"):
        make_study(labels, {}, {"cnm": cnm_folder}, {}, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_a_killed_process_is_told_of(benchmark_file, cnm_folder, tmp_path):
    """As by a system without memory: one error with a remedy, and what is finished stays."""
    study = make_study(read_benchmark(benchmark_file), {}, {"cnm": cnm_folder}, {}, 1)

    def kill() -> None:
        while not (children := multiprocessing.active_children()):
            time.sleep(0.05)
        os.kill(children[0].pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    with pytest.raises(CNMError, match="fewer --processes"):
        run(tmp_path, study, processes=1, training=SHORT)
    killer.join()


def test_what_cannot_be_drawn_is_told_before_any_probe(
    tmp_path, benchmark_file, cnm_folder, run_cli
):
    pytest.importorskip("umap")
    folder, out = tmp_path / "encoder", tmp_path / "out"
    shutil.copytree(cnm_folder, folder)
    (folder / "metrics.jsonl").write_text('{"tokens": 1, "mlm_loss": 2.0}\n{"tokens": 2, "mlm')
    status, _, errors = run_cli("probe", out, f"cnm={folder}", "--labels", benchmark_file)
    assert status == 1
    assert "metrics.jsonl, line 2" in errors
    assert not out.exists()


def test_tables_and_encoders_that_do_not_suit(tmp_path, benchmark_file, cnm_folder, run_cli):
    pytest.importorskip("umap")
    (tmp_path / "tiers.tsv").touch()
    given = ["probe", tmp_path / "out", f"cnm={cnm_folder}", "--labels", benchmark_file]
    for more, message in (
        (["--tiers", tmp_path / "tiers.tsv"], "has no tier of any"),
        (["--ablation", f"x={tmp_path / 'nix'}"], f"{tmp_path / 'nix'}: no encoder is there"),
    ):
        status, _, errors = run_cli(*given, *more)
        assert status == 1
        assert message in errors
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "runs").touch()
    status, _, errors = run_cli(*given)
    assert status == 1
    assert "runs: is a file, but a folder" in errors


def test_too_few_characters(cnm_folder, benchmark_file):
    labels = dict(list(read_benchmark(benchmark_file).items())[:1])
    with pytest.raises(CNMError, match="too few characters"):
        make_study(labels, {}, {"cnm": cnm_folder}, {}, 1)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_a_killed_study(
    number, tmp_path, benchmark_file, cnm_folder, tiers_file
):
    command = [sys.executable, "-m", "spacy_cnm", "probe", str(tmp_path / "out")]
    command += [f"cnm={cnm_folder}", "--labels", str(benchmark_file), "--tiers", str(tiers_file)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True, text=True)
    runs = tmp_path / "out" / "runs"
    deadline = time.monotonic() + 120
    while not (runs.is_dir() and any(runs.glob("*.json"))):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert process.returncode
    while exists(-process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    for path in runs.glob("*.json"):
        assert json.loads(path.read_text())["settings"]["model"] == "cnm"


def exists(process: int) -> bool:
    """Tell whether a process is there, or one of a group if the number is negative."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_report(tmp_path: Path, benchmark_file, tiers_file, cnm_folder, bert_folder):
    pytest.importorskip("umap")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "spacy_cnm", "probe", str(out), f"cnm={cnm_folder}"]
    command += [f"plain={bert_folder}", "--labels", str(benchmark_file), "--seeds", "1"]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "| lookup |" in result.stdout
    page = (out / "report.html").read_text("utf-8")
    assert "spacy-cnm probe" in page
    assert page.count("<img") == 2  # without tiers, and not pretrained
    table = (out / "table.md").read_text("utf-8")
    assert "## compositional split, OOV" in table
    assert "long-tail" not in table
    assert {path.name for path in out.iterdir()} == {
        "runs",
        "report.html",
        "table.md",
        *(f"{n}.{k}" for n in ("layouts", "structure-vectors") for k in ("png", "svg")),
    }


@pytest.mark.parametrize("given", [["cnm"], ["a=x", "a=y"], ["lookup=x"], ["a/b=x"]])
def test_encoders_without_a_good_name(given, tmp_path, benchmark_file, run_cli):
    status, *_ = run_cli("probe", tmp_path / "out", *given, "--labels", benchmark_file)
    assert status == 2
    assert not (tmp_path / "out").exists()
