"""Labels of some hundred characters, made from the shipped table, as a benchmark's file."""

from pathlib import Path

import pytest

from spacy_cnm.ids import Node, StructureTable, leaves
from spacy_cnm.probing.labels import LAYOUTS
from spacy_cnm.probing.lookup import look_up

N = 600


@pytest.fixture(scope="session")
def chars(table: StructureTable) -> list[str]:
    """Characters with a tree."""
    ideographs = (chr(code) for code in range(0x4E00, 0x9FA6, 7))
    return [c for c in ideographs if c in table and isinstance(table.tree(c), Node)][:N]


@pytest.fixture(scope="session")
def benchmark_file(chars: list[str], table: StructureTable, tmp_path_factory) -> Path:
    """A benchmark whose layouts and parts are those of the IDS; strokes are two a part."""
    rows = ["character\tstructure\tradicals\tstroke_count\tstrokes"]
    names = list(LAYOUTS)
    for char, known in look_up(chars, table).items():
        parts = leaves(table.tree(char))
        strokes = "".join("12345"[ord(part) % 5] + "1" for part in parts)
        cells = [char, names[known.layout or 0], " ".join(parts), str(len(strokes)), strokes]
        rows.append("\t".join(cells))
    path = tmp_path_factory.mktemp("benchmark") / "benchmark.tsv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


@pytest.fixture(scope="session")
def tiers_file(chars: list[str], tmp_path_factory) -> Path:
    """Two thirds of them are in the upper tiers."""
    rows = ["char\tlevel", *(f"{char}\t{1 + i % 3}" for i, char in enumerate(chars))]
    path = tmp_path_factory.mktemp("tiers") / "tiers.tsv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path
