"""The canonical choice: one tree for every ideograph (appendix B; docs/ids.md gives the rules).

Trees are settled from the smallest rank upwards, as in Dijkstra's algorithm: a tree ranks above
every tree that it contains, so a candidate can be ranked as soon as its parts are settled. The
result does not depend on the order of entries, needs no recursion, never walks round a cycle.
"""

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .entries import Entry
from .forest import Forest
from .options import Options
from .tree import ARITY, measure


@dataclass
class Choice:
    """Result of the canonical choice.

    forest (Forest): the pool that holds the trees.
    roots (dict): root node id of every ideograph with a tree, self-leaves included.
    self_leaves (set): ideographs whose tree is only themselves because rule 7 gave it to them.
    too_deep (set): ideographs whose smallest tree is deeper than `max_depth`.
    cyclic (set): ideographs that contain each other; such a part stays a leaf.
    """

    forest: Forest = field(default_factory=Forest)
    roots: dict[str, int] = field(default_factory=dict)
    self_leaves: set[str] = field(default_factory=set)
    too_deep: set[str] = field(default_factory=set)
    cyclic: set[str] = field(default_factory=set)


def choose_trees(entries: Sequence[Entry], options: Options) -> Choice:
    """Choose one tree for every ideograph.

    entries: ideographs with usable candidates, no character twice.
    options: thresholds and exceptions.
    """
    candidates = {entry.character: described(entry) for entry in entries}
    solver = _Solver(candidates, atomic_components(candidates, options), options.max_depth)
    choice = solver.solve()
    if options.self_leaf:
        _add_self_leaves(choice, candidates)
    return choice


def described(entry: Entry) -> list[str]:
    """Candidates of an entry; the character itself counts only where nothing else is left.

    "㐄 is 㐄" describes nothing, and would win by its depth of 0 over a real description.
    """
    others = [sequence for sequence in entry.sequences if sequence != entry.character]
    return others or list(entry.sequences[:1])


def atomic_components(candidates: dict[str, list[str]], options: Options) -> set[str]:
    """Components that stay leaves (rule 3): in candidates of at least `min_count` characters."""
    counts: Counter[str] = Counter()
    for sequences in candidates.values():
        counts.update({part for text in sequences if len(text) > 1 for part in _parts(text)})
    frequent = {part for part, count in counts.items() if count >= options.min_count}
    return (frequent | set(options.atomic)) - set(options.non_atomic)


def _parts(sequence: str) -> set[str]:
    return {char for char in sequence if char not in ARITY}


def _add_self_leaves(choice: Choice, candidates: dict[str, list[str]]) -> None:
    """Rule 7: a character without a tree that is a leaf of another one's tree is its own leaf."""
    forest = choice.forest
    used = {forest.components[node] for node in forest.reachable(list(choice.roots.values()))}
    choice.self_leaves = (used & candidates.keys()) - choice.roots.keys()
    for character in sorted(choice.self_leaves):
        choice.roots[character] = forest.leaf(character)


class _Solver:
    """State of one run: which candidates wait for which characters, and what is settled."""

    def __init__(self, candidates: dict[str, list[str]], atomic: set[str], max_depth: int) -> None:
        self.candidates = candidates
        self.max_depth = max_depth
        self.choice = Choice()
        self.open = {char for char, sequences in candidates.items() if sequences}
        self.replaceable = self.open - atomic
        self.depths: dict[str, int] = {}  # of settled trees that replace their leaf
        self.trees: dict[str, int] = {}
        self.waiting: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
        self.missing: dict[tuple[str, int], int] = {}
        # (rank, is an alias, index of the candidate, character, tree or -1 if too deep)
        self.queue: list[tuple[tuple[int, bool, int, str], bool, int, str, int]] = []

    def solve(self) -> Choice:
        for char in self.candidates:
            for index in range(len(self.candidates[char])):
                self._enter(char, index)
        self._settle()
        while self.open:
            self._break_cycles()
            self._settle()
        return self.choice

    def _enter(self, char: str, index: int) -> None:
        parts = (_parts(self.candidates[char][index]) & self.replaceable) - {char}
        for part in parts:
            self.waiting[part].append((char, index))
        self.missing[char, index] = len(parts)
        if not parts:
            self._rank(char, index)

    def _rank(self, char: str, index: int) -> None:
        """Queue a candidate whose parts are all settled."""
        sequence = self.candidates[char][index]
        alias = len(sequence) == 1 and sequence != char
        depth = measure(sequence, self.depths)
        if depth > self.max_depth:  # not built: it could be too large
            heapq.heappush(self.queue, ((self.max_depth + 1, False, 0, ""), alias, index, char, -1))
            return
        tree = self.choice.forest.add(sequence, self.trees)
        heapq.heappush(self.queue, (self.choice.forest.rank(tree), alias, index, char, tree))

    def _settle(self) -> None:
        while self.queue:
            rank, _, _, char, tree = heapq.heappop(self.queue)
            if char not in self.open:
                continue
            self.open.remove(char)
            if tree < 0:
                self.choice.too_deep.add(char)
            else:
                self.choice.roots[char] = tree
            if rank[0] > 0 and char in self.replaceable:
                self.depths[char] = rank[0]
                self.trees[char] = tree
            self._release(self.waiting.pop(char, ()))

    def _release(self, keys: Iterable[tuple[str, int]]) -> None:
        for key in keys:
            self.missing[key] -= 1
            if not self.missing[key]:
                self._rank(*key)

    def _break_cycles(self) -> None:
        """Every open character now waits for open ones. Those in cycles stay leaves (rule 4)."""
        core = self._core()
        self.choice.cyclic |= core
        for char in sorted(core):
            for key in self.waiting.pop(char, ()):
                if key[0] in core:
                    self._release([key])
                else:
                    self.waiting[char].append(key)

    def _core(self) -> set[str]:
        """Open characters in a cycle or between cycles: peel off those that no other waits for."""
        uses = {
            char: {part for text in self.candidates[char] for part in _parts(text)} & self.open
            for char in self.open
        }
        users = Counter(part for parts in uses.values() for part in parts)
        free = [char for char in uses if not users[char]]
        for char in free:
            for part in uses.pop(char):
                users[part] -= 1
                if not users[part]:
                    free.append(part)
        return set(uses)
