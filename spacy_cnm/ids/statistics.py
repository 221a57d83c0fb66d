"""Counts of a table, as numbers and as text."""

from collections import Counter
from typing import Any

import numpy as np

from .table import StructureTable
from .tree import OPERATORS


def depth_counts(table: StructureTable) -> list[int]:
    """Number of characters by depth of their tree, from depth 0 on; self-leaves are left out."""
    counts = np.bincount(table.arrays.levels()[table.roots]).tolist()
    if counts:
        counts[0] -= table.source.get("counts", {}).get("self_leaves", 0)
    return counts


def operator_counts(table: StructureTable) -> list[tuple[str, int]]:
    """Number of characters by the operator at the root of their tree, most frequent first."""
    codes = table.node_operator[table.roots]
    counts = Counter(
        {OPERATORS[code - 1]: n for code, n in Counter(codes.tolist()).items() if code}
    )
    return counts.most_common()


def describe(table: StructureTable) -> str:
    """The counts of a table and what its build left out, one thing a line."""
    source = table.source
    counts = source.get("counts", {})
    origin = " ".join(filter(None, [source.get("name", "unknown"), source.get("date", "")]))
    rows: list[tuple[str, Any]] = [
        ("source", origin),
        ("sha256 of the source", source.get("sha256", "")),
        ("options", _options(source.get("options", {}))),
        ("entries", source.get("entries", "")),
        ("trees", counts.get("trees", "")),
        ("self-leaves", counts.get("self_leaves", "")),
        ("unknown", counts.get("unknown", "")),
        ("too deep", counts.get("too_deep", "")),
        ("in cycles", counts.get("cyclic", "")),
        ("components", len(table.components)),
        ("distinct subtrees", len(table.node_operator)),
        ("depths", ", ".join(f"{i}: {n:,}" for i, n in enumerate(depth_counts(table)))),
        ("root operators", ", ".join(f"{o} {n:,}" for o, n in operator_counts(table))),
    ]
    rows += [(f"skipped, {reason}", n) for reason, n in source.get("skipped", {}).items()]
    rows += [(f"dropped, {reason}", n) for reason, n in source.get("dropped", {}).items()]
    for reason, damage in source.get("damage", {}).items():
        lines = ", ".join(map(str, damage["lines"]))
        more = ", ..." if damage["count"] > len(damage["lines"]) else ""
        rows.append((f"damage, {reason}", f"{damage['count']:,} (line {lines}{more})"))
    rows.append(("fingerprint", table.fingerprint))
    width = max(len(name) for name, _ in rows)
    return "\n".join(
        f"{name:<{width}}  {f'{value:,}' if isinstance(value, int) else value}".rstrip()
        for name, value in rows
    )


def _options(options: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(options.items()) if value != "")
