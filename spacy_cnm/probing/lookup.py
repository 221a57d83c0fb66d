"""What the IDS itself says of a character: the ceiling of every model that is given it.

Also: how far the labels of the probe, which come from elsewhere, agree with the IDS, and which
characters only order or layout tell apart.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from spacy_cnm.ids import Leaf, Node, StructureTable, Tree, leaves
from spacy_cnm.ids.ideographs import unify

from .labels import LAYOUTS, Labels

#: The row of what is read off the IDS, without a model.
LOOKUP = "lookup"

_NAMES = list(LAYOUTS)
_SINGLE, _TRIPLE = _NAMES.index("single"), _NAMES.index("triple")
_CLASSES = {symbol: i for i, symbols in enumerate(LAYOUTS.values()) for symbol in symbols}


def look_up(chars: Iterable[str], table: StructureTable) -> dict[str, Labels]:
    """Read the layout off the first operator and the components off the leaves.

    Three equal components are the layout "triple"; a leaf, no tree and ⿻ are "single". Strokes are
    not to be read off. Radicals that are components (⺡) are given as the ideograph (水).
    """
    return {char: _labels(char, table) for char in chars}


def _labels(char: str, table: StructureTable) -> Labels:
    if char not in table:
        return Labels(_SINGLE, frozenset({char}))
    tree = table.tree(char)
    return Labels(_layout(tree, table), frozenset(unify(leaf) for leaf in leaves(tree)))


def _layout(tree: Tree, table: StructureTable) -> int:
    if isinstance(tree, Leaf):
        return _SINGLE
    parts = [part for leaf in leaves(tree) for part in _parts(leaf, table)]
    if len(parts) == 3 and len(set(parts)) == 1:
        return _TRIPLE
    return _CLASSES.get(tree.operator, _SINGLE)


def _parts(leaf: str, table: StructureTable) -> tuple[str, ...]:
    """A component that is twice the same thing (牪) as that thing, else itself."""
    if leaf in table and isinstance(tree := table.tree(leaf), Node):
        found = leaves(tree)
        if len(found) == 2 and len(set(found)) == 1:
            return found
    return (leaf,)


def disagreeing(labels: Mapping[str, Labels], table: StructureTable) -> list[str]:
    """Characters whose label is another layout than their IDS has, in the order of the labels."""
    told = look_up(labels, table)
    return [
        char
        for char, known in labels.items()
        if known.layout is not None and known.layout != told[char].layout
    ]


def agreement(labels: Mapping[str, Labels], table: StructureTable) -> dict[str, float]:
    """Share of the characters of each layout, and of all ("all"), whose IDS says the same."""
    differing = set(disagreeing(labels, table))
    chars = defaultdict(list)
    for char, known in labels.items():
        if known.layout is not None:
            for name in ("all", _NAMES[known.layout]):
                chars[name].append(char not in differing)
    return {name: sum(same) / len(same) for name, same in chars.items()}


def contrasting(labels: Mapping[str, Labels], table: StructureTable) -> set[str]:
    """Characters with the components of another one in another order or layout (杲 and 杳).

    Of two that have a tree over the same leaves, each as often, the labels differ in layout or in
    the order of strokes. A bag of components cannot tell them apart.
    """
    bags = defaultdict(list)
    for char in labels:
        if char in table and isinstance(tree := table.tree(char), Node):
            bags[tuple(sorted(leaves(tree)))].append(char)
    found = set()
    for chars in bags.values():
        told = {(labels[char].layout, labels[char].order) for char in chars}
        if len(told) > 1:
            found.update(chars)
    return found
