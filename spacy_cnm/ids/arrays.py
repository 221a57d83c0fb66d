"""The numbers of a table, and the checks that make them safe to index with."""

import hashlib
from dataclasses import dataclass

import numpy as np

from .tree import ARITY, OPERATORS

#: Arity by operator code: 0 for a leaf, then the operators in order.
ARITIES = np.array([0, *(ARITY[operator] for operator in OPERATORS)], dtype=np.int32)

_LAST_CODE_POINT = 0x10FFFF


@dataclass(frozen=True, eq=False)
class TableArrays:
    """Characters, components and nodes; all arrays int32 and C-contiguous.

    characters: code points with a tree, ascending, (n_characters,).
    components: code points of the leaves, ascending, (n_components,).
    roots: root node of each character, (n_characters,).
    node_operator: 0 for a leaf, else 1 + index into `OPERATORS`, (n_nodes,).
    node_children: component id of a leaf or node ids of the children, (n_nodes, 3).
    groups: (level, arity, number of nodes) of each run of nodes, in node order.
    """

    characters: np.ndarray
    components: np.ndarray
    roots: np.ndarray
    node_operator: np.ndarray
    node_children: np.ndarray
    groups: tuple[tuple[int, int, int], ...]

    def arity(self, node: int) -> int:
        """Number of children of a node, 0 for a leaf."""
        return int(ARITIES[self.node_operator[node]])

    def levels(self) -> np.ndarray:
        """Level of every node (depth of its subtree), (n_nodes,) int32."""
        levels, _, counts = np.array(self.groups, dtype=np.int32).reshape(-1, 3).T
        return np.repeat(levels, counts)

    def fingerprint(self) -> str:
        """SHA-256 over all arrays, as 64 hexadecimal digits."""
        digest = hashlib.sha256(b"spacy_cnm.StructureTable.v1")
        for array in (
            self.characters,
            self.components,
            self.roots,
            self.node_operator,
            self.node_children,
        ):
            digest.update(f"{array.shape}".encode())
            digest.update(np.ascontiguousarray(array, dtype="<i4").tobytes())
        return digest.hexdigest()

    def fault(self) -> str:
        """What is wrong with the arrays, or "" if every index in them is valid.

        Checks order, ranges, and that all children of a node lie on lower levels with one of them
        right below it: what a level-by-level evaluation relies on.
        """
        n_nodes, n_components = len(self.node_operator), len(self.components)
        if self.node_children.shape != (n_nodes, 3):
            return "node_children is not (n_nodes, 3)"
        if self.roots.shape != self.characters.shape:
            return "roots and characters differ in length"
        for name in ("characters", "components"):
            codes = getattr(self, name)
            if not _ascending(codes) or not _within(codes, 1, _LAST_CODE_POINT + 1):
                return f"{name} are not ascending code points"
        if not _within(self.roots, 0, n_nodes):
            return "a root is out of range"
        if not _within(self.node_operator, 0, len(ARITIES)):
            return "an operator is out of range"
        return self._group_fault(n_nodes, n_components) or self._child_fault(n_components)

    def _group_fault(self, n_nodes: int, n_components: int) -> str:
        if not self.groups or self.groups[0] != (0, 0, n_components):
            return "the first group is not that of the leaves"
        keys = [group[:2] for group in self.groups]
        if keys != sorted(set(keys)) or any(arity not in (2, 3) for _, arity in keys[1:]):
            return "the groups are not sorted by level and arity"
        if any(group[2] < 1 for group in self.groups[1:]):
            return "a group is empty"
        if sum(group[2] for group in self.groups) != n_nodes:
            return "the groups do not add up to the number of nodes"
        arities = np.repeat([arity for _, arity, _ in self.groups], [n for *_, n in self.groups])
        if not np.array_equal(arities, ARITIES[self.node_operator]):
            return "an operator does not fit the arity of its group"
        return ""

    def _child_fault(self, n_components: int) -> str:
        identity = np.arange(n_components, dtype=np.int32)
        if not np.array_equal(self.node_children[:n_components, 0], identity):
            return "a leaf does not point to its component"
        if self.node_children[:n_components, 1:].any():
            return "a leaf has children"
        levels = self.levels()
        start = n_components
        for level, arity, count in self.groups[1:]:
            children = self.node_children[start : start + count]
            if children[:, arity:].any():
                return "a binary node has a third child"
            children = children[:, :arity]
            if not _within(children, 0, len(levels)):
                return "a child is out of range"
            if not np.array_equal(levels[children].max(axis=1), np.full(count, level - 1)):
                return "a child does not lie on a lower level"
            start += count
        return ""


def _within(array: np.ndarray, low: int, high: int) -> bool:
    return not array.size or bool(array.min() >= low and array.max() < high)


def _ascending(array: np.ndarray) -> bool:
    return bool((np.diff(array) > 0).all())
