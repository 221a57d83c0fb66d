"""Splits, repeats, the order of the mix, and cutting long texts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cnm.corpora.long_texts import split_long
from spacy_cnm.corpora.records import Place, Reason, Record, Span
from spacy_cnm.corpora.splits import deduplicate, interleave, split_of_position, split_of_text

PLACE = Place("x", 1)


def texts(records: list[Record]) -> list[str]:
    return [record.text for record in records]


def of(*values: str) -> list[Record]:
    return [Record(value, PLACE) for value in values]


def test_by_position_is_ordered() -> None:
    splits = [split_of_position(i, 200) for i in range(200)]
    assert splits == ["train"] * 180 + ["dev"] * 10 + ["test"] * 10


def test_by_text_is_about_90_5_5() -> None:
    counts = Counter(split_of_text(f"评论{i}") for i in range(4000))
    assert counts["test"] == pytest.approx(200, abs=45)
    assert counts["dev"] == pytest.approx(200, abs=45)
    assert split_of_text("很好") == split_of_text("很好")


def test_test_wins_over_dev_over_train() -> None:
    parts = {"train": of("a", "b", "a", "c", "d"), "dev": of("b", "c"), "test": of("c", "e", "e")}
    kept, left_out = deduplicate(parts)
    assert {split: texts(records) for split, records in kept.items()} == {
        "train": ["a", "d"],
        "dev": ["b"],
        "test": ["c", "e"],
    }
    by_reason = sorted((reason, record.text) for reason, record in left_out)
    assert by_reason == [
        (Reason.DUPLICATE, "a"),
        (Reason.DUPLICATE, "e"),
        (Reason.DUPLICATE_ACROSS, "b"),
        (Reason.DUPLICATE_ACROSS, "c"),
        (Reason.DUPLICATE_ACROSS, "c"),
    ]


def test_interleave_is_even_and_keeps_order() -> None:
    mixed = texts(interleave([of("1", "2", "3", "4"), of("a", "b"), of("x")]))
    assert mixed == ["1", "a", "2", "x", "3", "b", "4"]
    assert interleave([[], []]) == []


def test_cuts_at_sentence_ends_only() -> None:
    text = "他说：“好。”我走。" + "长" * 12 + "！" + "短？完"
    pieces = split_long(Record(text, PLACE), limit=10)
    assert texts(pieces) == ["他说：“好。”我走。", "长" * 12 + "！", "短？完"]
    assert texts(split_long(Record(text, PLACE), limit=6)) == [
        "他说：“好。”",  # one sentence of 7 characters stays whole
        "我走。",
        "长" * 12 + "！",
        "短？完",
    ]


def test_no_entity_is_cut_and_cats_belong_to_the_whole() -> None:
    record = Record("一。二。三。", PLACE, entities=(Span(1, 3, "X"), Span(4, 5, "Y")), words=())
    first, second = split_long(record, limit=4)
    assert (first.text, first.entities) == ("一。二。", (Span(1, 3, "X"),))
    assert (second.text, second.entities) == ("三。", (Span(0, 1, "Y"),))
    review = Record("好。" * 9, PLACE, cats={"positive": 1.0})
    assert split_long(review, limit=4) == [review]


@given(st.lists(st.sampled_from(["字", "字字字", "。", "！", "”"])), st.integers(1, 12))
def test_nothing_is_lost(words: list[str], limit: int) -> None:
    spans = []
    end = 0
    for word in words:
        spans.append(Span(end, end + len(word), "n", word))
        end += len(word)
    record = Record("".join(words), PLACE, words=tuple(spans))
    pieces = split_long(record, limit)
    assert "".join(texts(pieces)) == record.text
    found = [p.text[w.start : w.end] for p in pieces for w in p.words or ()]
    assert found == words
    assert len(pieces) == 1 or all(piece.text for piece in pieces)
