"""Where a sentence ends, and when two are the same."""

from pathlib import Path

import pytest

from spacy_cnm.corpora.plain_text import write_texts
from spacy_cnm.corpora.records import Place, Reason, Record
from spacy_cnm.corpora.sentences import sentence_ends, sentence_keys
from spacy_cnm.corpora.splits import deduplicate
from spacy_cnm.errors import CNMError

PLACE = Place("x", 1)


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", []),
        ("没有句号", []),
        ("好。坏！怎么？走", [2, 4, 7]),
        ("真的吗？！他问。", [5, 8]),
        ("他说：“好。”我走。", [7, 10]),
        ("（见图。）下", [5]),
        ("好!坏?", [2, 4]),
        ("3.5倍", []),
    ],
)
def test_ends(text: str, ends: list[int]) -> None:
    assert list(sentence_ends(text)) == ends


def test_keys_ignore_white_space_and_punctuation() -> None:
    assert sentence_keys("“天气 很好。”我\u3000走！") == {"天气很好", "我走"}
    assert (
        sentence_keys("天气很好") == sentence_keys("天气，很好！") == sentence_keys(" 天气很好。")
    )
    assert sentence_keys("OK!") == {"OK"}


def test_pieces_without_a_letter_are_no_sentences() -> None:
    assert sentence_keys("……。!!! 100。５％？") == frozenset()
    assert sentence_keys("") == frozenset()


def test_no_sentence_is_in_two_splits() -> None:
    parts = {
        "test": [Record("甲。乙。", PLACE), Record("乙！丙", PLACE)],
        "dev": [Record("丁。", PLACE), Record("戊。丙。", PLACE)],
        "train": [
            Record("甲", PLACE),
            Record("己。丁？", PLACE),
            # 戊 stands in a text of dev that was left out, so it is free
            Record("戊。庚。", PLACE),
            Record("庚。", PLACE),
            Record("100。", PLACE),
        ],
    }
    kept, left_out = deduplicate(parts)
    assert {split: [record.text for record in records] for split, records in kept.items()} == {
        "test": ["甲。乙。", "乙！丙"],
        "dev": ["丁。"],
        "train": ["戊。庚。", "庚。", "100。"],
    }
    assert [(reason, record.text) for reason, record in left_out] == [
        (Reason.SHARED_SENTENCE, "戊。丙。"),
        (Reason.SHARED_SENTENCE, "甲"),
        (Reason.SHARED_SENTENCE, "己。丁？"),
    ]


def test_plain_text_is_one_text_a_line(tmp_path: Path) -> None:
    texts = ["一\n二", "三\r\n四\r五\u2028六", "", "\t七 "]
    write_texts([Record(text, PLACE) for text in texts], tmp_path / "new" / "a.txt")
    content = (tmp_path / "new" / "a.txt").read_bytes().decode("utf-8")
    assert content == "一 二\n三 四 五 六\n\n\t七 \n"
    with pytest.raises(CNMError, match="is a folder"):
        write_texts([], tmp_path)
