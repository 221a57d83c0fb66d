"""The compiled table: contract, file, damage."""

import copy
import dataclasses
import json
import pickle

import numpy as np
import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import (
    FIRST_ROW,
    NULL_ROW,
    OPERATORS,
    UNKNOWN_ROW,
    StructureTable,
    build_table,
    parse_ids,
)
from spacy_cnm.ids.arrays import ARITIES
from spacy_cnm.ids.tablefile import MAGIC

from .conftest import BABELSTONE, babelstone

# --- the contract -------------------------------------------------------------------------------


@pytest.fixture
def small_table(small) -> StructureTable:
    return build_table(small)


@pytest.fixture(params=["shipped", "small"])
def any_table(request, small_table) -> StructureTable:
    return StructureTable.default() if request.param == "shipped" else small_table


def test_arrays(any_table):
    t = any_table
    n = len(t.node_operator)
    assert (NULL_ROW, UNKNOWN_ROW, FIRST_ROW) == (0, 1, 2)
    assert t.n_rows == len(t) + FIRST_ROW == len(t.characters) + FIRST_ROW
    assert t.roots.shape == (len(t.characters),)
    assert t.node_operator.shape == (n,)
    assert t.node_children.shape == (n, 3)
    for array in (t.roots, t.node_operator, t.node_children):
        assert array.dtype == np.int32
        assert array.flags.c_contiguous
        assert array.flags.writeable  # torch.from_numpy warns about anything else
    assert list(t.characters) == sorted(set(t.characters)) == list(t)
    assert list(t.components) == sorted(set(t.components))
    assert sum(count for _, _, count in t.groups) == n
    assert t.groups[0] == (0, 0, len(t.components))
    assert list(t.groups) == sorted(t.groups)


def test_nodes_are_distinct_and_in_order(any_table):
    t = any_table
    levels = t.arrays.levels()
    rows = np.column_stack([levels, ARITIES[t.node_operator], t.node_operator, t.node_children])
    order = [tuple(row) for row in rows.tolist()]
    assert order == sorted(set(order))


def test_every_node_is_used(any_table):
    t = any_table
    used = np.zeros(len(t.node_operator), dtype=bool)
    used[t.roots] = True
    for arity in (2, 3):
        used[t.node_children[ARITIES[t.node_operator] == arity, :arity]] = True
    assert used.all()


def test_rows(any_table):
    for row, char in list(enumerate(any_table.characters, FIRST_ROW))[::97]:
        assert any_table[char] == row
        assert char in any_table


def test_lookup(small_table):
    t = small_table
    assert t["一"] == FIRST_ROW
    assert t["在"] >= FIRST_ROW  # a self-leaf: 荏 contains it
    assert t["三"] == UNKNOWN_ROW
    assert t["鬱"] == UNKNOWN_ROW
    assert t["a"] == t["，"] == t["㇒"] == t["\ue000"] == t["😀"] == NULL_ROW
    assert t["⽊"] == t["木"]  # a Kangxi radical
    assert "三" not in t
    assert "一一" not in t
    assert "" not in t
    assert 7 not in t
    for wrong in ("", "一一", 5, None, b"x"):
        with pytest.raises(CNMError, match="single character"):
            t[wrong]


def test_shipped_lookup():
    t = StructureTable.default()
    assert t is StructureTable.default()
    assert len(t) == 96_918
    assert t["\ufa10"] == t["塚"]
    assert t["\u2f63"] == t["生"]
    assert str(t.tree("辯")) == "⿲辛言辛"
    assert t.leaves("辯") == ("辛", "言", "辛")
    assert str(t.tree("我")) == "我"
    assert (str(t.tree("杲")), str(t.tree("杳"))) == ("⿱日木", "⿱木日")


def test_trees(small_table):
    t = small_table
    assert t.tree("杲") == parse_ids("⿱日木")
    assert t.leaves("立") == ("亠", "䒑")
    for missing in ("三", "鬱", "a"):
        with pytest.raises(CNMError, match="holds no tree"):
            t.tree(missing)


def test_trees_agree_with_the_arrays(any_table):
    """A second reading of the arrays, node by node, prints the same sequences."""
    t = any_table
    texts = list(t.components)
    for operator, children in zip(
        t.node_operator[len(texts) :].tolist(),
        t.node_children[len(texts) :].tolist(),
        strict=True,
    ):
        parts = children[: 3 if OPERATORS[operator - 1] in "⿲⿳" else 2]
        texts.append(OPERATORS[operator - 1] + "".join(texts[part] for part in parts))
    for i in range(0, len(t), 61):
        assert str(t.tree(t.characters[i])) == texts[t.roots[i]]


def test_the_source_is_told(small):
    source = build_table(small, atomic="木木日", lenient=True).source
    assert source["name"] == "IDS.TXT"
    assert source["date"] == "2024-02-29"
    assert len(source["sha256"]) == 64
    assert source["options"] == {
        "min_count": 3,
        "max_depth": 6,
        "self_leaf": True,
        "atomic": "日木",
        "non_atomic": "",
    }
    assert source["counts"] == {
        "ideographs": 17,
        "trees": 15,
        "self_leaves": 1,
        "unknown": 1,
        "too_deep": 0,
        "cyclic": 0,
    }


def test_unknown_format(small):
    with pytest.raises(CNMError, match=r"'xml'.*auto, babelstone, chise"):
        build_table(small, format="xml")


# --- files --------------------------------------------------------------------------------------


def test_save_and_load(any_table, tmp_path):
    path = tmp_path / "new" / "table.cnmids"
    any_table.save(path)
    loaded = StructureTable.load(path)
    assert loaded.fingerprint == any_table.fingerprint
    assert loaded.source == any_table.source
    assert loaded.groups == any_table.groups
    assert loaded.characters == any_table.characters
    assert loaded.components == any_table.components
    for name in ("roots", "node_operator", "node_children"):
        assert np.array_equal(getattr(loaded, name), getattr(any_table, name))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["IDS.TXT"] * (
        tmp_path / "IDS.TXT"
    ).exists() + ["again", "new", "table.cnmids"]


def test_two_builds_are_byte_identical(small, write, tmp_path):
    for name in ("one", "two"):
        build_table(small).save(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    turned = babelstone(dict(reversed(BABELSTONE.items())))
    assert build_table(write(turned, "turned")).fingerprint == build_table(small).fingerprint


def test_fingerprints_differ(small):
    kinds = [{}, {"self_leaf": False}, {"atomic": "辛言"}, {"max_depth": 1}]
    assert len({build_table(small, **kind).fingerprint for kind in kinds}) == 4


def test_pickle_and_copy(small_table):
    for twin in (pickle.loads(pickle.dumps(small_table)), copy.deepcopy(small_table)):
        assert twin.fingerprint == small_table.fingerprint
        assert twin["杲"] == small_table["杲"]


def test_a_write_that_fails_leaves_nothing(small_table, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(CNMError, match="Not a directory"):
        small_table.save(tmp_path / "file" / "table")
    with pytest.raises(CNMError, match="is a folder"):
        small_table.save(tmp_path)
    assert (tmp_path / "file").read_text() == "x"


# --- damaged files ------------------------------------------------------------------------------


def header_and_payload(path):
    line, _, payload = path.read_bytes()[len(MAGIC) :].partition(b"\n")
    return json.loads(line), payload


def rewrite(path, header, payload):
    path.write_bytes(MAGIC + json.dumps(header).encode() + b"\n" + payload)


@pytest.fixture
def saved(small_table, tmp_path):
    path = tmp_path / "table.cnmids"
    small_table.save(path)
    return path


def fails(path, what):
    with pytest.raises(CNMError, match=rf"table\.cnmids is no intact structure table: .*{what}"):
        StructureTable.load(path)


def test_other_files(saved):
    for content in (b"", b"\x80\x04\x95", b"PK\x03\x04", MAGIC[:-3], b"x" + saved.read_bytes()):
        saved.write_bytes(content)
        fails(saved, "does not start")


def test_every_cut_is_noticed(saved):
    data = saved.read_bytes()
    for length in range(len(MAGIC), len(data)):
        saved.write_bytes(data[:length])
        fails(saved, "")
    saved.write_bytes(data + b"x")
    fails(saved, "follows")


def test_every_changed_byte_of_the_data_is_noticed(saved):
    data = saved.read_bytes()
    start = data.index(b"\n", len(MAGIC)) + 1
    for i in range(start, len(data)):
        saved.write_bytes(data[:i] + bytes([data[i] ^ 0x55]) + data[i + 1 :])
        fails(saved, "")


@pytest.mark.parametrize(
    ("key", "value", "what"),
    [
        ("format", 2, "format 2"),
        ("format", None, "format None"),
        ("nodes", -1, "sizes"),
        ("nodes", 10**12, "sizes"),
        ("nodes", True, "sizes"),
        ("nodes", "7", "sizes"),
        ("components", 3, "bytes of data"),
        ("characters", 16_000_000, "bytes of data"),
        ("source", None, "groups and source"),
        ("groups", 5, "groups and source"),
        ("groups", [[0, 0]], "groups and source"),
        ("groups", [[0, 0, -4]], "groups and source"),
        ("groups", [], "first group"),
        ("fingerprint", "0" * 64, "fingerprint"),
        ("fingerprint", None, "fingerprint"),
    ],
)
def test_damaged_header(saved, key, value, what):
    header, payload = header_and_payload(saved)
    rewrite(saved, {**header, key: value}, payload)
    fails(saved, what)
    del header[key]
    rewrite(saved, header, payload)
    fails(saved, "")


@pytest.mark.parametrize("line", [b"[]", b"{", b"\xff", b"[" * 100_000, b"7"])
def test_unreadable_header(saved, line):
    saved.write_bytes(MAGIC + line + b"\n")
    fails(saved, "header")


def replaced(array, index, value):
    changed = array.copy()
    changed[index] = value
    return changed


@pytest.mark.parametrize(
    ("name", "index", "value", "what"),
    [
        ("roots", 0, -1, "root is out of range"),
        ("roots", 0, 10**6, "root is out of range"),
        ("node_operator", -1, 13, "operator is out of range"),
        ("node_operator", -1, -2, "operator is out of range"),
        ("node_operator", 0, 1, "arity"),
        ("node_operator", -1, 0, "arity"),
        ("node_children", (-1, 0), -1, "child is out of range"),
        ("node_children", (-1, 0), 10**6, "child is out of range"),
        ("node_children", (0, 0), 1, "leaf does not point"),
        ("node_children", (0, 1), 1, "leaf has children"),
        ("characters", 0, 0x110000, "characters"),
        ("characters", 0, 0, "characters"),
        ("components", 1, 1, "components"),
    ],
)
def test_damaged_arrays(small_table, tmp_path, name, index, value, what):
    arrays = small_table.arrays
    wrong = dataclasses.replace(arrays, **{name: replaced(getattr(arrays, name), index, value)})
    path = tmp_path / "table.cnmids"
    StructureTable(wrong, small_table.source).save(path)
    fails(path, what)


def test_children_that_point_upwards(small_table, tmp_path):
    path = tmp_path / "table.cnmids"
    last = len(small_table.node_operator) - 1
    for target in (last, last - 1):
        children = replaced(small_table.node_children, (last, 0), target)
        arrays = dataclasses.replace(small_table.arrays, node_children=children)
        StructureTable(arrays).save(path)
        if small_table.arrays.levels()[target] >= small_table.arrays.levels()[last]:
            fails(path, "lower level")


@pytest.mark.parametrize("change", [lambda g: g[::-1], lambda g: g[:-1], lambda g: (*g, g[-1])])
def test_damaged_groups(small_table, tmp_path, change):
    arrays = dataclasses.replace(small_table.arrays, groups=change(small_table.groups))
    path = tmp_path / "table.cnmids"
    StructureTable(arrays).save(path)
    fails(path, "group|nodes")


def test_no_table_at_all(tmp_path):
    with pytest.raises(CNMError, match=r"cannot read .*absent"):
        StructureTable.load(tmp_path / "absent")
