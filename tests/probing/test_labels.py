"""Labels from files, and what is wrong with files."""

import json
from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.probing.labels import LAYOUTS, Labels, read_benchmark, read_labels

HEAD = "codepoint\tchar\ttotal_strokes\tstructure\tstroke_order_12345\n"
ROWS = "U+6772\t杲\t8\t⿱\t25111234\nU+5DEB\t巫\t7\t⿻\t1234341\nU+3400\t㐀\t5\t\t\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "char_similar").mkdir()
    (tmp_path / "char_labels.tsv").write_text(HEAD + ROWS, "utf-8")
    parts = {"杲": ["日", "木"], "森": ["木", "木", "木"]}
    (tmp_path / "char_similar/char_stroke.json").write_text(json.dumps(parts), "utf-8")
    return tmp_path


def layout(name: str) -> int:
    return list(LAYOUTS).index(name)


def test_labels_of_a_folder(folder: Path):
    assert read_labels(folder) == {
        "杲": Labels(layout("top-bottom"), frozenset("日木"), 8, "25111234"),
        "巫": Labels(None, None, 7, "1234341"),
    }


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("U+6772\t杲\tx\t⿱\t25\n", "'x' is no number of strokes"),
        ("U+6772\t杲\t0\t⿱\t25\n", "'0' is no number of strokes"),
        ("U+6772\t杲\t999999999999\t⿱\t25\n", "'999999999999' is no number of strokes"),
        ("U+6772\t杲\t8\t⿾\t25\n", "is none of ⿰"),
        ("U+6772\t杲\t8\t⿱\t26\n", "strokes '26'"),
        ("U+6772\t杲木\t8\t⿱\t25\n", "'杲木' is not one character"),
        ("U+6772\n", "'' is not one character"),
    ],
)
def test_a_row_that_is_none(folder: Path, row: str, what: str):
    (folder / "char_labels.tsv").write_text(HEAD + row, "utf-8")
    with pytest.raises(CNMError, match="line 2") as error:
        read_labels(folder)
    assert what in str(error.value)


@pytest.mark.parametrize("name", ["char_labels.tsv", "char_similar/char_stroke.json"])
@pytest.mark.parametrize("content", [None, b"\xff\xfe", b"[1]"])
def test_a_file_that_is_none(folder: Path, name: str, content: bytes | None):
    (folder / name).unlink()
    if content is not None:
        (folder / name).write_bytes(content)
    with pytest.raises(CNMError) as error:
        read_labels(folder)
    assert name in str(error.value)


def test_a_benchmark(tmp_path: Path):
    path = tmp_path / "benchmark.tsv"
    rows = "structure\tcharacter\tradicals\tstroke_count\tstrokes\n"
    rows += "top-bottom\t杲\t日 木\t8\t25111234\r\n⿺\t进\t辶 井\t7\t\n\t䶮\t\t\t\n"
    path.write_text(rows, "utf-8")
    assert read_benchmark(path) == {
        "杲": Labels(layout("top-bottom"), frozenset("日木"), 8, "25111234"),
        "进": Labels(layout("half-surround"), frozenset("辶井"), 7, None),
        "䶮": Labels(),
    }
    path.write_text(rows + "\t杲\t日\t8\t\n", "utf-8")
    with pytest.raises(CNMError, match="杲 stands there for the second time"):
        read_benchmark(path)
    path.write_text("character\tstructure\n", "utf-8")
    with pytest.raises(CNMError, match="stroke_count"):
        read_benchmark(path)
