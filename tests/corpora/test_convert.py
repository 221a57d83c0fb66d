"""What all converters share: the dev set that is cut, joined documents, and all or nothing."""

import json
from pathlib import Path

import pytest

from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.splits import place_of_text
from spacy_cnm.errors import CNMError


def write(path: Path, sentences: list[str]) -> Path:
    lines = "\n".join("".join(f"{char}\tO\n" for char in sentence) for sentence in sentences)
    path.write_text(lines, encoding="utf-8")
    return path


def test_dev_set_by_content_in_the_order_of_the_file(tmp_path: Path) -> None:
    sentences = [f"第{i}句" for i in range(200)]
    source = write(tmp_path / "a.bio", [*sentences, sentences[7]])
    train, dev, text = (tmp_path / name for name in ("t.spacy", "d.spacy", "t.txt"))
    _, summaries = convert_ner(source, train, dev=dev, dev_share=0.2, text=text)
    kept, cut = ([doc.text for doc in read_docs(path)] for path in (train, dev))
    assert sorted(kept + cut) == sorted([*sentences, sentences[7]])
    assert kept == [s for s in [*sentences, sentences[7]] if place_of_text(s) >= 0.2]
    assert cut == [s for s in [*sentences, sentences[7]] if place_of_text(s) < 0.2]
    assert not set(kept) & set(cut)
    assert 25 < len(cut) < 55
    assert text.read_text(encoding="utf-8").splitlines() == kept
    assert [summary.docs for summary in summaries] == [len(kept), len(cut)]
    report = json.loads((tmp_path / "t.report.json").read_text(encoding="utf-8"))
    assert (report["dev"]["docs"], report["dev_share"]) == (len(cut), 0.2)


def test_share_that_leaves_a_side_empty(tmp_path: Path) -> None:
    source = write(tmp_path / "a.bio", ["好"])
    for share in (0.0, 1.0):
        with pytest.raises(CNMError, match="would be empty"):
            convert_ner(source, tmp_path / "t.spacy", dev=tmp_path / "d.spacy", dev_share=share)
    with pytest.raises(CNMError):
        convert_ner(source, tmp_path / "t.spacy", dev=tmp_path / "t.spacy", dev_share=0.5)
    assert [path.name for path in tmp_path.iterdir()] == ["a.bio"]


def test_docstart_is_a_boundary_and_no_text(tmp_path: Path) -> None:
    source, target = tmp_path / "a.bio", tmp_path / "a.spacy"
    source.write_text(
        "-DOCSTART- O\n\n王 B-PER\n来 O\n\n好 O\n\n-DOCSTART- O\n沪 B-LOC\n", encoding="utf-8"
    )
    convert_ner(source, target)
    assert [doc.text for doc in read_docs(target)] == ["王来", "好", "沪"]
    report, (summary,) = convert_ner(source, target, documents=True)
    first, second = read_docs(target)
    assert [s.text for s in first.sents] == ["王来", "好"]
    assert [(e.text, e.label_) for e in (*first.ents, *second.ents)] == [
        ("王", "PER"),
        ("沪", "LOC"),
    ]
    assert (report.read, summary.docs) == (3, 2)


def test_no_boundaries_to_join_at(tmp_path: Path) -> None:
    source = write(tmp_path / "a.bio", ["好", "来"])
    with pytest.raises(CNMError, match="without --documents"):
        convert_ner(source, tmp_path / "a.spacy", documents=True)
    assert not (tmp_path / "a.spacy").exists()


def test_dev_of_msra(shared: Path, tmp_path: Path) -> None:
    source = shared / "corpora/ner/msra/train.bio"
    train, dev = tmp_path / "train.spacy", tmp_path / "dev.spacy"
    report, summaries = convert_ner(source, train, dev=dev)
    assert report.read == 50_652
    assert sum(s.docs for s in summaries) == 50_652 - report.dropped.total()
    assert summaries[1].docs / report.read == pytest.approx(0.05, abs=0.005)
