"""The page of results says what was measured."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
MARKS = ("<!-- RESULTS START: made by benchmarks/results.py -->", "<!-- RESULTS END -->")


def test_the_page_is_made_from_the_metrics(tmp_path):
    out, readme = tmp_path / "results.md", tmp_path / "README.md"
    shutil.copy(ROOT / "README.md", readme)
    command = [sys.executable, "benchmarks/results.py", "metrics", str(out)]
    subprocess.run([*command, "--readme", str(readme)], check=True, cwd=ROOT)
    assert readme.read_text("utf-8") == (ROOT / "README.md").read_text("utf-8")
    assert out.read_text("utf-8") == (ROOT / "docs/results.md").read_text("utf-8")


def test_a_readme_without_the_marks_stays(tmp_path):
    readme = tmp_path / "README.md"
    for content in ("", "<!-- RESULTS END -->", "\n".join(reversed(MARKS))):
        readme.write_text(content)
        command = [sys.executable, "benchmarks/results.py", "metrics", str(tmp_path / "out.md")]
        command += ["--readme", str(readme)]
        result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        assert result.returncode
        assert "not once, in this order" in result.stderr
        assert not (tmp_path / "out.md").exists()
        assert readme.read_text() == content


def test_nothing_measured_is_no_page(tmp_path):
    (tmp_path / "metrics/seeds/demo").mkdir(parents=True)
    out = tmp_path / "results.md"
    for content in (None, "", "[]", '{"scores": []}'):
        if content is not None:
            (tmp_path / "metrics/seeds/demo/cnm-0.json").write_text(content)
        command = [sys.executable, "benchmarks/results.py", str(tmp_path / "metrics"), str(out)]
        result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
        assert result.returncode
        assert "Traceback" not in result.stderr
        assert not out.exists()


def test_a_score_that_is_no_number_is_no_page(tmp_path):
    folder = tmp_path / "metrics/seeds/demo"
    folder.mkdir(parents=True)
    for name in ("cnm", "matched"):
        (folder / f"{name}-0.json").write_text('{"scores": {"ents_f": NaN}}')
    command = [sys.executable, "benchmarks/results.py", str(tmp_path / "metrics")]
    command += [str(tmp_path / "out.md")]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode
    assert "scores.ents_f = nan" in result.stderr


def test_runs_of_other_settings_stay(tmp_path):
    folder = tmp_path / "metrics/seeds/demo"
    folder.mkdir(parents=True)
    for content in ("{}", "", '{"settings": {"task": "ner"}}'):
        (folder / "cnm-0.json").write_text(content)
        command = [sys.executable, str(ROOT / "benchmarks/pipeline_seeds.py"), "demo", "joint"]
        command += ["cnm=models/cnm-bert-mini", "--seed", "0"]
        result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == 1
        assert "is from other settings" in result.stderr
        assert (folder / "cnm-0.json").read_text() == content


def test_rare_names_on_the_page(tmp_path):
    """Recall before and after, and what part of the baseline's loss CNM-BERT has."""
    seeds, stress = tmp_path / "seeds/weibo", tmp_path / "stress/persons/weibo"
    seeds.mkdir(parents=True)
    stress.mkdir(parents=True)
    for name, after in (("cnm", 0.7), ("matched", 0.5)):
        types = {"PER": {"f": after}}
        scores = {"ents_f": 0.5, "ents_per_type": types}
        segmenters = {"jieba": {"word_f": 0.75}}
        run = {"scores": scores, "segmenters": segmenters}
        (seeds / f"{name}-0.json").write_text(json.dumps(run))
        changes = ("one", "most", "all", "elsewhere", "everywhere")
        rows = {key: {"r": after, "f": after} for key in changes}
        results = {"results": {"before": {"r": 0.9, "f": 0.8}} | rows}
        (stress / f"{name}-0.json").write_text(json.dumps(results))
    out = tmp_path / "out.md"
    command = [sys.executable, "benchmarks/results.py", str(tmp_path), str(out)]
    subprocess.run(command, check=True, cwd=ROOT)
    page = out.read_text("utf-8")
    assert "| Weibo | no | most | 90.00 | 50.00 | 90.00 | 70.00 | 0.50 | 1 |" in page
    assert "| Weibo | no | everywhere | 80.00 | 50.00 | 80.00 | 70.00 | 0.33 | 1 |" in page
    assert "| Weibo | PER | 50.00 | 70.00 | +20.00 | 1 |" in page


def test_stress_tests_of_other_labels_stay(tmp_path):
    for name in ("cnm-0", "matched-0"):
        (tmp_path / "training/seeds/weibo" / name / "model-best").mkdir(parents=True)
    # The other one is still being trained.
    (tmp_path / "training/seeds/weibo/cnm-0/metrics.json").write_text("{}")
    out = tmp_path / "metrics/stress/persons/weibo/cnm-0.json"
    out.parent.mkdir(parents=True)
    command = [sys.executable, str(ROOT / "benchmarks/pipeline_stress.py"), "weibo"]
    command += ["--persons", "PER.NAM"]
    for content, expected in (
        ("{}", 1),
        ('{"labels": ["PER"]}', 1),
        ('{"labels": ["PER.NAM"]}', 0),
    ):
        out.write_text(content)
        result = subprocess.run(command, check=False, cwd=tmp_path, capture_output=True, text=True)
        assert result.returncode == expected
        assert ("is of other labels" in result.stderr) == bool(expected)
        assert out.read_text() == content


def test_a_stress_test_without_a_row_is_no_page(tmp_path):
    for kind, content in (("seeds", {"scores": {}}), ("stress/persons", {"results": {}})):
        folder = tmp_path / kind / "weibo"
        folder.mkdir(parents=True)
        for name in ("cnm", "matched"):
            (folder / f"{name}-0.json").write_text(json.dumps(content))
    command = [sys.executable, "benchmarks/results.py", str(tmp_path), str(tmp_path / "out.md")]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode
    assert "no row 'before'" in result.stderr


def test_runs_of_different_settings_are_not_averaged(tmp_path):
    folder = tmp_path / "seeds/weibo"
    folder.mkdir(parents=True)
    for name in ("cnm", "matched"):
        for seed in (0, 1):
            run = {"scores": {"ents_f": 0.5}, "settings": {"overrides": [f"steps={seed}"]}}
            (folder / f"{name}-{seed}.json").write_text(json.dumps(run))
    command = [sys.executable, "benchmarks/results.py", str(tmp_path), str(tmp_path / "out.md")]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode
    assert "in another way" in result.stderr


def test_pipelines_of_one_seed_are_of_one_precision(tmp_path):
    folder = tmp_path / "metrics/seeds/demo"
    folder.mkdir(parents=True)
    for name, precision in (("cnm", "bf16"), ("matched", "fp32")):
        run = {"scores": {"ents_f": 0.5}, "precision": precision}
        (folder / f"{name}-0.json").write_text(json.dumps(run))
    command = [sys.executable, "benchmarks/results.py", str(tmp_path / "metrics")]
    command += [str(tmp_path / "out.md")]
    result = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode
    assert "seed 0 of demo" in result.stderr
