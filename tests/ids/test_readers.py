"""Readers of both formats: what is normal data, and what is damage."""

import re
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import Report, build_table, read_babelstone, read_chise
from spacy_cnm.ids.build import detect_format

from .conftest import BABELSTONE, babelstone

CHISE = """# Copyright
;; -*- coding: utf-8-mcs-er -*-
U+03B1\tα\tα
U+4E00\t一\t一
U+4E0E\t与\t⿹&CDP-8BBF;一[GTKV]\t⿱一一[J]
U+4E30\t丰\t⿻三丨[GJK]\t⿻丿③[TV]

U+4E8C\t二\t⿱一一
U-00020000\t𠀀\t⿱二一\t@apparent=⿱一二
CDP-8B7C\t&CDP-8B7C;\t⿰一一
"""


def read(reader, path, lenient=False):
    report = Report(path.name, lenient)
    source = reader(path, report)
    return {entry.character: entry.sequences for entry in source.entries}, source, report


def test_babelstone(small):
    sequences, source, report = read(read_babelstone, small)
    assert list(sequences) == list(BABELSTONE)
    assert sequences["亠"] == ("⿱丶一", "⿱丨一")
    assert sequences["二"] == ("⿱一一",)
    assert sequences["在"] == ()
    assert source.date == "2024-02-29"
    assert report.entries == len(BABELSTONE)
    assert report.dropped == {"unknown component": 2}
    assert not report.damage
    assert source.entries[0].line == 10


def test_babelstone_numbered_components(write):
    rows = {"留": "^⿱{58}田$(G)", "埶": "^⿰圥{20}$(G)", "二": "^⿱{36}一$(G)\t^⿱{63}一$(G)"}
    sequences, _, report = read(read_babelstone, write(babelstone(rows)))
    assert sequences == {"留": ("⿱⿰⿰丨丿丶田",), "埶": ("⿰圥丸",), "二": ()}
    assert report.dropped == {"component without a fragment": 2}


@pytest.mark.parametrize(
    ("candidate", "reason"),
    [
        ("？", "unknown component"),
        ("⿰？一", "unknown component"),
        *((f"{mark}一", "other operator") for mark in "〾⿾⿿"),
        *((f"{mark}一一", "other operator") for mark in "㇯⿼⿽"),
        ("⿰\ue000一", "private-use character"),
        ("⿰\U000f0000一", "private-use character"),
        ("⿰\U0010fffd一", "private-use character"),
    ],
)
def test_normal_losses_are_counted(write, candidate, reason):
    rows = {"木": f"^{candidate}$(G)\t^木$(G)"}
    sequences, _, report = read(read_babelstone, write(babelstone(rows)))
    assert sequences == {"木": ("木",)}
    assert report.dropped == {reason: 1}


def test_chise(write):
    sequences, source, report = read(read_chise, write(CHISE))
    assert sequences == {
        "一": ("一",),
        "与": ("⿱一一",),
        "丰": ("⿻三丨",),
        "二": ("⿱一一",),
        "𠀀": ("⿱二一",),
    }
    assert report.entries == 7
    assert report.skipped == {"not an ideograph": 1, "unencoded glyph": 1}
    assert report.dropped == {"unencoded component": 2}
    assert source.format == "chise"


def test_format_is_told_by_the_first_entry(write, small):
    assert detect_format(small) == "babelstone"
    assert detect_format(write(CHISE, "ids.txt")) == "chise"
    table = build_table(write(CHISE, "ids.txt"))
    assert str(table.tree("𠀀")) == "⿱⿱一一一"
    assert table.source["format"] == "chise"


GOOD = "U+4E8C\t二\t^⿱一一$(G)"

#: name: (line that is damaged, what the error says)
DAMAGE = {
    "no columns": ("二", "missing columns"),
    "two columns": ("U+4E8C\t二", "missing columns"),
    "no code point": ("4E8C\t二\t^⿱一一$(G)", "not a code point"),
    "no digits": ("U+4G8C\t二\t^⿱一一$(G)", "not a code point"),
    "beyond Unicode": ("U+4E8C4E8C\t二\t^⿱一一$(G)", "not a code point"),
    "wrong character": ("U+4E8C\t三\t^⿱一一$(G)", "differ"),
    "two characters": ("U+4E8C\t二二\t^⿱一一$(G)", "differ"),
    "operand missing": ("U+4E8C\t二\t^⿱一$(G)", "unbalanced"),
    "operand left over": ("U+4E8C\t二\t^⿱一一一$(G)", "unbalanced"),
    "only an operator": ("U+4E8C\t二\t^⿱$(G)", "unbalanced"),
    "cut field": ("U+4E8C\t二\t^⿱一一", "neither"),
    "space inside": ("U+4E8C\t二\t^⿱一 一$(G)", "not an ideographic description"),
    "undefined number": ("U+4E8C\t二\t^⿱{999}一$(G)", "undefined component"),
    "own component": ("U+4E8C\t二\t^⿱二一$(G)", "component of itself"),
    "duplicate": (GOOD + "\r\n" + GOOD, "duplicate"),
    "NUL": ("U+4E8C\t二\t^⿱\0一$(G)", "NUL"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_names_file_and_line(write, name):
    line, what = DAMAGE[name]
    text = "# header\r\nU+4E00\t一\t^一$(G)\r\n" + line + "\r\nU+5341\t十\t^⿻一丨$(G)\r\n"
    path = write(text)
    number = 4 if name == "duplicate" else 3
    with pytest.raises(CNMError, match=rf"IDS\.TXT, line {number}: .*{what}"):
        build_table(path)
    table = build_table(path, lenient=True)
    (damage,) = table.source["damage"].values()
    assert damage == {"count": 1, "lines": [number]}
    assert str(table.tree("十")) == "⿻一丨"


def test_wrong_encoding(write):
    path = write(babelstone(BABELSTONE).replace("\ufeff", "").encode("gb18030"))
    with pytest.raises(CNMError, match="line 4: not UTF-8"):
        build_table(path)
    with pytest.raises(CNMError, match="no usable sequence"):
        build_table(path, lenient=True)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_wide_encodings(write, encoding):
    path = write(babelstone(BABELSTONE).encode(encoding))
    with pytest.raises(CNMError, match=r"line 1: (not UTF-8|NUL)"):
        build_table(path)


@pytest.mark.parametrize("lenient", [False, True])
def test_binary_file(write, lenient):
    path = write(bytes(range(256)) * 500)
    with pytest.raises(CNMError, match=r"IDS\.TXT, line 1"):
        build_table(path, lenient=lenient)


@pytest.mark.parametrize("content", ["", "\ufeff", "\n\n", "# only a comment\n"])
@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("format", ["auto", "babelstone", "chise"])
def test_nothing_in_the_file(write, content, lenient, format):
    with pytest.raises(CNMError, match="no usable sequence in 0 entries"):
        build_table(write(content), lenient=lenient, format=format)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(CNMError, match=r"cannot read .*absent"):
        build_table(tmp_path / "absent")
    with pytest.raises(CNMError, match="cannot read"):
        build_table(tmp_path)


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_cut_off_file(write, keep):
    text = babelstone(BABELSTONE)
    lines = text.split("\r\n")
    path = write("\r\n".join(lines[: 9 + int(len(BABELSTONE) * keep)]) + "\r\n")
    with pytest.raises(CNMError, match=r"line \d+: cut-off file .*promises 17 entries"):
        build_table(path)
    assert "cut-off file" in build_table(path, lenient=True).source["damage"]


def test_end_mark(write):
    with pytest.raises(CNMError, match=r"cut-off file .*END"):
        build_table(write(babelstone(BABELSTONE, end="")))
    late = babelstone(BABELSTONE) + "\r\nU+4E0E\t与\t^⿱一一$(G)"
    with pytest.raises(CNMError, match="after the end mark"):
        build_table(write(late))


def test_a_file_that_promises_nothing_needs_no_end_mark(write):
    table = build_table(write("U+4E00\t一\t^一$(G)\nU+4E8C\t二\t^⿱一一$"))
    assert str(table.tree("二")) == "⿱一一"


@pytest.mark.parametrize("fragments", [{1: "⿰{1}一"}, {1: "{2}", 2: "{1}"}, {1: "{1}{1}"}])
def test_circular_fragments(write, fragments):
    header = "".join(f"#\t{{{n}}}\tname\t{text}\n" for n, text in fragments.items())
    path = write(header + "U+4E8C\t二\t^⿱{1}一$(G)\n")
    with pytest.raises(CNMError, match=rf"line {1 + len(fragments)}: numbered components without"):
        build_table(path)


def test_a_line_of_a_hundred_megabytes(tmp_path):
    path = tmp_path / "IDS.TXT"
    with path.open("wb") as stream:
        stream.write("U+4E00\t一\t^一$(G)\nU+4E8C\t二\t^".encode())
        for _ in range(100):
            stream.write(b"x" * 1_000_000)
        stream.write("\nU+5341\t十\t^⿻一丨$(G)\n".encode())
    tracemalloc.start()
    with pytest.raises(CNMError, match=r"line 2: line too long"):
        build_table(path)
    table = build_table(path, lenient=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(table.tree("十")) == "⿻一丨"
    assert table.source["damage"] == {"line too long": {"count": 1, "lines": [2]}}
    assert peak < 5_000_000


def test_deep_nesting_in_a_file(write):
    deep = "⿰一" * 5_000 + "一"
    table = build_table(write(f"U+4E00\t一\t^一$(G)\nU+4E8C\t二\t^{deep}$(G)\n"))
    assert "二" not in table
    assert table.source["counts"]["too_deep"] == 1
    over = "⿰一" * 100_000 + "一"
    with pytest.raises(CNMError, match="line 1: line too long"):
        build_table(write(f"U+4E8C\t二\t^{over}$(G)\n"))


def test_lenient_keeps_ten_lines(write):
    rows = "".join(f"U+{0x4E10 + i:X}\t\t^一$\n" for i in range(30))
    table = build_table(write(rows + "U+4E00\t一\t^一$(G)\n"), lenient=True)
    (damage,) = table.source["damage"].values()
    assert damage == {"count": 30, "lines": list(range(1, 11))}


@settings(max_examples=300)
@given(
    base=st.sampled_from([babelstone(BABELSTONE), CHISE]).map(str.encode),
    cuts=st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 40), st.binary(max_size=8))),
    lenient=st.booleans(),
)
def test_any_bytes_give_a_table_or_a_named_error(base, cuts, lenient):
    data = bytearray(base)
    for start, length, new in cuts:
        data[start : start + length] = new
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "IDS.TXT"
        path.write_bytes(data)
        message = ""
        try:
            table = build_table(path, lenient=lenient)
        except CNMError as error:
            message = str(error)
    if message:
        assert re.search(r"IDS\.TXT, line \d+", message)
        assert len(message) < 400
        assert "\n" not in message
    else:
        assert table.arrays.fault() == ""
        assert lenient or not table.source["damage"]
