"""CoNLL-U: words on the characters of the text, and every kind of line of the format."""

from pathlib import Path

import pytest

from spacy_cnm.corpora.conllu import read_conllu
from spacy_cnm.corpora.convert import convert
from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.corpora.records import Reason, Record, Rejected, Span
from spacy_cnm.corpora.segmentation import words_from_labels
from spacy_cnm.corpora.text_readers import read_texts


def row(number: str, form: str, upos: str = "NOUN", xpos: str = "NN") -> str:
    return "\t".join([number, form, "_", upos, xpos, *"_____"])


def read(path: Path, *lines: str, tags: str = "upos") -> list[Record | Rejected]:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(read_conllu(path, tags))


def words(item: Record | Rejected) -> list[tuple[str, str]]:
    assert isinstance(item, Record)
    return [(item.text[s.start : s.end], s.label) for s in item.words or ()]


def test_words_stand_in_the_text(tmp_path: Path) -> None:
    (item,) = read(
        tmp_path / "a.conllu",
        "# sent_id = 1",
        "# text = 用 Mac 很好。",
        row("1", "用", "VERB", "VV"),
        row("2", "Mac", "PROPN"),
        row("3", "很好", "ADJ"),
        row("4", "。", "PUNCT", "."),
    )
    assert isinstance(item, Record)
    assert item.text == "用 Mac 很好。"
    assert item.words == (
        Span(0, 1, "VERB"),
        Span(2, 5, "PROPN"),
        Span(6, 8, "ADJ"),
        Span(8, 9, "PUNCT"),
    )
    assert (item.place.line, item.entities, item.document) == (3, None, None)


def test_tags_of_either_column_and_no_text(tmp_path: Path) -> None:
    lines = [row("1", "重慶", "PROPN", "NR"), row("2", "熱", "ADJ", "VA")]
    assert words(read(tmp_path / "a.conllu", *lines)[0]) == [("重慶", "PROPN"), ("熱", "ADJ")]
    (item,) = read(tmp_path / "a.conllu", *lines, tags="xpos")
    assert words(item) == [("重慶", "NR"), ("熱", "VA")]
    assert isinstance(item, Record)
    assert item.text == "重慶熱"


def test_multi_word_tokens_and_empty_nodes(tmp_path: Path) -> None:
    (item,) = read(
        tmp_path / "a.conllu",
        "# text = 甭说了好了",
        row("1-2", "甭", "_", "_"),
        row("1", "不", "ADV"),
        row("2", "用", "AUX"),
        row("2.1", "他", "PRON"),
        row("3-4", "说了", "_", "_"),
        row("3", "说", "VERB"),
        row("4", "了", "PART"),
        row("5", "好", "ADJ"),
        row("6", "了", "PART"),
    )
    assert words(item) == [
        ("甭", "ADV"),
        ("说", "VERB"),
        ("了", "PART"),
        ("好", "ADJ"),
        ("了", "PART"),
    ]
    assert isinstance(item, Record)
    assert sorted((found.reason, found.place.line) for found in item.notes) == [
        (Reason.EMPTY_NODE, 5),
        (Reason.MULTI_WORD, 2),
    ]


@pytest.mark.parametrize(
    ("lines", "reason", "line"),
    [
        (["# text = 北京", row("1", "南京")], Reason.WORDS_TEXT, 2),
        (["# text = 北京很热", row("1", "北京")], Reason.WORDS_TEXT, 2),
        (["# text = 北京", row("1", "北京"), row("2", "热")], Reason.WORDS_TEXT, 3),
        ([row("1", "北京"), row("3", "热")], Reason.BAD_NUMBER, 2),
        ([row("x", "北京")], Reason.BAD_NUMBER, 1),
        ([row("1", "北京", "_")], Reason.BAD_WORD, 1),
        ([row("1", "北京") + "\t_"], Reason.EXTRA_COLUMN, 1),
        (["1\t北京\tNOUN"], Reason.MISSING_COLUMN, 1),
        ([row("1.1", "北京")], Reason.EMPTY_TEXT, 1),
        ([row("1-2", "北京", "_")], Reason.BAD_NUMBER, 1),
        ([row("1-1", "北京", "_"), row("1", "北京")], Reason.BAD_NUMBER, 1),
        ([row("2-1", "北京", "_"), row("1", "北京")], Reason.BAD_NUMBER, 1),
        (
            [row("1-3", "北"), row("1", "北"), row("2-3", "京"), row("2", "京"), row("3", "京")],
            Reason.BAD_NUMBER,
            3,
        ),
    ],
)
def test_unusable_sentences(tmp_path: Path, lines: list[str], reason: str, line: int) -> None:
    bad, good = read(tmp_path / "a.conllu", *lines, "", row("1", "好", "ADJ"))
    assert isinstance(bad, Rejected)
    assert (bad.finding.reason, bad.finding.place.line) == (reason, line)
    assert words(good) == [("好", "ADJ")]


def test_documents_are_joined_with_their_sentences(tmp_path: Path) -> None:
    path, target = tmp_path / "a.conllu", tmp_path / "a.spacy"
    lines = ["# newdoc id = 1", row("1", "子"), row("2", "曰"), "", row("1", "学"), ""]
    lines += ["# newdoc id = 2", "", "# newpar", row("1", "有朋"), ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    convert(read_conllu, path, target, documents=True)
    first, second = read_docs(target)
    assert [sentence.text for sentence in first.sents] == ["子曰", "学"]
    assert [token.tag_ for token in first] == ["B-NOUN", "B-NOUN", "B-NOUN"]
    assert (second.text, [token.tag_ for token in second]) == ("有朋", ["B-NOUN", "I-NOUN"])
    convert(read_conllu, path, target)
    assert [doc.text for doc in read_docs(target)] == ["子曰", "学", "有朋"]


@pytest.mark.parametrize(
    ("name", "sentences", "n_words"),
    [
        ("ud_gsdsimp/dev.conllu", 500, 12663),
        ("ud_gsd_v1_traditional/test.conllu", 500, 12012),
        ("ud_kyoto_lzh/test.conllu", 2073, 10562),
        ("ud_hk/test.conllu", 1004, 9874),
    ],
)
def test_treebanks_are_read_whole(
    shared: Path, tmp_path: Path, name: str, sentences: int, n_words: int
) -> None:
    path, target = shared / "corpora/pos" / name, tmp_path / "a.spacy"
    report, (summary,) = convert(read_conllu, path, target)
    assert (report.read, summary.docs) == (sentences, sentences - report.dropped.total())
    assert report.dropped.total() <= 5
    assert abs(summary.words - n_words) <= 200
    docs = read_docs(target)
    if not report.dropped:
        assert [doc.text for doc in docs] == list(read_texts(path))
        assert summary.words == n_words
    found = sum(len(words_from_labels([token.tag_ for token in doc])) for doc in docs)
    spaces = sum(token.is_space for doc in docs for token in doc)
    assert found == summary.words + spaces
