"""Pretraining text: what is left out, held out, repeated and written."""

import gzip
import json
import random
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cnm.cli import main
from spacy_cnm.corpora.docs import write_docs
from spacy_cnm.corpora.overlap import SentenceIndex
from spacy_cnm.corpora.pretraining_text import (
    FILES,
    MAX_EVALUATED,
    Left,
    PretrainingText,
    Source,
    load_pretraining_text,
    write_pretraining_text,
)
from spacy_cnm.corpora.records import Place, Record
from spacy_cnm.corpora.text_readers import read_texts
from spacy_cnm.errors import CNMError


def write(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def some_texts(n: int, seed: int = 0) -> list[str]:
    """Different texts of a sentence of 12 ideographs each."""
    rng = random.Random(seed)
    return ["".join(chr(rng.randrange(0x4E00, 0x8000)) for _ in range(12)) + "。" for _ in range(n)]


# --- reading ---------------------------------------------------------------------------------


def test_texts_of_every_format(tmp_path: Path) -> None:
    records = [Record("今天\n很好", Place("x", 1)), Record("明天", Place("x", 2))]
    write_docs(records, tmp_path / "a.spacy")
    with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write('{"text": "今天\\n很好"}\n{"text": "明天"}\n')
    write(tmp_path / "a.txt", "今天 很好", "", "明天")
    write(tmp_path / "a.bio", "今\tO", "天\tO", " \tO", "很 B-X", "好\tI-X", "", "明\tO", "天\tO")
    write(tmp_path / "a.tsv", "label\ttext", "1\t今天 很好", "0\t明天")
    write(
        tmp_path / "a.conllu",
        "# sent_id = 1",
        "# text = 今天 很好",
        "1\t今天\t_",
        "2\t很好\t_",
        "",
        "1-2\t明天\t_",
        "1\t明\t_",
        "2\t天\t_",
    )
    write(tmp_path / "a.iob2", "# text = 今天 很好", "1\t今天\tO\t-\t-", "", "# text = 明天")
    for path in tmp_path.iterdir():
        assert list(read_texts(path)) == ["今天 很好", "明天"], path.name


@pytest.mark.parametrize(
    ("name", "lines", "message"),
    [
        ("a.tsv", ["label\tsentence", "1\t好"], "a.tsv:1"),
        ("a.tsv", ["label\ttext", "1"], "a.tsv:2"),
        ("a.tsv", ["label\ttext"], "no sentences"),
        ("a.bio", [""], "no sentences"),
        ("a.conllu", [], "no sentences"),
        ("a.spacy", ["今天"], "a.spacy"),
        ("a.pdf", ["今天"], "a.pdf"),
    ],
)
def test_a_file_without_texts_is_an_error(
    name: str, lines: list[str], message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / name, *lines)
    with pytest.raises(CNMError, match=message):
        list(read_texts(path))


# --- comparing -------------------------------------------------------------------------------


def test_a_text_holds_a_sentence_whatever_its_marks_and_borders() -> None:
    index = SentenceIndex()
    index.add("今天天气很好！我们去公园。ＡＢＣ１２３公司", "test")
    index.add("子曰", "short")
    assert len(index) == 4
    for text in ("“今天，天气很好”他说", "昨天说今天天气很好但是没有去", "abc123公司", "子曰：“"):
        assert index.find(text) is not None, text
    # A sentence of five letters counts only as a whole text, and so does a shorter one.
    assert index.find("我们去公园") == "test"
    assert index.find("我们去公园吧") is None
    assert index.find("子曰：学而时习之") is None
    assert index.find("今天天气好") is None


@settings(deadline=None)
@given(
    sentences=st.lists(st.text("天地玄黄", min_size=6, max_size=9), min_size=1, max_size=4),
    text=st.text("天地玄黄", max_size=30),
)
def test_finding_is_containment(sentences: list[str], text: str) -> None:
    index = SentenceIndex()
    for sentence in sentences:
        index.add(sentence, sentence)
    found = index.find(text)
    assert (found is None) == (not any(sentence in text for sentence in sentences))
    assert found is None or found in text


# --- the whole -------------------------------------------------------------------------------


def test_what_is_left_out(tmp_path: Path) -> None:
    first = write(
        tmp_path / "a.txt", "今天天气很好。", "今天天气很好。", "12 !!", "他说明天会下大雨吧。"
    )
    second = write(tmp_path / "b.txt", "今天天气很好。", "山高水长。")
    excluded = write(tmp_path / "set" / "test.bio", *(f"{c}\tO" for c in "明天会下大雨"))
    sources = [Source(first, 2), Source(second)]
    corpus = load_pretraining_text(sources, exclude=[excluded], held_out=0.0)
    assert sorted(corpus.train) == ["今天天气很好。", "今天天气很好。", "山高水长。"]
    assert sources[0].left_out == {Left.DUPLICATE: 1, Left.NO_LETTER: 1, Left.EXCLUDED: 1}
    assert sources[0].excluded_by == {"set/test.bio": 1}
    assert sources[1].left_out == {Left.DUPLICATE: 1}
    assert [source.texts for source in sources] == [1, 1]
    assert corpus.characters["今"] == 2
    assert corpus.exclusions[0]["texts"] == 1


def test_held_out_texts_share_no_sentence_with_train(tmp_path: Path) -> None:
    texts = some_texts(400)
    # Every text again as a part of a longer one: where one is held out, the other must go.
    longer = [f"{a}{b}" for a, b in zip(texts, some_texts(400, seed=1), strict=True)]
    source = Source(write(tmp_path / "a.txt", *texts, *longer))
    corpus = load_pretraining_text([source], held_out=0.1)
    assert 40 < len(corpus.held_out) < 120
    assert source.left_out[Left.NEAR_HELD_OUT] > 10
    train = "\n".join(corpus.train)
    for text in corpus.held_out:
        assert all(sentence not in train for sentence in text.split("。") if sentence)
    assert source.read == source.texts + source.left_out.total()


def test_what_is_held_out_depends_on_the_text_alone(tmp_path: Path) -> None:
    texts = some_texts(300)
    whole = load_pretraining_text([Source(write(tmp_path / "a.txt", *texts))], held_out=0.2)
    part = load_pretraining_text(
        [Source(write(tmp_path / "b.txt", *texts[::-2]))], held_out=0.2, seed=3
    )
    assert set(part.held_out) == set(whole.held_out) & set(texts[::-2])


def test_written_files(tmp_path: Path) -> None:
    texts = [*some_texts(200), *(f"{text}一" for text in some_texts(200, seed=2))]
    path = write(tmp_path / "in" / "a.txt", *texts)
    folders = [tmp_path / "out", tmp_path / "again"]
    write(folders[0] / "own.txt", "mine")
    for folder in folders:
        corpus = load_pretraining_text([Source(path, 2)], held_out=0.1)
        report = write_pretraining_text(corpus, folder, max_ideographs=1)
    for name in FILES:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert read(folders[0] / "own.txt") == ["mine"]
    train = read(folders[0] / "train.txt")
    assert set(Counter(train).values()) == {2}
    assert train != sorted(train)
    assert set(train).isdisjoint(read(folders[0] / "heldout.txt"))
    # 一 is the one ideograph of the vocabulary; every text has others too.
    assert read(folders[0] / "rare.txt") == read(folders[0] / "heldout.txt")
    counts = dict(line.split("\t") for line in read(folders[0] / "characters.tsv"))
    assert counts == {char: str(n) for char, n in Counter("".join(train)).items()}
    assert list(counts)[:2] == ["。", "一"]
    assert json.loads((folders[0] / "report.json").read_bytes()) == report
    assert report["inputs"][0]["source"] == "in/a.txt"
    assert str(tmp_path) not in json.dumps(report)
    assert report["written"]["train.txt"] == {
        "texts": len(train),
        "characters": sum(map(len, train)),
    }


def test_another_seed_is_another_order(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", *some_texts(50))
    first, second = (load_pretraining_text([Source(path)], seed=seed).train for seed in (0, 1))
    assert first != second
    assert sorted(first) == sorted(second)


def test_rare_texts_have_an_ideograph_outside_of_the_vocabulary(tmp_path: Path) -> None:
    corpus = PretrainingText(
        sources=[],
        exclusions=[],
        train=["天天天地"],
        # U+F92C is a form of 郎, U+2FAC of 雨.
        held_out=["天", "天abc地", "玄", "天\ufa10", "\u2fac", *["黄"] * MAX_EVALUATED],
        characters=Counter("天天天地地雨塚"),
        settings={},
    )
    write_pretraining_text(corpus, tmp_path / "all")
    assert read(tmp_path / "all" / "rare.txt")[:2] == ["玄", "黄"]
    assert len(read(tmp_path / "all" / "rare.txt")) == MAX_EVALUATED
    assert len(read(tmp_path / "all" / "heldout.txt")) == MAX_EVALUATED
    write_pretraining_text(corpus, tmp_path / "two", max_ideographs=2)
    assert read(tmp_path / "two" / "rare.txt")[:4] == ["玄", "天\ufa10", "\u2fac", "黄"]


def test_nothing_left_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", *some_texts(3))
    with pytest.raises(CNMError, match=r"a\.txt"):
        load_pretraining_text([Source(path)], held_out=1.0)
    with pytest.raises(CNMError, match=r"a\.txt"):
        load_pretraining_text([Source(path)], exclude=[path])


# --- the command -----------------------------------------------------------------------------


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["spacy-cnm", "corpora", "text", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        main()
    return int(stop.value.code or 0)


def test_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = some_texts(60)
    write(tmp_path / "a.txt", *texts)
    write(tmp_path / "b:2.txt", "今天天气真的很好。")
    write(tmp_path / "sets" / "x" / "test.tsv", "text", texts[0])
    write(tmp_path / "sets" / "y" / "test.tsv", "text", texts[1])
    options = ["--exclude", "sets/*/test*", "--heldout", 0.1, "--han", 5, "--seed", 1]
    assert run(monkeypatch, "a.txt:3", "b:2.txt", "out", *options) == 0
    printed = capsys.readouterr().out
    assert "a.txt: 60 read" in printed
    assert f"2 {Left.EXCLUDED}" in printed
    assert "out/rare.txt" in printed
    train = Counter(read(tmp_path / "out" / "train.txt"))
    assert train.pop("今天天气真的很好。", 1) == 1
    assert set(train.values()) == {3}
    assert not {texts[0], texts[1]} & set(train)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.txt", "out", "--exclude", "sets/*/test*"], "sets/*/test*"),
        (["missing.txt", "out"], "missing.txt"),
        (["a.txt:0", "out"], "a.txt:0"),
        (["a.txt:1000000000000", "out"], "1 to 1000 times"),
        (["a.txt:" + "9" * 40, "out"], "1 to 1000 times"),
        (["out/train.txt", "out"], "train.txt"),
        (["a.txt", "a.txt"], "a.txt"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.txt", *some_texts(3))
    write(tmp_path / "out" / "train.txt", "今天天气很好")
    assert run(monkeypatch, *arguments) == 1
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert message in error
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["train.txt"]


@pytest.mark.slow
def test_no_sentence_of_the_shared_test_sets_is_in_the_text(shared: Path, tmp_path: Path) -> None:
    """Wikipedia and the treebank of Wikipedia text share sentences; none of them may be left."""
    excluded = sorted((shared / "corpora" / "pos").glob("ud_gsd*/[dt]e*.conllu"))
    source = Source(shared / "corpora" / "text" / "wiki_simplified.txt.xz")
    corpus = load_pretraining_text([source], exclude=excluded)
    assert source.left_out[Left.EXCLUDED] > 0
    index = SentenceIndex()
    for path in excluded:
        for text in read_texts(path):
            index.add(text, path.name)
    assert all(index.find(text) is None for text in [*corpus.train, *corpus.held_out])
