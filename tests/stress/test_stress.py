"""`spacy-cnm stress` and the augmenter, on a small pipeline in training."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_cnm.cli import main
from spacy_cnm.corpora.docs import make_doc, write_docs
from spacy_cnm.corpora.records import Place, Record, Span
from spacy_cnm.errors import CNMError
from spacy_cnm.evaluation.vocabulary import vocabulary_of
from spacy_cnm.stress.augmenter import make_rare_names_augmenter
from spacy_cnm.stress.stress import score_labels

RECORDS = [
    Record(
        f"他在{place}见到了王小明",
        Place("x", i + 1),
        entities=(Span(2, 4, "LOC"), Span(7, 10, "PER")),
    )
    for i, place in enumerate(["北京", "上海", "香港"])
]


@pytest.fixture(scope="module")
def nlp(train_pipeline: Callable[..., Language]) -> Language:
    """A pipeline that finds the names that it has seen."""
    return train_pipeline(("ner",), RECORDS, steps=60)


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["spacy-cnm", "stress", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_command(
    nlp: Language,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model, test = tmp_path / "model", tmp_path / "test.spacy"
    nlp.to_disk(model)
    write_docs(RECORDS, test)
    outs = [tmp_path / f"{i}.json" for i in range(2)]
    for out in outs:
        assert run(monkeypatch, model, test, out) == 0
    assert outs[0].read_bytes() == outs[1].read_bytes()
    found = json.loads(outs[0].read_text(encoding="utf-8"))
    rows = ["before", "one", "most", "all", "elsewhere", "everywhere"]
    assert list(found["results"]) == rows
    assert found["results"]["before"]["r"] == 1.0
    characters = [found["results"][s]["characters"] for s in ("one", "most", "all")]
    assert characters == [3, 6, 9]
    assert found["results"]["one"]["names"] == 3
    assert [found["results"][row]["changed"] for row in rows[1:]] == [3, 3, 3, 0, 3]
    outside = [found["results"][row]["elsewhere"] for row in rows[1:]]
    assert outside[:3] == [0, 0, 0]
    assert outside[3] == outside[4] > 0
    assert "before" in capsys.readouterr().out

    assert run(monkeypatch, model, test, outs[0], "--label", "PERSON") == 1
    assert "it has: LOC, PER" in capsys.readouterr().err
    assert run(monkeypatch, model, test, outs[0], "--label", "PER", "--label", "XX") == 1
    assert "label XX; it has: LOC, PER" in capsys.readouterr().err
    common = tmp_path / "common.txt"
    common.write_text("王小明", encoding="utf-8")
    assert run(monkeypatch, model, test, outs[0], "--characters", common) == 1
    assert "rarer ones" in capsys.readouterr().err


def test_score_labels_counts_only_them(nlp: Language) -> None:
    docs = [make_doc(nlp, record) for record in RECORDS]
    assert score_labels(nlp, docs, {"PER"}) == {"p": 1.0, "r": 1.0, "f": 1.0}
    assert score_labels(nlp, docs, {"ORG"}) == {"p": 0.0, "r": 0.0, "f": 0.0}


def test_augmenter(nlp: Language) -> None:
    vocabulary = vocabulary_of(nlp)
    assert vocabulary is not None
    example = Example(nlp.make_doc(RECORDS[0].text), make_doc(nlp, RECORDS[0]))
    augment = make_rare_names_augmenter(level=0.5, labels=["PER"], seed=1)
    texts = [[new.text for new in augment(nlp, example)] for _ in range(200)]
    assert {found[0] for found in texts} == {RECORDS[0].text}
    changed = [found[1] for found in texts if len(found) == 2]
    assert 70 < len(changed) < 130
    assert len(set(changed)) > 10
    for text in changed:
        assert text[:8] + text[9:] == RECORDS[0].text[:8] + RECORDS[0].text[9:]
        assert vocabulary.lacks(text[8])
    again = make_rare_names_augmenter(level=0.5, labels=["PER"], seed=1)
    assert texts == [[new.text for new in again(nlp, example)] for _ in range(200)]


def test_augmenter_by_its_registered_name_before_and_without_an_encoder(nlp: Language) -> None:
    augment = spacy.registry.augmenters.get("spacy_cnm.rare_names.v1")(level=1.0)
    example = Example(nlp.make_doc(RECORDS[0].text), make_doc(nlp, RECORDS[0]))
    with pytest.raises(CNMError, match="no CNM-BERT"):
        list(augment(spacy.blank("zh"), example))
    new = spacy.blank("zh")
    new.add_pipe("transformer", config={"model": nlp.config["components"]["transformer"]["model"]})
    assert [found.text for found in augment(new, example)] == [RECORDS[0].text]
    assert len(list(augment(nlp, example))) == 2


def test_an_augmenter_of_level_zero_changes_nothing(nlp: Language) -> None:
    augment = make_rare_names_augmenter(level=0.0, elsewhere=0.05)
    example = Example(nlp.make_doc(RECORDS[0].text), make_doc(nlp, RECORDS[0]))
    for some in (nlp, spacy.blank("zh")):
        (found,) = augment(some, example)
        assert found is example


def test_augmenter_without_a_rare_character(nlp: Language, tmp_path: Path) -> None:
    path = tmp_path / "common.txt"
    path.write_text("王小明", encoding="utf-8")
    augment = make_rare_names_augmenter(level=1.0, characters=path)
    example = Example(nlp.make_doc(RECORDS[0].text), make_doc(nlp, RECORDS[0]))
    with pytest.raises(CNMError, match="rarer ones"):
        list(augment(nlp, example))


def test_augmenter_changes_what_is_no_name_too(nlp: Language) -> None:
    vocabulary = vocabulary_of(nlp)
    assert vocabulary is not None
    record = Record("北京很好。" * 40, Place("x", 1))  # without a name
    example = Example(nlp.make_doc(record.text), make_doc(nlp, record))
    augment = make_rare_names_augmenter(level=1.0, elsewhere=0.25)
    _, new = augment(nlp, example)
    places = [i for i, char in enumerate(new.text) if char != record.text[i]]
    assert 20 < len(places) < 60
    assert all(vocabulary.lacks(new.text[i]) and record.text[i] != "。" for i in places)
    assert len(list(make_rare_names_augmenter(level=1.0)(nlp, example))) == 1


def test_names_that_cannot_change(
    nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    """A document is not trained on twice as it is; the stress test has nothing to say."""
    record = Record("他是J·K", Place("x", 1), entities=(Span(2, 5, "PER"),))
    example = Example(nlp.make_doc(record.text), make_doc(nlp, record))
    assert len(list(make_rare_names_augmenter(level=1.0)(nlp, example))) == 1
    write_docs([record], tmp_path / "test.spacy")
    nlp.to_disk(tmp_path / "model")
    arguments = (tmp_path / "model", tmp_path / "test.spacy", tmp_path / "out.json")
    assert run(monkeypatch, *arguments) == 1
    assert "none of the names (PER)" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()


SETTINGS = [
    {"labels": "PER"},
    {"level": 1.5},
    {"severity": "half"},
    {"severity": None},
    {"keep": "frist"},
    {"elsewhere": -0.1},
    {"elsewhere": float("nan")},
]


@pytest.mark.parametrize("settings", SETTINGS)
def test_augmenter_refuses(settings: dict[str, object]) -> None:
    with pytest.raises(CNMError):
        make_rare_names_augmenter(**settings)
