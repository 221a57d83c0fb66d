"""The scores of other segmenters."""

import importlib.util
from pathlib import Path

import pytest
import spacy

from spacy_cnm.corpora import jieba_baseline
from spacy_cnm.corpora.docs import make_doc, write_docs
from spacy_cnm.corpora.records import Place, Record, Span
from spacy_cnm.errors import CNMError

RECORD = Record(
    "我们在上海。",
    Place("x", 1),
    words=(Span(0, 2, "r"), Span(2, 3, "p"), Span(3, 5, "ns"), Span(5, 6, "w")),
)


def test_score_compares_character_spans() -> None:
    doc = make_doc(spacy.blank("zh"), RECORD)
    assert jieba_baseline.score([doc], lambda text: ["我们", "在", "上海", "。"]) == (1, 1, 1)
    precision, recall, _ = jieba_baseline.score([doc], lambda text: ["我们", "在上海", "。"])
    assert (precision, recall) == (2 / 3, 2 / 4)


def test_white_space_is_no_word() -> None:
    doc = spacy.blank("zh").make_doc("人 \u3000走路")
    for token, tag in zip(doc, ["B-n", "", "B-v", "I-v"], strict=True):
        token.tag_ = tag
    for cut in (["人", " ", "\u3000", "走路"], ["人", " \u3000", "走路"], ["人", "走路"]):
        assert jieba_baseline.score([doc], lambda text, cut=cut: cut) == (1, 1, 1)


def test_jieba_with_and_without_hmm() -> None:
    pytest.importorskip("rjieba")
    found = jieba_baseline.segmenters()
    assert {"jieba (HMM)", "jieba (no HMM)"} <= found.keys()
    assert list(found["jieba (HMM)"]("我们在上海。")) == ["我们", "在", "上海", "。"]
    unknown = "他叫王翊晗"
    for segment in found.values():
        assert "".join(segment(unknown)) == unknown


def test_without_rjieba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CNMError, match=r"spacy-cnm\[demo\]"):
        jieba_baseline.segmenters()


def test_read_gold(tmp_path: Path) -> None:
    write_docs([RECORD, Record("好", RECORD.place)], tmp_path / "a.spacy")
    assert [doc.text for doc in jieba_baseline.read_gold(tmp_path / "a.spacy")] == [RECORD.text]
    write_docs([Record("好", RECORD.place)], tmp_path / "b.spacy")
    with pytest.raises(CNMError, match="no document has tags"):
        jieba_baseline.read_gold(tmp_path / "b.spacy")
    (tmp_path / "c.spacy").write_bytes(b"not docs")
    with pytest.raises(CNMError, match="damaged"):
        jieba_baseline.read_gold(tmp_path / "c.spacy")
    with pytest.raises(CNMError, match="cannot be read"):
        jieba_baseline.read_gold(tmp_path / "none.spacy")
