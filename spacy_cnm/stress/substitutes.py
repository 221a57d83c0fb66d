"""For a character one that looks alike and that a base vocabulary lacks."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection

from spacy_cnm.ids import Leaf, Node, StructureTable

#: Where substitutes come from if nobody names any: characters that usual fonts have and that names
#: are written with, CJK Unified Ideographs and Extension A.
_BLOCKS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF))

#: Operator, position, and what stands there.
_Slot = tuple[str, int, str]


class Substitutes:
    """Characters outside a base vocabulary, by their components.

    The *main component* of a character is that part of its top level which most substitutes have at
    the same place below the same operator, usually the radical: 氵 of 湖, 艹 of 芳.
    """

    def __init__(
        self,
        lacks: Callable[[str], bool],
        table: StructureTable | None = None,
        allowed: Collection[str] | None = None,
    ) -> None:
        """Collect them.

        lacks: whether the base vocabulary lacks a character.
        table: of the characters' trees. Default: the shipped one.
        allowed: characters that may be substitutes. Default: all of the basic block and of
            Extension A.
        """
        self.table = table or StructureTable.default()
        usual = {chr(code) for first, last in _BLOCKS for code in range(first, last + 1)}
        chosen = usual if allowed is None else set(allowed)
        self.all = sorted(char for char in chosen if char in self.table and lacks(char))
        self._by_slot: dict[_Slot, list[str]] = defaultdict(list)
        self._by_part: dict[str, list[str]] = defaultdict(list)
        for char in self.all:
            for slot in self._slots(char):
                self._by_slot[slot].append(char)
                self._by_part[slot[2]].append(char)

    def find(self, char: str, key: str) -> tuple[str, bool] | None:
        """Find a substitute for a character.

        char: one character.
        key: chooses among the substitutes that fit; the same key gives the same one.
        RETURNS: the substitute, and whether it shares the main component; or else one that has
            `char` as a part or, failing that, any. None where there are none at all.
        """
        slots = [slot for slot in self._slots(char) if slot in self._by_slot]
        if slots:
            main = max(slots, key=lambda slot: (len(self._by_slot[slot]), -slot[1]))
            fitting = [other for other in self._by_slot[main] if other != char]
            if fitting:
                return _choose(fitting, key), True
        fitting = [other for other in self._by_part.get(char, self.all) if other != char]
        return (_choose(fitting, key), char in self._by_part) if fitting else None

    def _slots(self, char: str) -> list[_Slot]:
        """The parts of a character's top level; none where it has no tree or is a part itself."""
        tree = self.table.tree(char) if char in self.table else None
        if tree is None or isinstance(tree, Leaf):
            return []
        assert isinstance(tree, Node)
        return [(tree.operator, i, str(child)) for i, child in enumerate(tree.children)]


def _choose(candidates: list[str], key: str) -> str:
    digest = hashlib.sha256(key.encode("utf-8")).digest()
    return candidates[int.from_bytes(digest[:8], "big") % len(candidates)]
