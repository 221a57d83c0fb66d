"""Trees with shared subtrees: equal subtrees are one node of a hash-consed graph."""

from .tree import ARITY, OPERATORS

#: Operators that the paper calls standard (predicate std, equation 7).
STANDARD = "⿰⿱"


class Forest:
    """A growing pool of nodes, addressed by id.

    components (list): the leaf's character, or "" for an inner node.
    operators (list): 0 for a leaf, else 1 + index into `OPERATORS`.
    children (list): ids of the subtrees, () for a leaf.
    depths, sizes (list): levels of operators and number of nodes of the whole tree.
    orders (list): operators of the tree in post-order, as a string.
    """

    def __init__(self) -> None:
        self.components: list[str] = []
        self.operators: list[int] = []
        self.children: list[tuple[int, ...]] = []
        self.depths: list[int] = []
        self.sizes: list[int] = []
        self.orders: list[str] = []
        self._leaves: dict[str, int] = {}
        self._nodes: dict[tuple[int, ...], int] = {}

    def leaf(self, component: str) -> int:
        """Id of the leaf with this component."""
        known = self._leaves.get(component)
        if known is None:
            known = self._leaves[component] = self._add(component, 0, (), 0, 1, "")
        return known

    def node(self, operator: str, children: tuple[int, ...]) -> int:
        """Id of the node with this operator over these subtrees (ids)."""
        code = 1 + OPERATORS.index(operator)
        key = (code, *children)
        known = self._nodes.get(key)
        if known is None:
            depth = 1 + max(self.depths[child] for child in children)
            size = 1 + sum(self.sizes[child] for child in children)
            order = "".join(self.orders[child] for child in children) + operator
            known = self._nodes[key] = self._add("", code, children, depth, size, order)
        return known

    def add(self, sequence: str, replacements: dict[str, int]) -> int:
        """Add the tree of a well-formed sequence.

        sequence: prefix notation.
        replacements: ids of the trees that stand for a component; others become leaves.
        RETURNS: id of the root.
        """
        stack: list[int] = []
        for char in reversed(sequence):
            arity = ARITY.get(char)
            if arity is None:
                tree = replacements.get(char)
                stack.append(self.leaf(char) if tree is None else tree)
            else:
                children = tuple(stack[: -arity - 1 : -1])
                del stack[-arity:]
                stack.append(self.node(char, children))
        return stack[0]

    def rank(self, tree: int) -> tuple[int, bool, int, str]:
        """Key of the canonical choice, smaller is better (appendix B, equation 7)."""
        order = self.orders[tree]
        return self.depths[tree], bool(order.strip(STANDARD)), self.sizes[tree], order

    def reachable(self, roots: list[int]) -> list[int]:
        """Ids of all nodes under some roots, ascending (children come before their parents)."""
        seen = set(roots)
        stack = list(seen)
        while stack:
            for child in self.children[stack.pop()]:
                if child not in seen:
                    seen.add(child)
                    stack.append(child)
        return sorted(seen)

    def _add(
        self,
        component: str,
        operator: int,
        children: tuple[int, ...],
        depth: int,
        size: int,
        order: str,
    ) -> int:
        self.components.append(component)
        self.operators.append(operator)
        self.children.append(children)
        self.depths.append(depth)
        self.sizes.append(size)
        self.orders.append(order)
        return len(self.operators) - 1
