"""Words and entities of the People's Daily format."""

import pytest

from spacy_cnm.corpora.peoples_daily import parse_paragraph, person_names
from spacy_cnm.corpora.records import Place, Reason, Record, Rejected

PLACE = Place("199801.txt", 3)


def entities(line: str) -> list[tuple[str, str]]:
    record = parse_paragraph(line, PLACE)
    assert isinstance(record, Record)
    return [(record.text[s.start : s.end], s.label) for s in record.entities or ()]


def test_words_and_text() -> None:
    record = parse_paragraph("１２月/t  王/nr 红/nr   到/v  沪/j  。/w", PLACE)
    assert isinstance(record, Record)
    assert record.text == "１２月王红到沪。"
    words = [(record.text[w.start : w.end], w.label) for w in record.words or ()]
    assert words == [
        ("１２月", "t"),
        ("王", "nr"),
        ("红", "nr"),
        ("到", "v"),
        ("沪", "j"),
        ("。", "w"),
    ]
    assert record.cats is None


@pytest.mark.parametrize(
    ("words", "sizes"),
    [
        ("王 建国", [2]),
        ("王 红", [2]),
        ("王", [1]),
        ("欧阳 海", [2]),
        ("诸葛 建国", [2]),
        ("保罗 玛丽", [1, 1]),
        ("约翰·史密斯", [1]),
        ("王 建国 李 红", [2, 2]),
        ("王 红 李 明 张 建国", [2, 2, 2]),
        ("陈 方 安生", [3]),
        ("王 红 李", [2, 1]),
        ("王 建国 小红", [2, 1]),
        ("小红 王 建国", [1, 2]),
        ("保罗 王 红", [1, 2]),
        ("欧阳 王 建国", [2, 1]),
    ],
)
def test_person_names(words: str, sizes: list[int]) -> None:
    assert person_names(words.split()) == sizes


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("王/nr 红/nr 、/w 李/nr 明/nr", [("王红", "PER"), ("李明", "PER")]),
        ("王/nr 主任/n 和/c 红红/nr", [("王", "PER"), ("红红", "PER")]),
        ("北京/ns 海淀/ns 新华社/nt", [("北京", "LOC"), ("海淀", "LOC"), ("新华社", "ORG")]),
        ("邓小平理论/n", []),
        ("[中央/n  电视台/n]nt  记者/n", [("中央电视台", "ORG")]),
        ("[北京/ns 大学/n]/nt", [("北京大学", "ORG")]),
        ("[北京/ns 烤鸭/n]nz 店/n", []),
        ("王/nr [红/nr 明/nr]nr 李/nr 明/nr", [("王", "PER"), ("红明", "PER"), ("李明", "PER")]),
        ("19980101-01-001-002/m  上海/ns", [("上海", "LOC")]),
        ("[/w 上海/ns ]/w", [("上海", "LOC")]),
    ],
)
def test_entities(line: str, expected: list[tuple[str, str]]) -> None:
    assert entities(line) == expected


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("王/nr 红", Reason.BAD_WORD),
        ("王/nr /w", Reason.BAD_WORD),
        ("王/nr 红/", Reason.BAD_WORD),
        ("[中央/n 电视台/n", Reason.BAD_BRACKET),
        ("中央/n 电视台/n]nt", Reason.BAD_BRACKET),
        ("[中央/n [电视台/n]nt", Reason.BAD_BRACKET),
    ],
)
def test_bad_lines_are_rejected(line: str, reason: str) -> None:
    item = parse_paragraph(line, PLACE)
    assert isinstance(item, Rejected)
    assert item.finding.reason == reason
    assert item.finding.place == PLACE


def test_slash_in_a_word() -> None:
    record = parse_paragraph("１/２/m", PLACE)
    assert isinstance(record, Record)
    assert record.text == "１/２"
