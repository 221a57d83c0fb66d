"""The recursive Tree-MLP (paper, section 3.3), evaluated level by level over shared subtrees."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

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


class _Group(NamedTuple):
    """Nodes of one level and arity."""

    nodes: Tensor  # (n,) int64
    padded: Tensor  # (n or more,) int64, `nodes` with its first again for padding
    children: Tensor  # (n or more, arity) int64, the nodes below `padded`


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

    def init_operators(self, std: float) -> None:
        """Draw the operator embeddings anew.

        std: their standard deviation. States of leaves and nodes leave a LayerNorm with entries of
            size 1: with 1.0 an operator is as much to be seen as a child. With BERT's
            `initializer_range` it is next to nothing at first, and stays small.
        """
        nn.init.normal_(self.operator_embeddings.weight, std=std)

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
        groups = [group for level, _ in levels for group in level]
        operators = self._operators(groups)
        states = self.leaf_norm(self.component_embeddings(leaves))
        # Where the state of a node stands in `states`.
        slots = torch.empty(len(self.node_operator), dtype=torch.int64, device=rows.device)
        known, all_states = leaves, [states]
        for level, kept in levels:
            slots[known] = torch.arange(len(known), device=rows.device)
            new = [self._compose(group, next(operators), slots, states) for group in level]
            all_states += new
            known = torch.cat([known, *(group.nodes for group in level)])
            slots[known] = torch.arange(len(known), device=rows.device)
            # A look-up's backward pass is as long as what is looked up in, so higher levels, which
            # have few nodes, get no more than they need.
            states = F.embedding(slots[kept], torch.cat([states, *new]))
            known = kept
        known = torch.cat([leaves, *(group.nodes for group in groups)])
        slots[known] = torch.arange(len(known), device=rows.device)
        return torch.cat([special, F.embedding(slots[roots], torch.cat(all_states))])

    def _bags(self, rows: Tensor) -> Tensor:
        """Normalised means of the leaf states, without operators and order: (n, d_s)."""
        trees, components = self.leaves(rows)
        distinct, places = torch.unique(components, return_inverse=True)
        states = self.leaf_norm(self.component_embeddings(distinct))
        lengths = torch.bincount(trees, minlength=len(rows))
        means = F.embedding_bag(places, states, lengths.cumsum(0) - lengths, mode="mean")
        return self.node_norm(means)

    def top_operators(self, rows: Tensor) -> Tensor:
        """Codes of the operators at the roots of trees, 0 where the root is a leaf: (n,) int64.

        rows: (n,) integer, rows of characters with a tree.
        """
        return self.node_operator[self.roots[rows.long() - FIRST_ROW].long()].long()

    def leaves(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Leaves of trees, tree after tree, each leaf as often as it stands there.

        rows: (n,) integer, rows of characters with a tree.
        RETURNS: (m,) int64, which of `rows` a leaf belongs to, ascending; and (m,) int64, its
            component.
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
        trees, order = trees.sort(stable=True)
        return trees, leaves[order]  # the id of a leaf is that of its component

    def _operators(self, groups: list[_Group]) -> Iterator[Tensor]:
        """Operator embeddings (n, d_s) of each group, from one look-up."""
        if not groups:
            return iter(())
        codes = self.node_operator[torch.cat([group.padded for group in groups])].long()
        sizes = [len(group.padded) for group in groups]
        return iter(self.operator_embeddings(codes).split(sizes))

    def _compose(self, group: _Group, operators: Tensor, slots: Tensor, states: Tensor) -> Tensor:
        """Equations 2 and 3: states (n, d_s) of a group's nodes."""
        linear = self.binary if group.children.shape[1] == 2 else self.ternary
        children = F.embedding(slots[group.children], states)
        hidden = F.gelu(linear(torch.cat([operators, children.flatten(1)], dim=1)))
        return self.node_norm(hidden + children.mean(dim=1))[: len(group.nodes)]

    def _nodes_below(self, roots: Tensor) -> tuple[Tensor, list[tuple[list[_Group], Tensor]]]:
        """The distinct nodes of the trees at `roots`.

        RETURNS: the leaves; and for every level with nodes, from below: its nodes by arity, and
            what higher levels have for children among the nodes up to this level.
        """
        asked = torch.zeros(len(self.node_operator), dtype=torch.bool, device=roots.device)
        used = torch.zeros_like(asked)
        asked[roots] = True
        found: list[tuple[list[_Group], Tensor]] = []
        stop = len(asked)
        for _, sizes in groupby(reversed(self.groups[1:]), key=itemgetter(0)):
            kept = used[:stop].nonzero().squeeze(1)
            level: list[_Group] = []
            for _, arity, count in sizes:
                start = stop - count
                nodes = (asked[start:stop] | used[start:stop]).nonzero().squeeze(1) + start
                if len(nodes):
                    missing = padded_count(len(nodes)) - len(nodes)
                    padded = torch.cat([nodes, nodes[:1].expand(missing)])
                    children = self.node_children.index_select(0, padded)[:, :arity].long()
                    used[children] = True
                    level.append(_Group(nodes, padded, children))
                stop = start
            if level:
                found.append((level, kept))
        leaves = (asked[:stop] | used[:stop]).nonzero().squeeze(1)
        return leaves, found[::-1]
