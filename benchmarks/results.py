"""Make docs/results.md from what `pipeline_seeds.py` has measured.

    python benchmarks/results.py metrics/seeds docs/results.md

One table a task, a line a data set; each cell is the mean over the seeds and the standard
deviation. `cnm` and `matched` are the names under which `pipeline_seeds.py` ran the encoders.
"""

import json
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from spacy_cnm.files import atomic_path

#: Names of the encoders that are compared, in the order of the columns.
ENCODERS = ("matched", "cnm")

#: Title, name of the first column, data sets with their titles, and the rows of each: name, path.
SECTIONS: list[tuple[str, dict[str, str], dict[str, tuple[str, ...]]]] = [
    (
        "Named entities (strict span F1)",
        {
            "weibo": "Weibo",
            "msra": "MSRA",
            "resume": "Resume",
            "cclue": "C-CLUE",
            "dvsktt": "DVSKTT",
        },
        {
            "F": ("scores", "ents_f"),
            "F, texts not in training": ("unseen", "scores", "ents_f"),
            "recall, entities outside": ("scores", "ents_outside_r"),
        },
    ),
    (
        "Words and tags",
        {"gsdsimp": "GSDSimp", "kyoto": "Kyoto (classical)", "demo": "demo (People's Daily)"},
        {
            "words F": ("scores", "word_f"),
            "words with tags F": ("scores", "word_tag_f"),
            "joint tags": ("scores", "tag_acc"),
        },
    ),
    (
        "Categories (accuracy)",
        {"thucnews": "THUCNews titles", "chnsenticorp": "ChnSentiCorp", "demo": "demo (reviews)"},
        {
            "accuracy": ("scores", "cats_acc"),
            "accuracy, texts not in training": ("unseen", "scores", "cats_acc"),
        },
    ),
]

INTRODUCTION = """\
# Results

Made by `python benchmarks/results.py metrics/seeds docs/results.md`; do not edit. *matched* is the
pipeline on `models/bert-mini-matched`, *CNM* the same on `models/cnm-bert-mini`: the encoders
differ in nothing but the structure ([pretraining.md](pretraining.md#the-shipped-encoder)), the
pipelines in nothing but the encoder. Cells are means over seeds and standard deviations, in
percent. How each number is computed: [evaluation.md](evaluation.md).
"""

PUBLISHED = """\
## Published figures

Other models, on other hardware: 12 layers of width 768 and 102 million parameters or more,
pretrained on billions of words (CNM-BERT paper, table 3, span F1). The encoders above have 6
million parameters and read 32 million word pieces.

| | MSRA | Weibo |
| --- | --- | --- |
| BERT-base | 94.93 | 67.33 |
| ChineseBERT-base | 95.84 | 69.02 |
| CNM-BERT-base | 95.90 | 70.15 |
"""


def main(
    metrics: Annotated[Path, typer.Argument(help="Folder with DATASET/ENCODER-SEED.json.")],
    out: Annotated[Path, typer.Argument(help="Page to write.")],
) -> None:
    """Write the page."""
    found = read(metrics)
    lines = [INTRODUCTION]
    for title, datasets, rows in SECTIONS:
        lines += section(title, datasets, rows, found)
    with atomic_path(out) as temporary:
        temporary.write_text("\n".join(lines) + "\n" + PUBLISHED, encoding="utf-8")


def read(folder: Path) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """Data set -> encoder -> the evaluations of its seeds."""
    found: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(folder.glob("*/*.json")):
        if match := re.fullmatch(r"(.+)-\d+", path.stem):
            content = json.loads(path.read_text(encoding="utf-8"))
            found[path.parent.name][match[1]].append(content)
    return found


def section(
    title: str,
    datasets: dict[str, str],
    rows: dict[str, tuple[str, ...]],
    found: dict[str, dict[str, list[dict[str, Any]]]],
) -> list[str]:
    """A heading and a table of what is there; nothing where nothing is."""
    lines = []
    for name, shown in datasets.items():
        for row, path in rows.items():
            values = [list(_values(found[name][encoder], path)) for encoder in ENCODERS]
            if all(values):
                matched, cnm = map(statistics.mean, values)
                count = "/".join(str(len(column)) for column in values)
                cells = [*map(_cell, values), f"{cnm - matched:+.2f}", count]
                lines.append(f"| {shown} | {row} | " + " | ".join(cells) + " |")
    if not lines:
        return []
    heads = ["## " + title, "", "| | | matched | CNM | difference | seeds |"]
    return [*heads, "| --- | --- | --- | --- | --- | --- |", *lines, ""]


def _values(evaluations: Iterable[dict[str, Any]], path: tuple[str, ...]) -> Iterable[float]:
    for evaluation in evaluations:
        value: Any = evaluation
        for key in path:
            value = None if value is None else value.get(key)
        if value is not None:
            yield 100 * float(value)


def _cell(values: list[float]) -> str:
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.2f}{spread}"


if __name__ == "__main__":
    typer.run(main)
