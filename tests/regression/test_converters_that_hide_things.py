"""Converters took other text, other files or other settings than the user meant, without a word."""

import json
from pathlib import Path

import pytest
import srsly

from spacy_cnm.corpora.assets import check_assets
from spacy_cnm.corpora.datasets import convert_dataset, find_files
from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.text_readers import read_texts
from spacy_cnm.errors import CNMError


def test_joined_documents_longer_than_spacy_takes(tmp_path: Path) -> None:
    source = tmp_path / "a.bio"
    sentence = "王 O\n" * 1000 + "\n"
    source.write_text("-DOCSTART- O\n\n" + sentence * 1001, encoding="utf-8")
    with pytest.raises(CNMError, match=r"a\.bio:3: the document has 1,001,000 characters"):
        convert_ner(source, tmp_path / "a.spacy", documents=True)
    assert not (tmp_path / "a.spacy").exists()


def test_a_data_set_of_two_copies(tmp_path: Path) -> None:
    folder = tmp_path / "ner/msra"
    folder.mkdir(parents=True)
    for name in ("train.bio", "test.bio", "msra_test_bio.txt"):
        (folder / name).write_text("王\tO\n", encoding="utf-8")
    files = find_files("msra", [tmp_path])
    assert {path.name for path in files.values()} == {"train.bio", "test.bio"}
    (folder / "train.bio").unlink()
    with pytest.raises(CNMError, match=r"Missing: \S*msra_train_bio\.txt\. Name"):
        find_files("msra", [tmp_path])


@pytest.mark.parametrize("blank", ["\n", ""])
def test_document_borders_in_weibo_s_format_and_without_blank_lines(
    tmp_path: Path, blank: str
) -> None:
    lines = f"-DOCSTART-\tO\n{blank}王0\tB-PER.NAM\n来0\tO\n{blank}-DOCSTART-\tO\n沪0\tO\n"
    source, target = tmp_path / "a.conll", tmp_path / "a.spacy"
    source.write_text(lines, encoding="utf-8")
    report, _ = convert_ner(source, target, documents=True)
    assert [doc.text for doc in read_docs(target)] == ["王来", "沪"]
    assert report.read == 2
    plain = tmp_path / "a.bio"
    plain.write_text(lines.replace("0", ""), encoding="utf-8")
    assert list(read_texts(plain)) == ["王来", "沪"]


def test_one_stray_tag_makes_no_other_format(tmp_path: Path) -> None:
    source = tmp_path / "a.bio"
    source.write_text("王 B-PER\n明 I-PER\n来 O\n\n" * 300 + "沪 E-LOC\n", encoding="utf-8")
    report, (summary,) = convert_ner(source, tmp_path / "a.spacy")
    assert report.dropped == {"bad tag": 1}
    assert summary.entities == {"PER": 300}


def test_errors_of_a_data_set_name_what_the_user_knows(tmp_path: Path) -> None:
    folder = tmp_path / "ner/msra"
    folder.mkdir(parents=True)
    for name in ("train.bio", "test.bio"):
        (folder / name).write_text("王\tO\n", encoding="utf-8")
    with pytest.raises(CNMError, match=r"^dev\.spacy would be empty"):
        convert_dataset("msra", [tmp_path], tmp_path / "out")
    with pytest.raises(CNMError, match=r"^msra_train|^train\.spacy would be empty"):
        convert_dataset("msra", [tmp_path], tmp_path / "out", dev_share=1.0)


def test_what_is_moved_aside_is_never_written_over(tmp_path: Path) -> None:
    asset = {"dest": "a.txt", "url": "http://127.0.0.1/a.txt", "checksum": "0" * 32}
    srsly.write_yaml(tmp_path / "project.yml", {"title": "x", "assets": [asset]})
    for content in ("first", "second"):
        (tmp_path / "a.txt").write_text(content)
        with pytest.raises(CNMError, match=r"a\.txt \(\d bytes\)"):
            check_assets(tmp_path)
    assert (tmp_path / "a.txt.damaged").read_text() == "first"
    assert (tmp_path / "a.txt.damaged-1").read_text() == "second"
    (tmp_path / "project.yml").write_text("assets: [")
    with pytest.raises(CNMError, match=r"project\.yml"):
        check_assets(tmp_path)


def test_the_report_says_which_data_set(tmp_path: Path) -> None:
    folder = tmp_path / "ner/cclue"
    folder.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (folder / f"{split}.bio").write_text("王\tO\n", encoding="utf-8")
    convert_dataset("cclue", [tmp_path], tmp_path / "out")
    report = json.loads((tmp_path / "out/dev.report.json").read_text(encoding="utf-8"))
    assert (report["dataset"], report["format"]) == ("cclue", "bio")
