"""The full build from BabelStone's file (needs the shared corpora)."""

import subprocess
import sys
from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import StructureTable, build_table
from spacy_cnm.ids.statistics import depth_counts


@pytest.fixture(scope="module")
def ids_txt(shared: Path) -> Path:
    return shared / "corpora" / "ids" / "IDS.TXT"


@pytest.fixture(scope="module")
def full(ids_txt: Path) -> StructureTable:
    return build_table(ids_txt)


def test_counts(full):
    assert full.source["entries"] == 97_680
    assert full.source["counts"] == {
        "ideographs": 97_680,
        "trees": 96_725,
        "self_leaves": 193,
        "unknown": 762,
        "too_deep": 1,
        "cyclic": 0,
    }
    assert full.source["damage"] == {}
    assert depth_counts(full) == [123, 79_062, 14_421, 2_528, 473, 106, 12]
    assert len(full.components) == 4_842
    assert len(full.node_operator) == 111_157
    assert len(full) == 96_918


def test_the_shipped_table_is_a_fresh_build(full):
    shipped = StructureTable.default()
    assert shipped.fingerprint == full.fingerprint
    assert shipped.source == full.source


def test_expected_sequences(full, shared):
    rows = (shared / "cases" / "ids_expected.tsv").read_text(encoding="utf-8").splitlines()[1:]
    wrong = [
        (char, expected, str(full.tree(char)))
        for char, expected in (row.split("\t") for row in rows)
        if str(full.tree(char)) != expected
    ]
    assert len(rows) == 1_012
    assert wrong == []


def test_the_paper_s_reading_of_self_leaves(ids_txt):
    assert len(build_table(ids_txt, self_leaf=False)) == 96_725


def test_figure_1(ids_txt):
    table = build_table(ids_txt, atomic="立十亠二口", non_atomic="辛言")
    assert str(table.tree("辯")) == "⿲⿱立十⿳亠二口⿱立十"


def test_cut_off(ids_txt, tmp_path):
    data = ids_txt.read_bytes()
    for share in (0.2, 0.5, 0.999):
        path = tmp_path / "IDS.TXT"
        path.write_bytes(data[: int(len(data) * share)])
        with pytest.raises(CNMError, match=r"IDS\.TXT, line \d+: "):
            build_table(path)


def test_two_builds_have_the_same_bytes(ids_txt, tmp_path):
    for name in ("one", "two"):
        command = [sys.executable, "-m", "spacy_cnm", "ids", "build", ids_txt, tmp_path / name]
        subprocess.run(command, check=True, capture_output=True)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert (tmp_path / "one").stat().st_size < 500_000
