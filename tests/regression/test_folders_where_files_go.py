"""A folder of the user's with the name of an output was deleted, or met when half was written."""

import pytest

from spacy_cnm.corpora.datasets import convert_dataset
from spacy_cnm.errors import CNMError
from spacy_cnm.files import atomic_folder


@pytest.mark.parametrize("name", ["dev.spacy", "train.txt", "test.report.json"])
@pytest.mark.parametrize("others", [True, False])
def test_data_sets(tmp_path, name, others):
    root = tmp_path / "root/ner/weibo"
    root.mkdir(parents=True)
    for split in ("train", "dev", "test"):
        (root / f"{split}.bio").write_text("王\tB-PER\n明\tI-PER\n", encoding="utf-8")
    out = tmp_path / "out"
    (out / name).mkdir(parents=True)
    (out / name / "precious").write_text("x")
    if others:
        (out / "other").write_text("y")
    before = sorted(path for path in out.rglob("*"))
    with pytest.raises(CNMError, match=name):
        convert_dataset("weibo", [tmp_path / "root"], out)
    assert sorted(path for path in out.rglob("*")) == before


@pytest.mark.parametrize("others", [True, False])
def test_whoever_writes_a_folder(tmp_path, others):
    target = tmp_path / "out"
    (target / "b").mkdir(parents=True)
    (target / "b" / "precious").write_text("x")
    if others:
        (target / "other").write_text("y")

    def write():
        with atomic_folder(target, keep_others=True) as new:
            (new / "a").write_text("1")
            (new / "b").write_text("2")

    with pytest.raises(CNMError, match="is a folder"):
        write()
    assert (target / "b" / "precious").read_text() == "x"
    assert not (target / "a").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
