"""Trees of Ideographic Description Sequences: the types, a parser and a printer.

A sequence is prefix notation: an operator, then its operands (Unicode 17.0, section 18.2). Every
function here walks with an explicit stack, so the depth of a tree is bounded by memory alone.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias, Union

from spacy_cnm.errors import CNMError, Errors

#: The twelve layout operators of the paper (appendix B), in code point order.
OPERATORS = "⿰⿱⿲⿳⿴⿵⿶⿷⿸⿹⿺⿻"

#: Number of operands of each operator.
ARITY: dict[str, int] = {operator: 3 if operator in "⿲⿳" else 2 for operator in OPERATORS}

#: Operators that the paper's rules leave out: they are unary, subtract, or only hint at a variant.
OTHER_OPERATORS = frozenset("⿼⿽⿾⿿㇯〾")


@dataclass(frozen=True, slots=True)
class Leaf:
    """A component that is not decomposed further.

    component (str): one character that is no operator.
    """

    component: str

    def __post_init__(self) -> None:
        if not is_component(self.component):
            raise CNMError(Errors.E001.format(text=shorten(self.component)))

    def __str__(self) -> str:
        return self.component


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Node:
    """An operator over two or three subtrees; `str(node)` is its sequence.

    operator (str): one of `OPERATORS`.
    children (tuple): as many trees as the operator takes, in writing order.
    """

    operator: str
    children: tuple["Tree", ...]

    def __post_init__(self) -> None:
        if ARITY.get(self.operator) != len(self.children):
            raise CNMError(
                Errors.E002.format(operator=shorten(self.operator), n=len(self.children))
            )

    def __str__(self) -> str:
        return "".join(
            node.operator if isinstance(node, Node) else node.component for node in walk(self)
        )

    def __repr__(self) -> str:
        return f"parse_ids({str(self)!r})"

    # A sequence determines its tree, so comparing text replaces a recursion over both trees.
    def __eq__(self, other: object) -> bool:
        return str(self) == str(other) if isinstance(other, Node) else NotImplemented

    def __hash__(self) -> int:
        return hash(str(self))


Tree: TypeAlias = Union[Node, Leaf]  # noqa: UP007  (a forward reference inside Node needs Union)


def shorten(text: str, limit: int = 40) -> str:
    """`text` for an error message: escaped where it does not print, cut at `limit` characters."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(char if char.isprintable() else f"\\u{{{ord(char):04X}}}" for char in cut)


def is_component(char: str) -> bool:
    """Whether a string is one character that can stand as a leaf.

    Everything counts but operators, white space and code points that are no characters (controls,
    surrogates). A private-use character is a component here; the canonical rules drop it later.
    """
    if len(char) != 1 or char in ARITY or char in OTHER_OPERATORS or char.isspace():
        return False
    # Unassigned code points pass: a table may know newer ideographs than Python's Unicode data.
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs")


def is_private(char: str) -> bool:
    """Whether a character is for private use (U+E000..F8FF and planes 15, 16; appendix B)."""
    code = ord(char)
    return 0xE000 <= code <= 0xF8FF or 0xF0000 <= code <= 0xFFFFD or 0x100000 <= code <= 0x10FFFD


def parse_ids(sequence: str) -> Tree:
    """Read one sequence as a tree.

    sequence: prefix notation over `OPERATORS` and components, such as "⿰亻⿱立十".
    RETURNS: the tree; `str` of it is `sequence` again.
    RAISES: CNMError if a character is no component, an operand is missing or one is left over.
    """
    stack: list[Tree] = []
    for char in reversed(sequence):
        arity = ARITY.get(char)
        if arity is None:
            stack.append(Leaf(char))
        elif len(stack) < arity:
            raise CNMError(Errors.E003.format(text=shorten(sequence), operator=char))
        else:
            stack.append(Node(char, tuple(stack[: -arity - 1 : -1])))
            del stack[-arity - 1 : -1]
    if len(stack) != 1:
        raise CNMError(Errors.E004.format(text=shorten(sequence), n=len(stack)))
    return stack[0]


def walk(tree: Tree) -> Iterator[Tree]:
    """All nodes and leaves of a tree in pre-order (the order of the written sequence)."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Node):
            stack.extend(reversed(node.children))


def leaves(tree: Tree) -> tuple[str, ...]:
    """The components of a tree from left to right, repeats included."""
    return tuple(node.component for node in walk(tree) if isinstance(node, Leaf))


def depth(tree: Tree) -> int:
    """Number of operators on the longest way from the root to a leaf; 0 for a leaf."""
    return measure(str(tree), {})


def measure(sequence: str, leaf_depths: dict[str, int]) -> int:
    """Depth of a well-formed sequence without building its tree.

    sequence: prefix notation.
    leaf_depths: depth of the tree that will replace a component; 0 where it is not listed.
    RETURNS: the depth after replacement, or -1 if the sequence is not balanced.
    """
    stack: list[int] = []
    for char in reversed(sequence):
        arity = ARITY.get(char)
        if arity is None:
            stack.append(leaf_depths.get(char, 0))
        elif len(stack) < arity:
            return -1
        else:
            deepest = max(stack[-arity:])
            del stack[-arity:]
            stack.append(deepest + 1)
    return stack[0] if len(stack) == 1 else -1
