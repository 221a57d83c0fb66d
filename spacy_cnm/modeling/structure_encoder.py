"""The recursive Tree-MLP (paper, section 3.3), evaluated level by level over shared subtrees."""

from itertools import groupby
from operator import itemgetter

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import ARITY, FIRST_ROW, OPERATORS, StructureTable

from .config import CNMBertConfig
from .row_counts import padded_count
from .structure_cache import StructureCache

#: Rows of the operator embedding: 0 unused, the 12 operators, 3 reserved (paper: 16).
OPERATOR_ROWS = 16
#: Codes of the operators with three children.
_TERNARY = [1 + i for i, operator in enumerate(OPERATORS) if ARITY[operator] == 3]


class StructureEncoder(nn.Module):
    """Structure vectors of table rows (paper, equations 1 to 4).

    A leaf is LN(E_cmp(c)); a node with k children is
    LN(GELU(W_k [E_op(o); h_1; ..; h_k] + b_k) + mean(h_i)), k in {2, 3}. Every distinct subtree
    below the asked rows is computed once, with one matrix product a level and arity.

    The table is in integer buffers, which `set_table` or a checkpoint fills: `roots` (rows - 2,)
    the root node of each character row; `node_operator` (nodes,), 0 for a leaf; `node_children`
    (nodes, 3), for a leaf its component id. Nodes are sorted by level.
    """

    roots: Tensor
    node_operator: Tensor
    node_children: Tensor

    def __init__(self, config: CNMBertConfig) -> None:
        super().__init__()
        size = config.structure_size
        self.flat = config.structure_input == "flat"
        self.groups = [tuple(group) for group in config.structure_groups]
        n_nodes = sum(count for *_, count in self.groups)
        n_characters = config.structure_rows - FIRST_ROW
        self.component_embeddings = nn.Embedding(config.structure_components, size)
        self.operator_embeddings = nn.Embedding(OPERATOR_ROWS, size)
        # Row 0: positions without structure (s_null); row 1: ideographs without a tree (s_unk).
        self.special_embeddings = nn.Embedding(FIRST_ROW, size)
        self.binary = nn.Linear(3 * size, size)
        self.ternary = nn.Linear(4 * size, size)
        self.leaf_norm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.node_norm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.register_buffer("roots", torch.zeros(n_characters, dtype=torch.int32))
        self.register_buffer("node_operator", torch.zeros(n_nodes, dtype=torch.uint8))
        self.register_buffer("node_children", torch.zeros(n_nodes, 3, dtype=torch.int32))
        self.cache = StructureCache()

    def set_table(self, table: StructureTable) -> None:
        """Copy a structure table of the configured sizes into the buffers."""
        self.roots.copy_(torch.from_numpy(table.roots))
        self.node_operator.copy_(torch.from_numpy(table.node_operator))
        self.node_children.copy_(torch.from_numpy(table.node_children))

    def forward(self, rows: Tensor) -> Tensor:
        """Structure vectors of table rows, from the cache in evaluation without gradients.

        rows: (...) integer, rows of the structure table (0 null, 1 unknown).
        RETURNS: (..., d_s) float.
        RAISES CNMError: inside of torch.jit.trace.
        """
        if torch.jit.is_tracing():
            raise CNMError(Errors.E125)
        if self.training or torch.is_grad_enabled():
            unique, inverse = torch.unique(rows, return_inverse=True)
            return F.embedding(inverse, self.encode(unique))
        return self.cache.lookup(self, rows)

    def encode(self, rows: Tensor) -> Tensor:
        """Structure vectors of distinct rows, computed afresh.

        rows: (n,) integer, distinct and ascending.
        RETURNS: (n, d_s) float.
        """
        n_special = int((rows < FIRST_ROW).sum())
        special = self.special_embeddings(rows[:n_special])
        if n_special == len(rows):
            return special
        if self.flat:
            return torch.cat([special, self._bags(rows[n_special:])])
        roots = self.roots[rows[n_special:].long() - FIRST_ROW].long()
        leaves, levels = self._nodes_below(roots)
        # Where the state of a node stands in `states`.
        slots = torch.empty(len(self.node_operator), dtype=torch.int64, device=rows.device)
        states = self.leaf_norm(self.component_embeddings(leaves))
        all_nodes, all_states = [leaves], [states]
        known = leaves
        for groups, kept in levels:
            slots[known] = torch.arange(len(known), device=rows.device)
            new = [self._compose(arity, nodes, slots, states) for arity, nodes in groups]
            all_nodes += [nodes for _, nodes in groups]
            all_states += new
            known = torch.cat([known, *(nodes for _, nodes in groups)])
            slots[known] = torch.arange(len(known), device=rows.device)
            # A look-up's backward pass is as long as what is looked up in, so higher levels, which
            # have few nodes, get no more than they need.
            states = F.embedding(slots[kept], torch.cat([states, *new]))
            known = kept
        order = torch.cat(all_nodes)
        slots[order] = torch.arange(len(order), device=rows.device)
        return torch.cat([special, F.embedding(slots[roots], torch.cat(all_states))])

    def _bags(self, rows: Tensor) -> Tensor:
        """Normalised means of the leaf states, without operators and order: (n, d_s)."""
        trees, components = self.leaves(rows)
        order = trees.argsort(stable=True)
        states = self.leaf_norm(self.component_embeddings(components[order]))
        counts = torch.bincount(trees, minlength=len(rows))
        sums = torch.segment_reduce(states, "sum", lengths=counts, unsafe=True)
        return self.node_norm(sums / counts[:, None])

    def leaves(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Leaves of trees, each as often as it stands there.

        rows: (n,) integer, rows of characters with a tree.
        RETURNS: (m,) int64, which of `rows` a leaf belongs to; and (m,) int64, its component.
        """
        nodes = self.roots[rows.long() - FIRST_ROW].long()
        trees = torch.arange(len(rows), device=rows.device)
        ternary = torch.tensor(_TERNARY, device=rows.device)
        found: list[tuple[Tensor, Tensor]] = []
        while len(nodes):
            is_leaf = self.node_operator[nodes] == 0
            found.append((trees[is_leaf], nodes[is_leaf]))
            nodes, trees = nodes[~is_leaf], trees[~is_leaf]
            # The third child of a binary node is 0, as a leaf's may be: the operator tells.
            children = self.node_children[nodes].long()
            there = torch.ones_like(children, dtype=torch.bool)
            there[:, 2] = torch.isin(self.node_operator[nodes], ternary)
            trees = trees[:, None].expand_as(children)[there]
            nodes = children[there]
        trees, leaves = (torch.cat(parts) for parts in zip(*found, strict=True))
        return trees, self.node_children[leaves, 0].long()

    def _compose(self, arity: int, nodes: Tensor, slots: Tensor, states: Tensor) -> Tensor:
        """Equations 2 and 3 for nodes (n,) of one arity: (n, d_s)."""
        linear = self.binary if arity == 2 else self.ternary
        missing = padded_count(len(nodes)) - len(nodes)
        places = slots[self.node_children.index_select(0, nodes)[:, :arity].long()]
        children = F.embedding(F.pad(places, (0, 0, 0, missing)), states)
        operators = F.pad(self.node_operator[nodes].long(), (0, missing))
        # W [E_op(o); h] + b, with the operators' part computed once for each operator.
        size = linear.out_features
        of_operators = F.linear(
            self.operator_embeddings.weight, linear.weight[:, :size], linear.bias
        )
        of_children = F.linear(children.flatten(1), linear.weight[:, size:])
        hidden = F.gelu(F.embedding(operators, of_operators) + of_children)
        return self.node_norm(hidden + children.mean(dim=1))[: len(nodes)]

    def _nodes_below(
        self, roots: Tensor
    ) -> tuple[Tensor, list[tuple[list[tuple[int, Tensor]], Tensor]]]:
        """The distinct nodes of the trees at `roots`.

        RETURNS: the leaves; and for every level with nodes, from below: (arity, node ids) by
            arity, and the nodes, up to this level, that higher ones have for children.
        """
        asked = torch.zeros(len(self.node_operator), dtype=torch.bool, device=roots.device)
        used = torch.zeros_like(asked)
        asked[roots] = True
        found: list[tuple[list[tuple[int, Tensor]], Tensor]] = []
        stop = len(asked)
        for _, groups in groupby(reversed(self.groups[1:]), key=itemgetter(0)):
            kept = used[:stop].nonzero().squeeze(1)
            level: list[tuple[int, Tensor]] = []
            for _, arity, count in groups:
                start = stop - count
                nodes = (asked[start:stop] | used[start:stop]).nonzero().squeeze(1) + start
                if len(nodes):
                    children = self.node_children.index_select(0, nodes)[:, :arity]
                    used[children.flatten().long()] = True
                    level.append((arity, nodes))
                stop = start
            if level:
                found.append((level, kept))
        leaves = (asked[:stop] | used[:stop]).nonzero().squeeze(1)
        return leaves, found[::-1]
