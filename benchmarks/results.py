"""Make docs/results.md from what `pipeline_seeds.py` has measured.

    python benchmarks/results.py metrics/seeds docs/results.md

One table a task. `cnm` and `matched` are the names under which `pipeline_seeds.py` ran the
encoders; only seeds that both have count.
"""

import json
import re
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from spacy_cnm.files import atomic_path

#: Data set -> encoder -> seed -> what `spacy-cnm evaluate` wrote.
Found: TypeAlias = dict[str, dict[str, dict[int, dict[str, Any]]]]
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
            "demo": "demo (People's Daily)",
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
percent; the difference is that of the two pipelines of one seed. How each number is computed:
[evaluation.md](evaluation.md). "Outside" is what has a character outside the base vocabulary.

The runs, with configs/TASK.cfg ([workflow.md](workflow.md) has the tasks), in bf16 on CPUs:

    python benchmarks/pipeline_seeds.py DATASET TASK
      cnm=models/cnm-bert-mini matched=models/bert-mini-matched
      --override components.transformer.model.mixed_precision=true
      --override 'components.transformer.model.transformer_config={"attn_implementation":"eager"}'
"""

PUBLISHED = """\
## Published figures

Other models, on other hardware: 12 layers of width 768 and 102 million parameters or more,
pretrained on billions of words (CNM-BERT paper, table 3, span F1). What the encoders above are:
[their card](../models/cnm-bert-mini/README.md).

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
    if not found:
        raise typer.BadParameter(f"{metrics} has no DATASET/ENCODER-SEED.json")
    lines = [INTRODUCTION]
    for title, datasets, rows in SECTIONS:
        lines += section(title, datasets, rows, found)
    with atomic_path(out) as temporary:
        temporary.write_text("\n".join(lines) + "\n" + PUBLISHED, encoding="utf-8")


def read(folder: Path) -> Found:
    """What was measured."""
    found: Found = defaultdict(lambda: defaultdict(dict))
    for path in sorted(folder.glob("*/*.json")):
        if match := re.fullmatch(r"(.+)-(\d+)", path.stem):
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                content["scores"].items()
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise typer.BadParameter(f"{path} holds no scores. Move it away.") from error
            found[path.parent.name][match[1]][int(match[2])] = content
    return found


def section(
    title: str, datasets: dict[str, str], rows: dict[str, tuple[str, ...]], found: Found
) -> list[str]:
    """A heading and a table of what is there; nothing where nothing is."""
    lines = []
    for name, shown in datasets.items():
        matched, cnm = (found[name][encoder] for encoder in ENCODERS)
        seeds = sorted(matched.keys() & cnm.keys())
        for row, path in rows.items():
            pairs = [(_value(matched[seed], path), _value(cnm[seed], path)) for seed in seeds]
            values = [(a, b) for a, b in pairs if a is not None and b is not None]
            if not values:
                continue
            differences = [b - a for a, b in values]
            columns = [list(column) for column in zip(*values, strict=True)]
            cells = [*map(_cell, columns), _cell(differences, sign="+"), str(len(values))]
            lines.append(f"| {shown} | {row} | " + " | ".join(cells) + " |")
    if not lines:
        return []
    heads = ["## " + title, "", "| | | matched | CNM | difference | seeds |"]
    return [*heads, "| --- | --- | --- | --- | --- | --- |", *lines, ""]


def _value(content: Any, path: tuple[str, ...]) -> float | None:
    """A score in percent."""
    for key in path:
        content = None if content is None else content.get(key)
    return None if content is None else 100 * float(content)


def _cell(values: list[float], sign: str = "") -> str:
    spread = f" ± {statistics.stdev(values):.2f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):{sign}.2f}{spread}"


if __name__ == "__main__":
    typer.run(main)
