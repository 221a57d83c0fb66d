"""A tree as a drawing in the manner of the paper's figure 1, in plain SVG.

Operators are blue badges with a schema of their layout, drawn from rectangles (few fonts hold the
operators' glyphs), components orange boxes.
"""

from html import escape

from .text import OPERATOR_NAMES, code_point
from .tree import Leaf, Node, Tree, walk

_LEAF_STEP = 92  # distance between leaves, in user units (pixels at scale 1)
_LEVEL_STEP = 112
_BOX = 60
_BADGE_WIDTH, _BADGE_HEIGHT = 116, 54
_MARGIN, _HEADER = 58, 84

_SANS = "font-family='Helvetica Neue, Helvetica, Arial, sans-serif'"
_HAN = (
    "font-family='Noto Serif CJK SC, Source Han Serif SC, Songti SC, SimSun, HanaMinA, "
    "HanaMinB, BabelStone Han, serif'"
)

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


def draw_svg(char: str, tree: Tree) -> str:
    """Draw the tree of a character.

    char: the character, for the heading.
    tree: its tree.
    RETURNS: a standalone SVG document; the same input gives the same text.
    """
    places = _places(tree)
    width = max(x for _, x, _, _ in places) + _BOX / 2 + _MARGIN
    width = max(width, 2 * _MARGIN + 140 + 20 * len(str(tree)))  # room for the heading
    height = max(y for _, _, y, _ in places) + _BOX / 2 + _MARGIN
    label = escape(f"{char} {code_point(char)} {tree}", quote=True)
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width:g} {height:g}' "
        f"width='{width:g}' height='{height:g}' role='img' aria-label='{label}'>",
        f"<title>{label}</title>",
        "<rect width='100%' height='100%' fill='#ffffff'/>",
        f"<text x='{_MARGIN}' y='46' font-size='30' fill='#1f2933' {_HAN}>{escape(char)}"
        f"<tspan dx='12' font-size='14' fill='#7b8794' {_SANS}>{code_point(char)}</tspan>"
        f"<tspan dx='12' font-size='20' fill='#52606d'>{escape(str(tree))}</tspan></text>",
    ]
    parts += [_edge(x, y, *parent) for _, x, y, parent in places if parent]
    parts += [_leaf(n, x, y) if isinstance(n, Leaf) else _badge(n, x, y) for n, x, y, _ in places]
    return "\n".join([*parts, "</svg>", ""])


def _places(tree: Tree) -> list[tuple[Tree, float, float, tuple[float, float] | None]]:
    """Centre (x, y) of every node in pre-order, with the centre of its parent.

    Leaves stand side by side, a parent over the middle of its first and last child.
    """
    nodes = list(walk(tree))
    parents: list[int] = []
    levels: list[int] = []
    open_slots: list[tuple[int, int]] = []  # (parent, children still to come), in pre-order
    for i, node in enumerate(nodes):
        while open_slots and not open_slots[-1][1]:
            open_slots.pop()
        parent = open_slots[-1][0] if open_slots else -1
        if open_slots:
            open_slots[-1] = (parent, open_slots[-1][1] - 1)
        parents.append(parent)
        levels.append(levels[parent] + 1 if parent >= 0 else 0)
        if isinstance(node, Node):
            open_slots.append((i, len(node.children)))
    columns = _columns(nodes, parents)
    centres = [
        (_MARGIN + _BOX / 2 + column * _LEAF_STEP, _HEADER + _BOX / 2 + level * _LEVEL_STEP)
        for column, level in zip(columns, levels, strict=True)
    ]
    return [
        (node, *centres[i], centres[parents[i]] if parents[i] >= 0 else None)
        for i, node in enumerate(nodes)
    ]


def _columns(nodes: list[Tree], parents: list[int]) -> list[float]:
    columns = [0.0] * len(nodes)
    span: dict[int, tuple[float, float]] = {}
    next_leaf = sum(isinstance(node, Leaf) for node in nodes)
    for i in range(len(nodes) - 1, -1, -1):  # children before their parents, from right to left
        if isinstance(nodes[i], Leaf):
            next_leaf -= 1
            columns[i] = next_leaf
        else:
            columns[i] = sum(span[i]) / 2
        _, right = span.get(parents[i], (0.0, columns[i]))
        span[parents[i]] = (columns[i], right)
    return columns


def _edge(x: float, y: float, parent_x: float, parent_y: float) -> str:
    middle = (y + parent_y) / 2
    return (
        f"<path d='M{parent_x:g} {parent_y:g}C{parent_x:g} {middle:g} {x:g} {middle:g} {x:g} {y:g}'"
        " fill='none' stroke='#9aa5b1' stroke-width='2'/>"
    )


def _leaf(leaf: Leaf, x: float, y: float) -> str:
    left, top = x - _BOX / 2, y - _BOX / 2
    return (
        f"<rect x='{left:g}' y='{top:g}' width='{_BOX}' height='{_BOX}' rx='8' fill='#fff3e0' "
        "stroke='#ef8a17' stroke-width='2'/>"
        f"<text x='{x:g}' y='{y + 9:g}' font-size='32' text-anchor='middle' fill='#7a3e00' {_HAN}>"
        f"{escape(leaf.component)}</text>"
        f"<text x='{x:g}' y='{y + 25:g}' font-size='9' text-anchor='middle' fill='#b7791f' "
        f"{_SANS}>{code_point(leaf.component)}</text>"
    )


def _badge(node: Node, x: float, y: float) -> str:
    left, top = x - _BADGE_WIDTH / 2, y - _BADGE_HEIGHT / 2
    side = 22.0
    schema = "".join(
        f"<rect x='{x - side / 2 + side * a:g}' y='{top + 8 + side * b:g}' width='{side * w:g}' "
        f"height='{side * h:g}' fill='#2f6fb7' stroke='#ffffff' stroke-width='1.4'/>"
        for a, b, w, h in _SCHEMAS[node.operator]
    )
    return (
        f"<rect x='{left:g}' y='{top:g}' width='{_BADGE_WIDTH}' height='{_BADGE_HEIGHT}' rx='12' "
        "fill='#2f6fb7' stroke='#1d4f8a' stroke-width='1.5'/>"
        f"{schema}<text x='{x:g}' y='{top + 45:g}' font-size='10' text-anchor='middle' "
        f"fill='#ffffff' {_SANS}>{_short_name(node.operator)}</text>"
    )


def _short_name(operator: str) -> str:
    return OPERATOR_NAMES[operator].replace("surround from", "around,").replace(", ", " · ")
