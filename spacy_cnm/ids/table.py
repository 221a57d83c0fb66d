"""The compiled table: one canonical tree for every ideograph, subtrees shared, sorted by level."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from spacy_cnm.errors import CNMError, Errors

from .arrays import TableArrays
from .ideographs import is_ideograph, unify
from .tablefile import read_table, write_table
from .tree import OPERATORS, Leaf, Node, Tree, leaves, shorten

#: Row of everything that is no ideograph (the null vector).
NULL_ROW = 0
#: Row of ideographs without a tree (the unknown vector).
UNKNOWN_ROW = 1
#: Row of the first character of a table.
FIRST_ROW = 2

_DEFAULT = Path(__file__).parent / "data" / "babelstone-2025-06-27.cnmids"


@dataclass(frozen=True, eq=False)
class StructureTable:
    """Canonical trees of many characters as one graph of shared nodes.

    The row of a character is an index into anything that is kept per character (structure vectors,
    for example); rows 0 and 1 stand for "no ideograph" and "no tree". Nodes are sorted by level, so
    that a tree network can be evaluated group by group without recursion.

    arrays (TableArrays): characters, components and nodes.
    source (dict): where the table comes from: name, date, SHA-256 and format of the file, options,
        counts of the build.
    """

    arrays: TableArrays
    source: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def default(cls) -> "StructureTable":
        """The table that ships with the package (BabelStone IDS of 2025-06-27); read once."""
        return _default()

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "StructureTable":
        """Read a table file.

        RAISES: CNMError that names the file if it cannot be read or is damaged.
        """
        return cls(*read_table(path))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a table file; equal tables from equal sources give equal bytes."""
        write_table(path, self.arrays, self.source)

    @cached_property
    def characters(self) -> tuple[str, ...]:
        """Characters with a tree in code point order; row r is `characters[r - FIRST_ROW]`."""
        return tuple(map(chr, self.arrays.characters.tolist()))

    @cached_property
    def components(self) -> tuple[str, ...]:
        """Components in code point order; component i is the leaf node i."""
        return tuple(map(chr, self.arrays.components.tolist()))

    @property
    def roots(self) -> np.ndarray:
        """Root node of every character, (len(characters),) int32."""
        return self.arrays.roots

    @property
    def node_operator(self) -> np.ndarray:
        """0 for a leaf, else 1 + index into `OPERATORS`, (n_nodes,) int32."""
        return self.arrays.node_operator

    @property
    def node_children(self) -> np.ndarray:
        """Component id of a leaf or node ids of children, 0 where unused, (n_nodes, 3) int32."""
        return self.arrays.node_children

    @property
    def groups(self) -> tuple[tuple[int, int, int], ...]:
        """(level, arity, number of nodes) of each run of nodes, in node order."""
        return self.arrays.groups

    @property
    def n_rows(self) -> int:
        """Number of rows: the characters and the two special ones."""
        return len(self) + FIRST_ROW

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 over characters, components and nodes (hexadecimal); equal for equal tables."""
        return self.arrays.fingerprint()

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {char: row for row, char in enumerate(self.characters, FIRST_ROW)}

    def __len__(self) -> int:
        return len(self.arrays.characters)

    def __iter__(self) -> Iterator[str]:
        return iter(self.characters)

    def __contains__(self, char: object) -> bool:
        return isinstance(char, str) and len(char) == 1 and self[char] >= FIRST_ROW

    def __getitem__(self, char: str) -> int:
        """Row of a character.

        char: one character. A radical or compatibility ideograph without an entry of its own has
            the row of its unified ideograph.
        RETURNS: its row; `UNKNOWN_ROW` for an ideograph without a tree, else `NULL_ROW`.
        RAISES: CNMError if `char` is not one character.
        """
        if not isinstance(char, str) or len(char) != 1:
            raise CNMError(Errors.E010.format(value=shorten(repr(char))))
        row = self._rows.get(char) or self._rows.get(unify(char))
        return row or (UNKNOWN_ROW if is_ideograph(char) else NULL_ROW)

    def tree(self, char: str) -> Tree:
        """The canonical tree of a character.

        RAISES: CNMError if it has none or is not one character.
        """
        row = self[char]
        if row < FIRST_ROW:
            raise CNMError(Errors.E011.format(char=shorten(char), code=f"{ord(char):04X}"))
        root = int(self.roots[row - FIRST_ROW])
        trees: dict[int, Tree] = {}
        for node in self._below(root):
            operator = int(self.node_operator[node])
            children = self.node_children[node].tolist()
            if operator:
                parts = tuple(trees[child] for child in children[: self.arrays.arity(node)])
                trees[node] = Node(OPERATORS[operator - 1], parts)
            else:
                trees[node] = Leaf(self.components[children[0]])
        return trees[root]

    def leaves(self, char: str) -> tuple[str, ...]:
        """Components of a character's tree from left to right, repeats included."""
        return leaves(self.tree(char))

    def _below(self, root: int) -> list[int]:
        """Ids of a node and everything under it, ascending, so children come first."""
        seen = {root}
        stack = [root]
        while stack:
            node = stack.pop()
            if self.node_operator[node]:
                new = set(self.node_children[node, : self.arrays.arity(node)].tolist()) - seen
                seen |= new
                stack.extend(new)
        return sorted(seen)


@lru_cache(maxsize=1)
def _default() -> StructureTable:
    return StructureTable.load(_DEFAULT)
