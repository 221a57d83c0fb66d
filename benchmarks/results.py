"""Make docs/results.md from what `pipeline_seeds.py` and `pipeline_stress.py` have measured.

    python benchmarks/results.py metrics docs/results.md --readme README.md

One table a task, and the main rows of all in the README. `cnm` and `matched` are the names under
which `pipeline_seeds.py` ran the encoders, `cnm-augmented` and `matched-augmented` those of
pipelines that were trained with the augmenter of configs/ner.cfg; only seeds that both have count.
"""

import json
import math
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
#: Behind the name of one that was fine-tuned with the augmenter.
AUGMENTED = "-augmented"

#: What is changed by the stress test.
NAMES = ("persons", "places")
#: Which score tells of which of its rows.
STRESS = {
    "r": ("recall", ("one", "most", "all")),
    "f": ("F", ("elsewhere", "everywhere")),
}

#: Where the recall is of entities with a character outside.
OUTSIDE = ("scores", "ents_outside_r")

#: Title, data sets with their titles, and the rows of each: name, path.
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
            "recall, entities outside": OUTSIDE,
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

#: The rows that the README shows of each data set.
MAIN = ("F", "recall, entities outside", "words F", "words with tags F", "accuracy")
#: It shows no recall on fewer entities than these.
FEWEST = 50
#: Between these lines the README's table is written.
MARKS = ("<!-- RESULTS START: made by benchmarks/results.py -->", "<!-- RESULTS END -->")

INTRODUCTION = """\
# Results

Made by `python benchmarks/results.py metrics docs/results.md --readme README.md`; do not edit.
*matched* is the pipeline on `models/bert-mini-matched`, *CNM* the same on `models/cnm-bert-mini`:
the encoders differ in nothing but the structure
([pretraining.md](pretraining.md#the-shipped-encoder)), the pipelines in nothing but the encoder.
Cells are means over seeds and standard deviations, in percent; the difference is that of the two
pipelines of one seed. How each number is computed: [evaluation.md](evaluation.md). "Outside" is
what has a character outside the base vocabulary, the number of such entities in parentheses.

The runs, on CPUs, with configs/TASK.cfg and the settings at the end of the page; both pipelines
of a seed are computed in bf16 or both in fp32, by what the machine had:

    python benchmarks/pipeline_seeds.py DATASET TASK
      cnm=models/cnm-bert-mini matched=models/bert-mini-matched --override KEY=VALUE ...

and, for the tables of rare names ([what is changed](evaluation.md#stress), "loss": of what is found
before, how much is lost; nothing where the baseline loses nothing):

    python benchmarks/pipeline_stress.py msra --persons PER --places LOC
    python benchmarks/pipeline_stress.py weibo --persons PER.NAM --places GPE.NAM --places LOC.NAM
    python benchmarks/pipeline_stress.py resume --persons NAME --places LOC
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
    metrics: Annotated[
        Path,
        typer.Argument(help="Folder with seeds/DATASET/ENCODER-SEED.json, and maybe stress/."),
    ],
    out: Annotated[Path, typer.Argument(help="Page to write.")],
    readme: Annotated[
        Path | None, typer.Option(help="Write the main rows between the marks in this file, too.")
    ] = None,
) -> None:
    """Write the page."""
    found = read(metrics / "seeds", "scores")
    if not found:
        raise typer.BadParameter(f"{metrics} has no seeds/DATASET/ENCODER-SEED.json")
    check_precisions(found)
    around = around_table(readme) if readme is not None else []
    lines = [INTRODUCTION]
    for title, datasets, rows in SECTIONS:
        lines += section(title, datasets, rows, found)
    entities, words = SECTIONS[0][1], SECTIONS[1][1]
    lines += segmenters(words, found)
    lines += section("Named entities by type (F1)", entities, by_type(found), found)
    trained = "Named entities, trained with the augmenter"
    lines += section(trained, entities, SECTIONS[0][2], found, AUGMENTED)
    for names in NAMES:
        changed = read(metrics / "stress" / names, "results")
        for score in STRESS:
            lines += stress(names, score, entities, changed)
    lines += settings(
        {key: title for _, titles, _ in SECTIONS for key, title in titles.items()}, found
    )
    with atomic_path(out) as temporary:
        temporary.write_text("\n".join(lines) + "\n" + PUBLISHED, encoding="utf-8")
    if readme is not None:
        table = "\n".join([MARKS[0], "", *table_of(main_rows(found)), "", MARKS[1]])
        with atomic_path(readme) as temporary:
            temporary.write_text(table.join(around), encoding="utf-8")


def read(folder: Path, key: str) -> Found:
    """What was measured: files with a dictionary of that key."""
    found: Found = defaultdict(lambda: defaultdict(dict))
    for path in sorted(folder.glob("*/*.json")):
        if match := re.fullmatch(r"(.+)-(0|[1-9]\d*)", path.stem):
            try:
                content = json.loads(path.read_text(encoding="utf-8"))
                content[key].items()
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise typer.BadParameter(f"{path} holds no {key}. Move it away.") from error
            runs = found[path.parent.name][match[1]]
            for other in runs.values():
                if _conditions(other) != _conditions(content):
                    what = f"{path} was measured in another way than the seeds before it"
                    raise typer.BadParameter(f"{what}. Move it away, or those.")
            runs[int(match[2])] = content
    return found


def _conditions(run: dict[str, Any]) -> list[Any]:
    """What has to be the same for runs to be compared: settings, or the labels of a stress test."""
    return [run.get(key) for key in ("settings", "labels", "keep", "seed", "test")]


def check_precisions(found: Found) -> None:
    """Check that what is compared, the pipelines of one seed, was computed in one precision."""
    for name, runs in found.items():
        for suffix in ("", AUGMENTED):
            matched, cnm = (runs[encoder + suffix] for encoder in ENCODERS)
            for seed in sorted(matched.keys() & cnm.keys()):
                kinds = [run.get("precision") for run in (matched[seed], cnm[seed])]
                if len(set(kinds)) > 1:
                    what = f"seed {seed} of {name} was computed in {kinds[0]} and in {kinds[1]}"
                    raise typer.BadParameter(f"{what}. Run one of them again.")


def section(
    title: str,
    datasets: dict[str, str],
    rows: dict[str, tuple[str, ...]],
    found: Found,
    suffix: str = "",
) -> list[str]:
    """A heading and a table of what is there; nothing where nothing is.

    suffix: of the names of the encoders.
    """
    lines = rows_of(datasets, rows, found, suffix)
    return ["## " + title, "", *table_of(lines), ""] if lines else []


def around_table(readme: Path) -> list[str]:
    """What stands before the README's table, and what after it."""
    text = readme.read_text(encoding="utf-8")
    if [text.count(mark) for mark in MARKS] != [1, 1] or text.index(MARKS[0]) > text.index(
        MARKS[1]
    ):
        raise typer.BadParameter(f"not once, in this order: {' and '.join(MARKS)} in {readme}")
    return [text.split(MARKS[0])[0], text.split(MARKS[1])[1]]


def main_rows(found: Found) -> list[str]:
    """The rows of the README, with one decimal."""
    lines = []
    for _, datasets, rows in SECTIONS:
        chosen = {row: rows[row] for row in MAIN if row in rows}
        lines += rows_of(datasets, chosen, found, digits=1, fewest=FEWEST)
    return lines


def table_of(lines: list[str]) -> list[str]:
    """Rows with their heads."""
    heads = ["| | | matched | CNM | difference | seeds |", "| --- | --- | --- | --- | --- | --- |"]
    return [*heads, *lines]


def rows_of(
    datasets: dict[str, str],
    rows: dict[str, tuple[str, ...]],
    found: Found,
    suffix: str = "",
    digits: int = 2,
    fewest: int = 0,
) -> list[str]:
    """A row of a table for each data set and score that both encoders have.

    fewest: entities outside, for their recall to be a row.
    """
    lines = []
    for name, shown in datasets.items():
        matched, cnm = (found[name][encoder + suffix] for encoder in ENCODERS)
        seeds = sorted(matched.keys() & cnm.keys())
        for row, path in rows.items():
            pairs = [(_value(matched[seed], path), _value(cnm[seed], path)) for seed in seeds]
            values = [(a, b) for a, b in pairs if a is not None and b is not None]
            if not values:
                continue
            if path == OUTSIDE:
                count = cnm[seeds[0]]["scores"]["ents_outside"]
                if count < fewest:
                    continue
                row = f"{row} ({count})"
            differences = [b - a for a, b in values]
            columns = [list(column) for column in zip(*values, strict=True)]
            cells = [_cell(column, digits=digits) for column in columns]
            cells += [_cell(differences, sign="+", digits=digits), str(len(values))]
            lines.append(f"| {shown} | {row} | " + " | ".join(cells) + " |")
    return lines


def by_type(found: Found) -> dict[str, tuple[str, ...]]:
    """Rows of F1 for every type of entity that anything has."""
    scores = [
        run["scores"]
        for runs in found.values()
        for seeds in runs.values()
        for run in seeds.values()
    ]
    types = {label for values in scores for label in values.get("ents_per_type") or ()}
    return {label: ("scores", "ents_per_type", label, "f") for label in sorted(types)}


def segmenters(datasets: dict[str, str], found: Found) -> list[str]:
    """What other segmenters get on the same words."""
    lines = []
    for name, shown in datasets.items():
        runs = [run for seeds in found[name].values() for run in seeds.values()]
        others = {key: row for run in runs for key, row in run.get("segmenters", {}).items()}
        lines += [f"| {shown} | {key} | {100 * row['word_f']:.2f} |" for key, row in others.items()]
    if not lines:
        return []
    return ["## Other segmenters (words F)", "", "| | | |", "| --- | --- | --- |", *lines, ""]


def settings(datasets: dict[str, str], found: Found) -> list[str]:
    """What was run, an item for each data set and set of settings."""
    lines = []
    for name in (name for name in datasets if name in found):
        groups = defaultdict(list)
        for encoder, seeds in found[name].items():
            if not seeds:
                continue
            chosen = next(iter(seeds.values())).get("settings", {})
            overrides = [f"`--override '{item}'`" for item in chosen.get("overrides", ())]
            text = " ".join([f"`{name} {chosen.get('task')}`", *overrides])
            groups[text, _precisions(seeds)].append(encoder)
        lines += [
            f"- {', '.join(encoders)}: {text} ({precisions})"
            for (text, precisions), encoders in groups.items()
        ]
    return ["## Settings", "", *lines, ""]


def _precisions(seeds: dict[int, dict[str, Any]]) -> str:
    """Which seeds were computed in which precision."""
    groups = defaultdict(list)
    for seed, run in sorted(seeds.items()):
        groups[run.get("precision")].append(str(seed))
    return "; ".join(f"{precision}: {', '.join(numbers)}" for precision, numbers in groups.items())


def stress(names: str, score: str, datasets: dict[str, str], found: Found) -> list[str]:
    """A heading and a table of scores of names before and after; nothing where nothing is."""
    title, rows = STRESS[score]
    lines = []
    for name, shown in datasets.items():
        for suffix in ("", AUGMENTED):
            matched, cnm = (found[name][encoder + suffix] for encoder in ENCODERS)
            seeds = sorted(matched.keys() & cnm.keys())
            for changed in rows if seeds else ():
                cells, losses = [], []
                for runs in (matched, cnm):
                    before, after = (
                        [_names(runs[seed], row, score) for seed in seeds]
                        for row in ("before", changed)
                    )
                    cells += [_cell(before), _cell(after)]
                    losses.append(statistics.mean(before) - statistics.mean(after))
                share = f"{losses[1] / losses[0]:.2f}" if losses[0] > 0 else ""
                row = [shown, "yes" if suffix else "no", changed, *cells, share, str(len(seeds))]
                lines.append("| " + " | ".join(row) + " |")
    if not lines:
        return []
    heads = ["", "augmenter", "changed", "matched before", "after", "CNM before", "after"]
    heads += ["loss of CNM / of matched", "seeds"]
    return [
        f"## Rare names: {title} of {names}, before and after the change",
        "",
        "| " + " | ".join(heads) + " |",
        "|" + " --- |" * len(heads),
        *lines,
        "",
    ]


def _names(run: Any, row: str, score: str) -> float:
    """A score of names in percent, before or after a change."""
    found = _value(run, ("results", row, score))
    if found is None:
        raise typer.BadParameter(f"a stress test has no row {row!r}: run it again")
    return found


def _value(content: Any, path: tuple[str, ...]) -> float | None:
    """A score in percent."""
    for key in path:
        content = None if content is None else content.get(key)
    if content is None:
        return None
    if not math.isfinite(value := float(content)):
        raise typer.BadParameter(f"{'.'.join(path)} = {value}: measure it again")
    return 100 * value


def _cell(values: list[float], sign: str = "", digits: int = 2) -> str:
    spread = f" ± {statistics.stdev(values):.{digits}f}" if len(values) > 1 else ""
    return f"{statistics.mean(values):{sign}.{digits}f}{spread}"


if __name__ == "__main__":
    typer.run(main)
