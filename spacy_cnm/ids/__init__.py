"""The symbolic side: Ideographic Description Sequences and the table of canonical trees.

Needs neither torch nor spaCy.
"""

from .babelstone import read_babelstone
from .build import build_table
from .chise import read_chise
from .entries import Entry, Source
from .ideographs import IDEOGRAPH_RANGES, is_ideograph, unify
from .report import Report
from .table import FIRST_ROW, NULL_ROW, UNKNOWN_ROW, StructureTable
from .tree import ARITY, OPERATORS, Leaf, Node, Tree, depth, leaves, parse_ids, walk

__all__ = [
    "ARITY",
    "FIRST_ROW",
    "IDEOGRAPH_RANGES",
    "NULL_ROW",
    "OPERATORS",
    "UNKNOWN_ROW",
    "Entry",
    "Leaf",
    "Node",
    "Report",
    "Source",
    "StructureTable",
    "Tree",
    "build_table",
    "depth",
    "is_ideograph",
    "leaves",
    "parse_ids",
    "read_babelstone",
    "read_chise",
    "unify",
    "walk",
]
