"""A tree as text, for a terminal."""

from .tree import Leaf, Tree

#: What each operator says about the places of its operands, in writing order.
OPERATOR_NAMES: dict[str, str] = {
    "⿰": "left to right",
    "⿱": "top to bottom",
    "⿲": "left, middle, right",
    "⿳": "top, middle, bottom",
    "⿴": "full surround",
    "⿵": "surround from above",
    "⿶": "surround from below",
    "⿷": "surround from left",
    "⿸": "surround from upper left",
    "⿹": "surround from upper right",
    "⿺": "surround from lower left",
    "⿻": "overlaid",
}


def code_point(char: str) -> str:
    """A character's code point as it is usually written, U+8FAF."""
    return f"U+{ord(char):04X}"


def draw_text(tree: Tree) -> str:
    """Draw a tree with box-drawing characters, one node a line.

    RETURNS: lines joined by line feeds, without one at the end.
    """
    lines = []
    # (node, prefix of its line, prefix of its children's lines)
    stack: list[tuple[Tree, str, str]] = [(tree, "", "")]
    while stack:
        node, first, rest = stack.pop()
        if isinstance(node, Leaf):
            lines.append(f"{first}{node.component}  {code_point(node.component)}")
            continue
        lines.append(f"{first}{node.operator}  {OPERATOR_NAMES[node.operator]}")
        last = len(node.children) - 1
        for i in range(last, -1, -1):
            branch, bar = ("└── ", "    ") if i == last else ("├── ", "│   ")
            stack.append((node.children[i], rest + branch, rest + bar))
    return "\n".join(lines)
