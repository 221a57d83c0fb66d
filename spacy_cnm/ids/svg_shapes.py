"""What the drawings are made of: boxes, badges, edges, arrows, and the document around them."""

from collections.abc import Iterable
from html import escape

from .text import OPERATOR_NAMES, code_point

LEAF_SIZE = 60
BADGE_WIDTH, BADGE_HEIGHT = 116, 54

SANS = "font-family='Helvetica Neue, Helvetica, Arial, sans-serif'"
HAN = (
    "font-family='Noto Serif CJK SC, Source Han Serif SC, Songti SC, SimSun, HanaMinA, "
    "HanaMinB, BabelStone Han, serif'"
)
MATH = "font-family='Cambria, Times New Roman, Times, serif' font-style='italic'"

#: Schema of each operator: the rectangles (x, y, width, height) of its operands in a unit square.
_SCHEMAS: dict[str, tuple[tuple[float, float, float, float], ...]] = {
    "⿰": ((0, 0, 0.46, 1), (0.54, 0, 0.46, 1)),
    "⿱": ((0, 0, 1, 0.46), (0, 0.54, 1, 0.46)),
    "⿲": ((0, 0, 0.28, 1), (0.36, 0, 0.28, 1), (0.72, 0, 0.28, 1)),
    "⿳": ((0, 0, 1, 0.28), (0, 0.36, 1, 0.28), (0, 0.72, 1, 0.28)),
    "⿴": ((0, 0, 1, 1), (0.25, 0.25, 0.5, 0.5)),
    "⿵": ((0, 0, 1, 1), (0.25, 0.3, 0.5, 0.7)),
    "⿶": ((0, 0, 1, 1), (0.25, 0, 0.5, 0.7)),
    "⿷": ((0, 0, 1, 1), (0.3, 0.25, 0.7, 0.5)),
    "⿸": ((0, 0, 1, 1), (0.3, 0.3, 0.7, 0.7)),
    "⿹": ((0, 0, 1, 1), (0, 0.3, 0.7, 0.7)),
    "⿺": ((0, 0, 1, 1), (0.3, 0, 0.7, 0.7)),
    "⿻": ((0, 0, 0.7, 0.7), (0.3, 0.3, 0.7, 0.7)),
}


def document(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """A standalone SVG document of a size in user units (pixels at scale 1).

    label: what the picture shows, for its title and for screen readers.
    """
    label = escape(label, quote=True)
    head = (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
        f"width='{width:g}' height='{height:g}' role='img' aria-label='{label}'>"
    )
    return "\n".join([head, f"<title>{label}</title>", *parts, "</svg>", ""])


def box(
    centre: tuple[float, float], size: tuple[float, float], fill: str, stroke: str, radius: int = 8
) -> str:
    """A rounded rectangle around a centre."""
    (x, y), (width, height) = centre, size
    return (
        f"<rect x='{x - width / 2:g}' y='{y - height / 2:g}' width='{width:g}' height='{height:g}' "
        f"rx='{radius}' fill='{fill}' stroke='{stroke}' stroke-width='2'/>"
    )


def words(
    x: float, y: float, text: str, *, size: int, fill: str, font: str = SANS, more: str = ""
) -> str:
    """A line of text that starts at x, its base line at y.

    more: further attributes, such as text-anchor.
    """
    more = f" {more}" if more else ""
    return (
        f"<text x='{x:g}' y='{y:g}' font-size='{size}' fill='{fill}' {font}{more}>"
        f"{escape(text)}</text>"
    )


def edge(x: float, y: float, parent_x: float, parent_y: float) -> str:
    """The curve from a parent's centre to its child's."""
    middle = (y + parent_y) / 2
    return (
        f"<path d='M{parent_x:g} {parent_y:g}C{parent_x:g} {middle:g} {x:g} {middle:g} {x:g} {y:g}'"
        " fill='none' stroke='#9aa5b1' stroke-width='2'/>"
    )


def arrow(x0: float, y0: float, x1: float, y1: float, stroke: str) -> str:
    """A level or upright arrow; its tip stands at (x1, y1)."""
    across, down = (x1 > x0) - (x1 < x0), (y1 > y0) - (y1 < y0)
    back_x, back_y = x1 - 8 * across, y1 - 8 * down
    return (
        f"<path d='M{x0:g} {y0:g}L{back_x:g} {back_y:g}' stroke='{stroke}' stroke-width='2'/>"
        f"<path d='M{x1:g} {y1:g}L{back_x - 5 * down:g} {back_y - 5 * across:g}"
        f"L{back_x + 5 * down:g} {back_y + 5 * across:g}Z' fill='{stroke}'/>"
    )


def leaf_box(component: str, x: float, y: float) -> str:
    """The orange box of a component."""
    left, top = x - LEAF_SIZE / 2, y - LEAF_SIZE / 2
    return (
        f"<rect x='{left:g}' y='{top:g}' width='{LEAF_SIZE}' height='{LEAF_SIZE}' rx='8' "
        "fill='#fff3e0' stroke='#ef8a17' stroke-width='2'/>"
        f"<text x='{x:g}' y='{y + 9:g}' font-size='32' text-anchor='middle' fill='#7a3e00' {HAN}>"
        f"{escape(component)}</text>"
        f"<text x='{x:g}' y='{y + 25:g}' font-size='9' text-anchor='middle' fill='#b7791f' "
        f"{SANS}>{code_point(component)}</text>"
    )


def operator_badge(operator: str, x: float, y: float) -> str:
    """The blue badge of an operator: a schema of its layout and its name."""
    left, top = x - BADGE_WIDTH / 2, y - BADGE_HEIGHT / 2
    side = 22.0
    schema = "".join(
        f"<rect x='{x - side / 2 + side * a:g}' y='{top + 8 + side * b:g}' width='{side * w:g}' "
        f"height='{side * h:g}' fill='#2f6fb7' stroke='#ffffff' stroke-width='1.4'/>"
        for a, b, w, h in _SCHEMAS[operator]
    )
    name = OPERATOR_NAMES[operator].replace("surround from", "around,").replace(", ", " · ")
    return (
        f"<rect x='{left:g}' y='{top:g}' width='{BADGE_WIDTH}' height='{BADGE_HEIGHT}' rx='12' "
        "fill='#2f6fb7' stroke='#1d4f8a' stroke-width='1.5'/>"
        f"{schema}<text x='{x:g}' y='{top + 45:g}' font-size='10' text-anchor='middle' "
        f"fill='#ffffff' {SANS}>{name}</text>"
    )
