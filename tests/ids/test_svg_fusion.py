"""The picture of a rare character's place in BERT."""

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import StructureTable, parse_ids
from spacy_cnm.ids.svg_fusion import draw_fusion_svg

SVG = "{http://www.w3.org/2000/svg}"
COMMITTED = Path(__file__).parents[2] / "docs" / "cnm-bert.svg"

LEAF = "龙"
BRANCHED = "⿲⿱立十⿳亠二口⿱立十"
SPIRAL = "⿱亠⿱亠⿱亠⿱亠⿱亠⿱亠⿲立立立"


def run(*args: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "spacy_cnm", "ids", "show", *map(str, args)],
        capture_output=True,
        encoding="utf-8",
        env={"PYTHONIOENCODING": "utf-8", "PATH": ""},
        check=False,
    )


def test_committed_picture_is_fresh(tmp_path):
    """docs/cnm-bert.svg is what the command draws today, byte for byte."""
    if not COMMITTED.is_file():
        pytest.skip("docs/ is not beside tests/")
    done = run("䶮", "--svg", tmp_path / "fresh.svg", "--context", "王䶮来京")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "fresh.svg").read_bytes() == COMMITTED.read_bytes()


def test_picture_says_what_it_shows():
    root = ET.fromstring(draw_fusion_svg("䶮", StructureTable.default().tree("䶮"), "王䶮来京"))
    label = root.get("aria-label")
    assert root.get("role") == "img"
    assert root.findtext(f"{SVG}title") == label
    assert "䶮 U+4DAE ⿱龙天 in 王䶮来京" in label
    assert root.get("width") == "900"
    texts = ["".join(text.itertext()) for text in root.iter(f"{SVG}text")]
    assert texts.count("z") == 6
    for text in ("[CLS]", "王", "䶮", "来", "京", "[SEP]", "[UNK]", "龙", "天", "ner"):
        assert texts.count(text) == 1
    assert "z = Wf[etok;s] + bf" in texts
    background = root.find(f"{SVG}rect")
    assert (background.get("width"), background.get("fill")) == ("900", "#ffffff")


@pytest.mark.parametrize("ids", [LEAF, "⿱龙天", BRANCHED, SPIRAL])
@pytest.mark.parametrize("context", ["䶮", "䶮来", "你好，䶮！", "王来" * 20 + "䶮"])
def test_boxes_neither_collide_nor_leave_the_picture(ids, context):
    root = ET.fromstring(draw_fusion_svg("䶮", parse_ids(ids), context))
    width, height = float(root.get("width")), float(root.get("height"))
    places = []
    for rect in root.iter(f"{SVG}rect"):
        if not rect.get("rx"):  # a cell or a part of an operator's schema
            continue
        x, y, w, h = (float(rect.get(key) or 0) for key in ("x", "y", "width", "height"))
        assert min(x, y) >= 0
        assert x + w <= width
        assert y + h <= height
        places.append((x, y, x + w, y + h))
    # Without background and panel, which hold the others.
    places = [place for place in places[1:] if place[3] - place[1] < 100]
    for i, (left, top, right, bottom) in enumerate(places):
        for x0, y0, x1, y1 in places[:i]:
            assert right <= x0 or x1 <= left or bottom <= y0 or y1 <= top


def test_null_vectors_are_dashed():
    """The structure of [CLS], [SEP] and the comma; five of the six positions have strands."""
    picture = draw_fusion_svg("䶮", parse_ids("⿱龙天"), "王，䶮来")
    assert picture.count("stroke-dasharray") == 3
    assert picture.count("stroke-opacity") == 2 * 5


@pytest.mark.parametrize(
    "context", ["", "王来", "䶮䶮", "䶮a", "䶮 来", "䶮1", "䶮\ud800", "䶮\x01"]
)
def test_unsuitable_contexts(context):
    with pytest.raises(CNMError, match="context"):
        draw_fusion_svg("䶮", parse_ids("⿱龙天"), context)


@pytest.mark.parametrize(
    "args",
    [
        ("䶮", "--context", "王䶮来京"),
        ("䶮", "--svg", "absent.svg", "--context", "王来京"),
        ("䶮王", "--svg", "absent.svg", "--context", "王䶮来京"),
    ],
)
def test_errors_of_the_command(args):
    done = run(*args)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("Error: ")
    assert len(done.stderr.strip().splitlines()) == 1
    assert not Path("absent.svg").exists()
