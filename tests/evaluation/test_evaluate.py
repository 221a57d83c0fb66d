"""`spacy-cnm evaluate` and `spacy-cnm show`, run as a user runs them."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from spacy.language import Language

from spacy_cnm.cli import main
from spacy_cnm.corpora import jieba_baseline
from spacy_cnm.corpora.docs import write_docs
from spacy_cnm.corpora.records import Place, Record, Span
from spacy_cnm.errors import CNMError
from spacy_cnm.evaluation.evaluate import evaluate
from spacy_cnm.evaluation.speed import run as run_texts
from spacy_cnm.evaluation.table import table


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["spacy-cnm", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def cut_characters(text: str) -> list[str]:
    return list(text)


@pytest.fixture
def other_segmenter(monkeypatch: pytest.MonkeyPatch) -> None:
    """One word a character in the place of jieba, whether that is installed or not."""
    monkeypatch.setattr(jieba_baseline, "is_installed", lambda: True)
    monkeypatch.setattr(jieba_baseline, "segmenters", lambda: {"characters": cut_characters})


def test_command(
    demo_folder: Path,
    test_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    other_segmenter: None,
) -> None:
    out = tmp_path / "new" / "scores.json"
    assert run(monkeypatch, "evaluate", demo_folder, test_file, out) == 0
    lines = capsys.readouterr().out.splitlines()
    found = json.loads(out.read_text(encoding="utf-8"))
    assert list(found) == sorted(found)
    assert str(tmp_path) not in out.read_text(encoding="utf-8")

    assert found["model"]["name"] == "zh_small"
    assert found["model"]["version"] == "1.2.3"
    assert found["model"]["pipeline"][-1] == "cnm_word_merger"
    assert found["versions"]["spacy"] == spacy.__version__
    assert (found["test"]["docs"], found["test"]["characters"]) == (5, 40)
    assert found["speed"]["docs"] == 5
    assert found["speed"]["characters_per_second"] > 0
    assert found["missing"] == {}
    # It has seen these texts, so that what it gets is near to everything.
    assert found["scores"]["word_f"] > 0.9
    assert found["scores"]["ents_f"] > 0.9
    assert found["scores"]["cats_acc"] == 1
    assert found["segmenters"]["characters"]["word_r"] == 9 / 17

    assert lines[0].startswith("zh_small 1.2.3: transformer, ner, ")
    heads, words = lines[3:5]
    assert heads.split() == ["gold", "P", "R", "F", "accuracy"]
    assert words.split() == [
        "words",
        "17",
        *(f"{found['scores'][key]:.4f}" for key in ("word_p", "word_r", "word_f")),
    ]
    assert len(words) == heads.index("F") + 1
    assert max(map(len, lines)) <= 80


def test_same_scores_as_spacy_gives(demo_nlp: Language, demo_folder: Path, test_file: Path) -> None:
    found = evaluate(str(demo_folder), test_file, baseline="none").scores.values
    corpus = spacy.training.Corpus(test_file)
    expected = demo_nlp.evaluate(list(corpus(demo_nlp)))
    for key in ("word_f", "word_tag_f", "tag_acc", "ents_f", "ents_per_type"):
        assert found[key] == expected[key], key


def test_entities_only(test_file: Path, tmp_path: Path) -> None:
    nlp = spacy.blank("zh")
    nlp.add_pipe("entity_ruler").add_patterns([{"label": "LOC", "pattern": "北京"}])
    nlp.to_disk(tmp_path / "rules")
    evaluation = evaluate(str(tmp_path / "rules"), test_file, baseline="none")
    assert evaluation.scores.values["ents_p"] == 1
    lines = table(evaluation)
    assert "words: missing, no component of the pipeline sets token.tag" in lines
    assert not any("accuracy" in line for line in lines)


def test_other_segmenters_stand_alone_without_a_tagger(
    test_file: Path, tmp_path: Path, other_segmenter: None
) -> None:
    spacy.blank("zh").to_disk(tmp_path / "blank")
    lines = table(evaluate(str(tmp_path / "blank"), test_file))
    assert [line.split() for line in lines[3:6]] == [
        ["gold", "P", "R", "F"],
        ["words", "17"],
        ["characters", "0.3462", "0.5294", "0.4186"],
    ]


def test_baselines(demo_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record = Record("北京", Place("x", 1), entities=(Span(0, 2, "LOC"),))
    write_docs([record], tmp_path / "a.spacy")
    assert evaluate(str(demo_folder), tmp_path / "a.spacy").segmenters == {}
    with pytest.raises(CNMError, match="no document has tags"):
        evaluate(str(demo_folder), tmp_path / "a.spacy", baseline="jieba")
    with pytest.raises(CNMError, match="Unknown baseline 'x'; known are: auto, jieba, none"):
        evaluate(str(demo_folder), tmp_path / "a.spacy", baseline="x")


def test_without_jieba(demo_folder: Path, test_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jieba_baseline, "is_installed", lambda: False)
    assert evaluate(str(demo_folder), test_file).segmenters == {}
    with pytest.raises(CNMError, match=r"spacy-cnm\[demo\]"):
        evaluate(str(demo_folder), test_file, baseline="jieba")


def test_errors(
    demo_folder: Path,
    test_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "meta.json").write_text('{"lang": "zh", "name": "x"}', encoding="utf-8")
    (broken / "config.cfg").write_text('[nlp]\nlang = "zh"\npipeline = ["no_such"]\n')
    out = tmp_path / "out.json"
    for arguments, message in (
        ((tmp_path / "none", test_file, out), "no such pipeline"),
        ((broken, test_file, out), "cannot be loaded"),
        ((demo_folder, tmp_path / "none.spacy", out), "cannot be read"),
        ((demo_folder, test_file, tmp_path), "is a folder"),
        ((demo_folder, test_file, out, "--gpu-id", "99"), "GPU 99 cannot be used"),
    ):
        assert run(monkeypatch, "evaluate", *arguments) == 1
        error = capsys.readouterr().err
        assert error.startswith("Error: ")
        assert error.count("\n") == 1
        assert message in error
    assert not out.exists()


def test_pipe_runs_every_text_once(demo_nlp: Language) -> None:
    texts = ["王小明在北京。", "", " ", "很好！"]
    docs, speed = run_texts(demo_nlp, texts, batch_size=2)
    assert [doc.text for doc in docs] == texts
    assert (speed.docs, speed.characters, speed.batch_size) == (4, 11, 2)
    assert all(doc._.trf_data is None for doc in docs)


def test_show(
    demo_folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "show", demo_folder, "王小明在北京。", "很好，天气好！") == 0
    first, second = capsys.readouterr().out.rstrip().split("\n\n")
    assert first.startswith("王小明在北京。\n  words       王小明/nr 在/p 北京/ns 。/w\n")
    assert "  entities    王小明  PER\n              北京    LOC\n" in first
    assert "  category    positive  " in second
    assert "\x1b" not in first

    assert run(monkeypatch, "show", demo_folder) == 0
    assert "䶮 U+4DAE not in the vocabulary, structure ⿱龙天" in capsys.readouterr().out


def test_help_needs_no_spacy() -> None:
    code = (
        "import sys; from spacy_cnm.cli import evaluate; "
        "sys.exit(' '.join(m for m in ('spacy', 'torch') if m in sys.modules))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.strip() == ""


def test_entities_outside_the_vocabulary(
    demo_folder: Path, demo_nlp: Language, test_file: Path
) -> None:
    """王䶮 is the only gold entity with a character that the small vocabulary lacks."""
    values = evaluate(str(demo_folder), test_file, baseline="none").scores.values
    assert values["ents_outside"] == 1
    found = [ent.text for ent in demo_nlp("他在上海见到了王䶮。").ents]
    assert values["ents_outside_r"] == float("王䶮" in found)


def test_documents_that_training_has_too(
    demo_folder: Path, test_file: Path, records: list[Record], tmp_path: Path
) -> None:
    train = tmp_path / "train.spacy"
    spaced = dataclasses.replace(records[0], text=f" {records[0].text}", entities=None, words=None)
    write_docs([spaced, records[3]], train)
    evaluation = evaluate(str(demo_folder), test_file, baseline="none", train=train)
    assert evaluation.unseen is not None
    gold, scores = evaluation.unseen
    assert [doc.text for doc in gold.docs] == [records[i].text for i in (1, 2, 4)]
    assert gold.entities == {"PER": 1, "LOC": 2}
    assert scores.values["ents_outside"] == 1
    assert evaluation.to_dict()["unseen"]["test"]["docs"] == 3
    assert any(line.startswith("3 documents not in training: ") for line in table(evaluation))
    scores.values["ents_f"] = 0.0
    assert any("ents_f 0.0000" in line for line in table(evaluation))
