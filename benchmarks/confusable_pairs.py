"""How often one of two characters that look alike is among the nearest of the other.

    python benchmarks/confusable_pairs.py models/cnm-bert-mini --labels ../shared/corpora/probe

The pairs: both are in GB 2312 and have a tree; the trees have the same top operator and differ in
one part of it; what is the same has 60 % of the strokes of the smaller character at least; what
differs has as many strokes, or one more. Of these a fixed 300 (by the hash of the pair) are asked
in both directions, among the characters of GB 2312 (6,763) and of GBK (about 21,000).
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from spacy_cnm.ids import Node, StructureTable
from spacy_cnm.modeling import load_or_wrap
from spacy_cnm.modeling.neighbours import StructureIndex
from spacy_cnm.probing.labels import read_labels

SHARED_STROKES, PAIRS = 0.6, 300


def main(
    encoder: Annotated[Path, typer.Argument(help="Folder of a CNM-BERT.")],
    labels: Annotated[Path, typer.Option(help="Folder with the numbers of strokes.")],
    nearest: Annotated[int, typer.Option(help="How many are looked at.")] = 20,
) -> None:
    """Print the shares."""
    table = StructureTable.default()
    strokes = {char: known.strokes or 0 for char, known in read_labels(labels).items()}
    pairs = sorted(confusable(table, strokes), key=_hash)
    chosen = pairs[:PAIRS]
    typer.echo(f"{len(pairs):,} pairs, such as {' '.join(map(''.join, chosen[:12]))}")
    model, tokenizer = load_or_wrap(encoder)
    for encoding in ("gb2312", "gbk"):
        characters = [char for char in table.characters if char.encode(encoding, "ignore")]
        index = StructureIndex(model, tokenizer, characters)
        found = [
            other in dict(index.nearest(char, nearest))
            for pair in chosen
            for char, other in (pair, pair[::-1])
        ]
        share = sum(found) / len(found)
        typer.echo(
            f"{encoding}: {share:.1%} among the {nearest} nearest of {len(characters):,} "
            f"({len(found)} searches)"
        )


def confusable(table: StructureTable, strokes: dict[str, int]) -> Iterator[tuple[str, str]]:
    """Give the pairs of the rule above."""
    groups = defaultdict(list)
    for char in table.characters:
        tree = table.tree(char)
        if not (isinstance(tree, Node) and strokes.get(char) and char.encode("gb2312", "ignore")):
            continue
        for place, child in enumerate(tree.children):
            rest = tuple(str(c) for i, c in enumerate(tree.children) if i != place)
            if strokes.get(str(child)):
                groups[tree.operator, place, rest].append((char, strokes[str(child)]))
    for members in groups.values():
        for (a, a_differs), (b, b_differs) in combinations(members, 2):
            fewest = min(strokes[a], strokes[b])
            same = fewest - max(a_differs, b_differs)
            if abs(a_differs - b_differs) <= 1 and same >= SHARED_STROKES * fewest:
                yield a, b


def _hash(pair: tuple[str, str]) -> bytes:
    return hashlib.sha256("".join(pair).encode()).digest()


if __name__ == "__main__":
    typer.run(main)
