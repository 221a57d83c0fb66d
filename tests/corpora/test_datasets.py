"""The data sets of the workflow: found under one root, converted all or not at all."""

from pathlib import Path

import pytest

from spacy_cnm.corpora.datasets import DATASETS, convert_dataset, find_files
from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.errors import CNMError

WEIBO = "ner/weibo/weiboNER_2nd_conll."


def write(root: Path, name: str, content: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def test_first_whole_root_counts(tmp_path: Path) -> None:
    here, there = tmp_path / "assets", tmp_path / "corpora"
    write(here, WEIBO + "train", "王0\tB-PER.NAM\n")
    for split in ("train", "dev", "test"):
        write(there, f"ner/weibo/{split}.bio", "王\tB-PER.NAM\n来\tO\n")
    files = find_files("weibo", [here, there])
    assert files == {split: there / f"ner/weibo/{split}.bio" for split in ("train", "dev", "test")}
    for split in ("dev", "test"):
        write(here, WEIBO + split, "王0\tB-PER.NAM\n")
    assert find_files("weibo", [here, there])["dev"] == here / (WEIBO + "dev")


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    write(tmp_path, WEIBO + "train", "王0\tB-PER.NAM\n")
    with pytest.raises(CNMError, match=r"Missing: .*conll\.dev, .*conll\.test\."):
        find_files("weibo", [tmp_path])
    with pytest.raises(CNMError, match="known are: demo, weibo, msra"):
        find_files("Weibo", [tmp_path])


def test_a_dev_set_is_cut_where_there_is_none(tmp_path: Path) -> None:
    sentences = "\n".join(f"第\tO\n{i}\tO\n" for i in range(400))
    write(tmp_path, "ner/msra/msra_train_bio.txt", sentences)
    write(tmp_path, "ner/msra/msra_test_bio.txt", "王\tB-PER\n")
    (_, train), (_, test) = convert_dataset("msra", [tmp_path], tmp_path / "out")
    assert train["train"].docs + train["dev"].docs == 400
    assert 5 < train["dev"].docs < 40
    assert test["test"].docs == 1
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        *(f"{split}.spacy" for split in ("train", "dev", "test")),
        *("train.report.json", "test.report.json", "train.txt"),
    }


def test_a_bad_split_leaves_the_folder_as_it_was(tmp_path: Path) -> None:
    write(tmp_path, WEIBO + "train", "王0\tB-PER.NAM\n")
    write(tmp_path, WEIBO + "dev", "王0\tB-PER.NAM\n")
    write(tmp_path, WEIBO + "test", "王0 红1\n")
    out = tmp_path / "out"
    with pytest.raises(CNMError, match=r"conll\.test: 1 of 1 sentences"):
        convert_dataset("weibo", [tmp_path], out)
    assert not out.exists()
    write(out, "train.spacy", "mine")
    with pytest.raises(CNMError):
        convert_dataset("weibo", [tmp_path], out)
    assert [path.name for path in out.iterdir()] == ["train.spacy"]
    assert (out / "train.spacy").read_text() == "mine"


@pytest.mark.parametrize("name", sorted(DATASETS.keys() - {"demo"}))
def test_every_set_is_found(shared: Path, name: str) -> None:
    files = find_files(name, [shared / "corpora"])
    assert {"train", "test"} <= set(files)


def test_weibo_and_kyoto(shared: Path, tmp_path: Path) -> None:
    parts = dict(
        item
        for _, summaries in convert_dataset("weibo", [shared / "corpora"], tmp_path / "weibo")
        for item in summaries.items()
    )
    counts = {split: (s.docs, sum(s.entities.values())) for split, s in parts.items()}
    assert counts == {"train": (1350, 1895), "dev": (270, 389), "test": (270, 418)}
    convert_dataset("kyoto", [shared / "corpora"], tmp_path / "kyoto")
    first = read_docs(tmp_path / "kyoto/train.spacy")[0]
    assert (first.text, first[0].tag_) == ("里仁篇第四", "B-VERB")
