"""From chosen trees to the arrays of a table: nodes numbered by level, arity and content."""

import numpy as np

from .arrays import TableArrays
from .forest import Forest


def compile_trees(forest: Forest, roots: dict[str, int]) -> TableArrays:
    """Number the nodes under some roots and lay them out as arrays.

    forest: the pool of nodes.
    roots: root node (id in the forest) of every character.
    RETURNS: the arrays; the numbering depends on the trees alone, not on the ids in the forest.
    """
    used = forest.reachable(list(roots.values()))
    characters = sorted(roots)
    leaves = sorted(
        (node for node in used if not forest.operators[node]), key=forest.components.__getitem__
    )
    number = {node: i for i, node in enumerate(leaves)}
    rows: list[tuple[int, int, int, int]] = [(0, i, 0, 0) for i in range(len(leaves))]
    groups = [(0, 0, len(leaves))]
    for (level, arity), nodes in _by_level(forest, used):
        group = sorted(
            (forest.operators[node], *(number[child] for child in forest.children[node]), node)
            for node in nodes
        )
        for row in group:
            number[row[-1]] = len(rows)
            first, second, third = row[1:-1] if arity == 3 else (*row[1:-1], 0)
            rows.append((row[0], first, second, third))
        groups.append((level, arity, len(group)))
    table = np.array(rows, dtype=np.int32).reshape(-1, 4)
    return TableArrays(
        characters=np.array([ord(char) for char in characters], dtype=np.int32),
        components=np.array([ord(forest.components[leaf]) for leaf in leaves], dtype=np.int32),
        roots=np.array([number[roots[char]] for char in characters], dtype=np.int32),
        node_operator=np.ascontiguousarray(table[:, 0]),
        node_children=np.ascontiguousarray(table[:, 1:]),
        groups=tuple(groups),
    )


def _by_level(forest: Forest, used: list[int]) -> list[tuple[tuple[int, int], list[int]]]:
    """Inner nodes by (level, arity), ascending."""
    groups: dict[tuple[int, int], list[int]] = {}
    for node in used:
        if forest.operators[node]:
            key = (forest.depths[node], len(forest.children[node]))
            groups.setdefault(key, []).append(node)
    return sorted(groups.items())
