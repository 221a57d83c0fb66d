"""From a file of sequences to a table."""

import os
from pathlib import Path
from typing import Any

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import check_regular

from .babelstone import read_babelstone
from .canonical import Choice, choose_trees
from .chise import read_chise
from .compiler import compile_trees
from .entries import Source
from .lines import read_lines, sha256_of
from .options import Options
from .report import Report
from .table import StructureTable

FORMATS = {"babelstone": read_babelstone, "chise": read_chise}


def build_table(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",
    min_count: int = 3,
    max_depth: int = 6,
    self_leaf: bool = True,
    atomic: str = "",
    non_atomic: str = "",
    lenient: bool = False,
) -> StructureTable:
    """Build the table of canonical trees from a file (docs/ids.md; paper, appendix B).

    path: BabelStone's IDS.TXT, or a file in the CHISE / cjkvi format.
    format: "babelstone", "chise", or "auto" to tell by the first entry.
    min_count: a component in the candidates of at least so many characters stays a leaf.
    max_depth: trees with more levels of operators are dropped.
    self_leaf: a character without a tree that is a leaf elsewhere becomes its own leaf.
    atomic, non_atomic: characters that stay leaves, or are resolved, whatever their count.
    lenient: leave damaged lines out and count them instead of stopping at the first one.
    RETURNS: the table. Its `source` tells file, options, `counts`, and what was `skipped`,
        `dropped` (by the rules) and found as `damage`.
    RAISES: CNMError that names file and line of damage; if the file cannot be read or holds no
        usable entry; if an option is out of range.
    """
    options = Options(min_count, max_depth, self_leaf, atomic, non_atomic)
    name = Path(path).name
    check_regular(path)
    if format == "auto":
        format = detect_format(path)
    elif format not in FORMATS:
        raise CNMError(Errors.E014.format(value=format, known=", ".join(["auto", *FORMATS])))
    report = Report(name, lenient)
    source = FORMATS[format](path, report)
    if not any(entry.sequences for entry in source.entries):
        raise CNMError(Errors.E015.format(path=path, n=report.entries, lines=report.n_lines))
    choice = choose_trees(source.entries, options)
    arrays = compile_trees(choice.forest, choice.roots)
    origin: dict[str, Any] = {
        "name": name,
        "format": source.format,
        "date": source.date,
        "sha256": sha256_of(path),
        "options": options.as_dict(),
        "counts": _counts(source, choice),
        **report.as_dict(),
    }
    return StructureTable(arrays, origin)


def detect_format(path: str | os.PathLike[str]) -> str:
    """Tell the format of a file by its first entry: BabelStone's candidates start with `^`."""
    for _, text in read_lines(path, Report(Path(path).name, lenient=True)):
        if text.startswith("U"):
            fields = text.split("\t")[2:]
            return "babelstone" if any(field.startswith("^") for field in fields) else "chise"
    return "babelstone"


def _counts(source: Source, choice: Choice) -> dict[str, int]:
    return {
        "ideographs": len(source.entries),
        "trees": len(choice.roots) - len(choice.self_leaves),
        "self_leaves": len(choice.self_leaves),
        "unknown": len(source.entries) - len(choice.roots),
        "too_deep": len(choice.too_deep),
        "cyclic": len(choice.cyclic),
    }
