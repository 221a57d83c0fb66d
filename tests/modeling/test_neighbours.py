"""Characters that look alike."""

from pathlib import Path

import pytest
import torch

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import load_or_wrap
from spacy_cnm.modeling.neighbours import StructureIndex

MINI = Path(__file__).parents[2] / "models/cnm-bert-mini"


@pytest.fixture(scope="module")
def model():
    return load_or_wrap(MINI)


@pytest.fixture(scope="module")
def index(model, table) -> StructureIndex:
    """What GB 2312 has, 6,763 characters."""
    return StructureIndex(*model, (c for c in table.characters if c.encode("gb2312", "ignore")))


def test_what_is_alike(index):
    found = [char for char, _ in index.nearest("晴")]
    assert len(found) == 20
    assert {"睛", "清", "蜻"} <= set(found)
    assert "晴" not in found
    # It need not be among those that may be found.
    assert "堃" not in index.characters
    assert {"坊", "方"} & {char for char, _ in index.nearest("堃")}


def test_similarities(index):
    found = index.nearest("赟", 5)
    values = [value for _, value in found]
    assert values == sorted(values, reverse=True)
    assert len(found) == 5
    assert all(-1 <= value <= 1 for value in values)
    # It is the same in both directions.
    char, value = found[0]
    assert dict(index.nearest(char, 7000))["贝"] == pytest.approx(
        dict(index.nearest("贝", 7000))[char]
    )
    assert len(index.nearest("赟", 10**6)) == len(index.characters) - ("赟" in index.characters)
    assert value > 0.4


def test_vectors(index):
    vectors = index.vectors(["晴", "睛", "赟"])
    assert torch.allclose(vectors.norm(dim=-1), torch.ones(3))


@pytest.mark.parametrize("char", ["", "x", "晴天", "。", "\ud800", "😀", "あ"])
def test_what_has_no_tree(index, char):
    with pytest.raises(CNMError, match="no single character with a tree"):
        index.nearest(char)


def test_nothing_may_be_found(model):
    for given in ([], ["x", "。"]):
        with pytest.raises(CNMError, match="has a tree"):
            StructureIndex(*model, given)


@pytest.fixture
def similar(run_cli, monkeypatch):
    """Run `spacy-cnm similar` where the shipped encoder is, or elsewhere."""

    def run(*arguments, folder: Path = MINI.parents[1]) -> tuple[int, str, str]:
        monkeypatch.chdir(folder)
        return run_cli("similar", *arguments)

    return run


def test_the_command(similar, tmp_path):
    lines = similar("晴赟", "-n", "3")[1].splitlines()
    assert [line.split()[0] for line in lines] == ["晴", "赟"]
    assert [len(line.split()) for line in lines] == [7, 7]
    (tmp_path / "names.txt").write_text("晴天睛明\n", "utf-8")
    found = similar("晴", "--among", tmp_path / "names.txt", "--model", MINI)[1]
    assert sorted(found.split()[1::2]) == sorted("天睛明")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x"], "'x' is no single character with a tree"),
        ([""], "'' is no single character with a tree"),
        (["晴", "--among", "klingon"], "'klingon' is no file, no encoding"),
        (["晴", "--among", "idna"], "'idna' is no file, no encoding"),
        (["晴", "--among", "ascii"], "None of the characters"),
        (["晴", "--model", "nothing_of_that_name"], "nothing_of_that_name"),
        (["晴", "--model", "models/bert-mini-matched"], "reads no structure"),
    ],
)
def test_the_command_says_what_is_wrong(similar, arguments, message):
    status, _, errors = similar(*arguments)
    assert status == 1
    assert message in errors


def test_a_bert_knows_nothing_of_likeness(similar, bert_folder):
    """Its structure side would be random."""
    status, _, errors = similar("晴", "--model", bert_folder)
    assert status == 1
    assert "reads no structure" in errors


def test_a_folder_with_the_name_of_an_encoding(similar, tmp_path):
    (tmp_path / "gbk").mkdir()
    _, found, _ = similar("晴", "-n", "1", "--model", MINI, folder=tmp_path)
    assert found.split()[:2] == ["晴", "菁"]


def test_the_command_without_an_encoder(similar, tmp_path):
    status, _, errors = similar("晴", folder=tmp_path)
    assert status == 1
    assert "--model" in errors
