"""A tree as a drawing in the manner of the paper's figure 1, in plain SVG.

Operators are blue badges with a schema of their layout, drawn from rectangles (few fonts hold the
operators' glyphs), components orange boxes.
"""

from html import escape
from typing import NamedTuple

from .svg_shapes import HAN, LEAF_SIZE, SANS, document, edge, leaf_box, operator_badge
from .text import code_point
from .tree import Leaf, Node, Tree, walk

_MARGIN, _HEADER = 58, 84


class Place(NamedTuple):
    """Where a node is drawn: its centre, and that of its parent (None for the root)."""

    node: Tree
    x: float
    y: float
    parent: tuple[float, float] | None


def draw_svg(char: str, tree: Tree) -> str:
    """Draw the tree of a character.

    char: the character, for the heading.
    tree: its tree.
    RETURNS: a standalone SVG document; the same input gives the same text.
    """
    places = layout(tree, _MARGIN, _HEADER, leaf_step=92, level_step=112)
    width = max(place.x for place in places) + LEAF_SIZE / 2 + _MARGIN
    width = max(width, 2 * _MARGIN + 140 + 20 * len(str(tree)))  # room for the heading
    height = max(place.y for place in places) + LEAF_SIZE / 2 + _MARGIN
    background = "<rect width='100%' height='100%' fill='#ffffff'/>"
    heading = (
        f"<text x='{_MARGIN}' y='46' font-size='30' fill='#1f2933' {HAN}>{escape(char)}"
        f"<tspan dx='12' font-size='14' fill='#7b8794' {SANS}>{code_point(char)}</tspan>"
        f"<tspan dx='12' font-size='20' fill='#52606d'>{escape(str(tree))}</tspan></text>"
    )
    label = f"{char} {code_point(char)} {tree}"
    return document(width, height, label, [background, heading, *shapes(places)])


def shapes(places: list[Place]) -> list[str]:
    """The edges of a tree, then its boxes and badges."""
    return [
        *(edge(x, y, *parent) for _, x, y, parent in places if parent),
        *(
            leaf_box(node.component, x, y)
            if isinstance(node, Leaf)
            else operator_badge(node.operator, x, y)
            for node, x, y, _ in places
        ),
    ]


def layout(
    tree: Tree, left: float, top: float, *, leaf_step: float, level_step: float
) -> list[Place]:
    """Places of every node in pre-order.

    Leaves stand side by side, a parent over the middle of its first and last child.

    left, top: corner of the box around the first leaf's column and the root's level.
    leaf_step, level_step: distance between neighbouring leaves, and between levels.
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
        (left + LEAF_SIZE / 2 + column * leaf_step, top + LEAF_SIZE / 2 + level * level_step)
        for column, level in zip(columns, levels, strict=True)
    ]
    return [
        Place(node, *centres[i], centres[parents[i]] if parents[i] >= 0 else None)
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
