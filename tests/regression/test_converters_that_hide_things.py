"""Converters took other text, other files or other settings than the user meant, without a word."""

import json
from pathlib import Path

import pytest
import srsly

from spacy_cnm.corpora.assets import check_assets
from spacy_cnm.corpora.conllu import read_conllu
from spacy_cnm.corpora.datasets import convert_dataset, find_files
from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.corpora.records import Finding, Place, Reason, Record, Rejected
from spacy_cnm.corpora.text_readers import read_texts
from spacy_cnm.errors import CNMError


def test_joined_documents_longer_than_spacy_takes(tmp_path: Path) -> None:
    source = tmp_path / "a.bio"
    sentence = "王 O\n" * 1000 + "\n"
    source.write_text("-DOCSTART- O\n\n" + sentence * 1001, encoding="utf-8")
    with pytest.raises(CNMError, match=r"a\.bio:3: the document has 1,001,000 characters"):
        convert_ner(source, tmp_path / "a.spacy", documents=True)
    assert not (tmp_path / "a.spacy").exists()


def test_one_damaged_token_among_positions(tmp_path: Path) -> None:
    """It made text of the positions of all others."""
    path = tmp_path / "a.conll"
    path.write_text("王0\tB-PER.NAM\n䶮\tI-PER.NAM\n在0\tO\n", encoding="utf-8")
    with pytest.raises(CNMError, match=r"1 token is not a character and its position.*a\.conll:2"):
        convert_ner(path, tmp_path / "a.spacy")


def test_blanks_between_character_and_tag(tmp_path: Path) -> None:
    path = tmp_path / "a.bio"
    path.write_text("王 B-PER\n   O\n红  B-PER\n。   O\n", encoding="utf-8")
    convert_ner(path, tmp_path / "a.spacy")
    (doc,) = read_docs(tmp_path / "a.spacy")
    assert doc.text == "王 红。"
    assert [ent.text for ent in doc.ents] == ["王", "红"]


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


@pytest.mark.parametrize("tag", ["", " ", "_"])
def test_a_word_without_a_tag_is_no_word(tmp_path, tag):
    source = tmp_path / "in.conllu"
    rows = [f"1\t中国\t_\t{tag}\t_\t_\t_\t_\t_\t_", "", "1\t人\t_\tNOUN\t_\t_\t_\t_\t_\t_", ""]
    source.write_text("\n".join(rows) + "\n", encoding="utf-8")
    bad, good = read_conllu(source)
    assert bad == Rejected(Finding(Reason.BAD_WORD, Place(str(source), 1)))
    assert isinstance(good, Record)


def test_a_number_that_python_does_not_read(tmp_path):
    source = tmp_path / "in.conllu"
    source.write_text("9" * 5000 + "\t人\t_\tNOUN\t_\t_\t_\t_\t_\t_\n", encoding="utf-8")
    (bad,) = read_conllu(source)
    assert bad == Rejected(Finding(Reason.BAD_NUMBER, Place(str(source), 1)))


def test_nothing_usable_is_not_written_over_something(tmp_path):
    source, target = tmp_path / "in.bio", tmp_path / "out.spacy"
    source.write_text("王 B-PER x y\n", encoding="utf-8")
    target.write_bytes(b"good")
    with pytest.raises(CNMError, match="nothing in it can be used"):
        convert_ner(source, target, max_bad=1.0)
    assert target.read_bytes() == b"good"


@pytest.mark.parametrize(
    "assets", ["3", "[3]", '"abc"', "{a: b}", "[{url: x}]", "[{dest: 3}]", "[{dest: null}]"]
)
def test_assets_that_are_none(tmp_path, assets):
    (tmp_path / "project.yml").write_text(f"assets: {assets}\n", encoding="utf-8")
    with pytest.raises(CNMError, match=r"project\.yml"):
        check_assets(tmp_path)


@pytest.mark.parametrize("content", ["", "title: x\n", "assets:\n", "assets: []\n"])
def test_a_project_without_assets(tmp_path, content):
    (tmp_path / "project.yml").write_text(content, encoding="utf-8")
    assert check_assets(tmp_path) == {}
