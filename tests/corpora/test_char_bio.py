"""Character-level BIO and Weibo's original format: what a sentence becomes, and what is refused."""

from pathlib import Path

import pytest

from spacy_cnm.corpora.char_bio import read_char_bio
from spacy_cnm.corpora.records import Reason, Record, Rejected, Span
from spacy_cnm.corpora.text_files import read_lines
from spacy_cnm.corpora.weibo import looks_like_weibo, read_weibo


def bio(path: Path, content: str) -> list[Record | Rejected]:
    path.write_text(content, encoding="utf-8", newline="")
    return list(read_char_bio(path))


def record(item: Record | Rejected) -> Record:
    assert isinstance(item, Record)
    return item


def rejected(item: Record | Rejected) -> tuple[str, int]:
    assert isinstance(item, Rejected)
    return item.finding.reason, item.finding.place.line


def test_sentences_in_order_with_places(tmp_path: Path) -> None:
    items = bio(tmp_path / "a.bio", "\n王\tB-PER\n红\tI-PER\n来\tO\n\n\n沪\tB-LOC\n沪\tB-LOC\n")
    first, second = map(record, items)
    assert (first.text, first.entities) == ("王红来", (Span(0, 2, "PER"),))
    assert (first.place.line, second.place.line) == (2, 7)
    assert second.entities == (Span(0, 1, "LOC"), Span(1, 2, "LOC"))
    assert first.words is None
    assert first.cats is None


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_bom_line_ends_and_space_as_separator(tmp_path: Path, ending: str) -> None:
    content = "\ufeff" + ending.join(["王 B-PER", "来 O", "", "好 O", ""])
    assert [record(item).text for item in bio(tmp_path / "a.bio", content)] == ["王来", "好"]


def test_white_space_and_long_tokens(tmp_path: Path) -> None:
    family = "👨\u200d👩\u200d👧"
    content = f"\u3000\tO\n \tO\n王\tB-PER\n{family}\tO\n\u2028\tO\n李\tB-PER\n"
    (item,) = map(record, bio(tmp_path / "a.bio", content))
    assert item.text == f"\u3000 王{family}\u2028李"
    assert [item.text[s.start : s.end] for s in item.entities or ()] == ["王", "李"]


def test_orphan_inside_is_read_as_begin(tmp_path: Path) -> None:
    (item,) = map(record, bio(tmp_path / "a.bio", "我\tO\n王\tI-PER\n红\tI-PER\n沪\tI-LOC\n"))
    assert item.entities == (Span(1, 3, "PER"), Span(3, 4, "LOC"))
    assert [(f.reason, f.place.line) for f in item.repairs] == [
        (Reason.ORPHAN, 2),
        (Reason.ORPHAN, 4),
    ]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("王", Reason.MISSING_COLUMN),
        ("王\t", Reason.MISSING_COLUMN),
        ("\tO", Reason.MISSING_COLUMN),
        ("王\tB-PER\tO", Reason.EXTRA_COLUMN),
        ("王\tS-PER", Reason.BAD_TAG),
        ("王\tB-", Reason.BAD_TAG),
        ("王\tB", Reason.BAD_TAG),
        ("王\tb-PER", Reason.BAD_TAG),
    ],
)
def test_bad_line_rejects_its_sentence_only(tmp_path: Path, line: str, reason: str) -> None:
    before, bad, after = bio(tmp_path / "a.bio", f"我\tO\n\n你\tO\n{line}\n\n他\tO\n")
    assert rejected(bad) == (reason, 4)
    assert (record(before).text, record(after).text) == ("我", "他")


def test_weibo_tokens(tmp_path: Path) -> None:
    path = tmp_path / "w.conll"
    lost = "\ufffd\ufffd"
    lines = [
        "王0\tB-PER.NAM",
        "红1\tI-PER.NAM",
        "10\tO",  # the digit 1 at position 0
        *[f"{i % 10}{i}\tO" for i in range(1, 11)],  # ... 010: the digit 0 at position 10
        f"{lost}0\tO",
        "\ufffd0\tO",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (item,) = map(record, read_weibo(path))
    assert item.text == "王红11234567890\ufffd\ufffd"
    assert item.entities == (Span(0, 2, "PER.NAM"),)
    assert [f.reason for f in item.notes] == [Reason.LOST_EMOJI]


def test_weibo_bad_token_and_jump(tmp_path: Path) -> None:
    path = tmp_path / "w.conll"
    path.write_text("王0\tO\n红\tO\n\n王0\tO\n红2\tO\n\n王123\tO\n", encoding="utf-8")
    bad, jump, long = read_weibo(path)
    assert rejected(bad) == (Reason.BAD_POSITION, 2)
    assert [f.reason for f in record(jump).notes] == [Reason.POSITION_JUMP]
    assert rejected(long) == (Reason.BAD_POSITION, 7)


def test_auto_detection() -> None:
    assert looks_like_weibo(["王0\tO", "红1\tO", "", "\ufffd\ufffd0\tO"])
    assert not looks_like_weibo(["王\tO", "1\tO"])
    assert not looks_like_weibo(["1\tO", "2\tO"])
    assert not looks_like_weibo([])


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_weibo_original_equals_the_plain_file(shared: Path, split: str) -> None:
    folder = shared / "corpora" / "ner" / "weibo"
    original = folder / f"weiboNER_2nd_conll.{split}"
    assert looks_like_weibo(read_lines(original))
    ours = [(r.text, r.entities) for r in map(record, read_weibo(original))]
    plain = [(r.text, r.entities) for r in map(record, read_char_bio(folder / f"{split}.bio"))]
    assert ours == plain
