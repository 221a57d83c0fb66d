"""`spacy-cnm ids`, as a person runs it."""

import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from spacy_cnm.ids import OPERATORS, StructureTable, parse_ids
from spacy_cnm.ids.svg import draw_svg
from spacy_cnm.ids.text import OPERATOR_NAMES, draw_text


def run(*args: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "spacy_cnm", "ids", *map(str, args)],
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "PATH": ""},
        check=False,
    )


def test_show():
    done = run("show", "辯")
    assert done.returncode == 0, done.stderr
    assert done.stdout == (
        "辯  U+8FAF  ⿲辛言辛\n\n"
        "⿲  left, middle, right\n├── 辛  U+8F9B\n├── 言  U+8A00\n└── 辛  U+8F9B\n"
    )


def test_build_and_show_figure_1(small, tmp_path):
    out, svg = tmp_path / "table", tmp_path / "figure.svg"
    done = run("build", small, out, "--atomic", "立十亠二口", "--non-atomic", "辛言")
    assert done.returncode == 0, done.stderr
    assert "trees 15" in [" ".join(row.split()) for row in done.stdout.splitlines()]
    done = run("show", "辯", "--table", out, "--svg", svg)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("辯  U+8FAF  ⿲⿱立十⿳亠二口⿱立十\n")
    assert "│   └── 十  U+5341\n" in done.stdout
    assert ET.parse(svg).getroot().tag.endswith("svg")
    done = run("stats", "--table", out)
    assert "non_atomic=言辛" in done.stdout
    assert StructureTable.load(out).source["name"] == "IDS.TXT"


def test_stats_of_the_shipped_table():
    out = run("stats").stdout
    for line in (
        "entries 97,680",
        "trees 96,725",
        "self-leaves 193",
        "unknown 762",
        "too deep 1",
        "components 4,842",
        "distinct subtrees 111,157",
        "depths 0: 123, 1: 79,062, 2: 14,421, 3: 2,528, 4: 473, 5: 106, 6: 12",
    ):
        assert line in [" ".join(row.split()) for row in out.splitlines()]


def test_damage_is_reported(write, tmp_path):
    source = write("U+4E00\t一\t^一$\nU+4E8C\t二\t^⿱一$\n")
    done = run("build", source, tmp_path / "table")
    assert done.returncode == 1
    assert "IDS.TXT, line 2: unbalanced sequence" in done.stderr
    assert not (tmp_path / "table").exists()
    done = run("build", source, tmp_path / "table", "--lenient")
    assert done.returncode == 0
    assert "damage, unbalanced sequence" in done.stdout
    assert "1 (line 2)" in done.stdout


@pytest.mark.parametrize(
    "args",
    [
        ("show", "a"),
        ("show", "辯辯", "--svg", "x.svg"),
        ("show", "辯", "--table", "absent"),
        ("show", "辯", "--svg", "/dev/null/x.svg"),
        ("stats", "--table", __file__),
        ("build", "absent", "out"),
        ("build", __file__, "out", "--format", "xml"),
        ("build", __file__, "out", "--min-count", "0"),
        ("build", __file__, "out", "--max-depth", "99"),
        ("build", __file__, "out", "--atomic", "日", "--non-atomic", "日"),
    ],
)
def test_errors_are_one_line(args):
    done = run(*args)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.strip().splitlines()) == 1


def test_neither_torch_nor_spacy_is_imported():
    code = (
        "import sys, typer.testing, spacy_cnm.ids; from spacy_cnm.cli import app;"
        "result = typer.testing.CliRunner().invoke(app, ['ids', 'show', '辯']);"
        "assert '⿲辛言辛' in result.output, result.output;"
        "assert not {'torch', 'spacy', 'thinc', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_drawings_of_every_operator():
    """Badges, boxes and edges add up, nothing leaves the canvas, and no two nodes collide."""
    for operator in OPERATORS:
        text = f"{operator}{operator}日木立{'十' * (operator in '⿲⿳') * 2}"
        tree = parse_ids(text)
        root = ET.fromstring(draw_svg("辯", tree))
        name = "{http://www.w3.org/2000/svg}"
        boxes = [r for r in root.iter(f"{name}rect") if r.get("rx")]
        assert len(boxes) == len(text)
        assert len(list(root.iter(f"{name}path"))) == len(text) - 1
        width, height = map(float, (root.get("width"), root.get("height")))
        places = []
        for box in boxes:
            x, y, w, h = (float(box.get(key)) for key in ("x", "y", "width", "height"))
            assert x >= 0
            assert y >= 0
            assert x + w <= width
            assert y + h <= height
            places.append((x, y, x + w, y + h))
        for i, (left, top, right, bottom) in enumerate(places):
            for x0, y0, x1, y1 in places[:i]:
                assert right <= x0 or x1 <= left or bottom <= y0 or y1 <= top
    assert set(OPERATOR_NAMES) == set(OPERATORS)


def test_drawing_escapes():
    root = ET.fromstring(draw_svg("<", parse_ids("⿰&<")))
    assert "⿰&<" in "".join(root.itertext())


def test_deep_trees_can_be_drawn():
    deep = parse_ids("⿰日" * 3_000 + "日")
    assert draw_text(deep).count("\n") == 6_000
    assert draw_svg("日", deep).count("<path") == 6_000
