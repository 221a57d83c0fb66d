"""The results of an evaluation as an aligned table for a terminal."""

from collections import Counter
from typing import Any

from .evaluate import Evaluation

#: Name, and gold count, P, R, F and accuracy; None is an empty cell.
_Row = tuple[str, tuple[float | None, ...]]
_HEADS = ("gold", "P", "R", "F", "accuracy")


def table(evaluation: Evaluation) -> list[str]:
    """Give the lines of the table: what was evaluated, the scores, other segmenters, the speed."""
    gold, speed, missing = evaluation.gold, evaluation.speed, evaluation.scores.missing
    rows = _rows(evaluation)
    lines = [
        f"{evaluation.name} {evaluation.version}: {', '.join(evaluation.components)}",
        f"{gold.source}: {len(gold.docs):,} documents, {gold.characters:,} characters",
        "",
    ]
    lines += _align(rows)
    if evaluation.unseen is not None:
        part, scores = evaluation.unseen
        keys = ("word_f", "word_tag_f", "ents_f", "cats_acc")
        shown = [
            f"{key} {scores.values[key]:.4f}" for key in keys if scores.values.get(key) is not None
        ]
        scored = ", ".join(shown) or "nothing to score"
        lines.append(f"{len(part.docs):,} documents not in training: {scored}")
    lines += [f"{name}: missing, {reason}" for name, reason in missing.items()]
    lines += [
        "",
        f"{speed.characters_per_second:,.0f} characters/s: {speed.docs:,} documents in "
        f"{speed.seconds:.1f} s on {speed.device} (threads: {speed.threads}, batch size: "
        f"{speed.batch_size})",
    ]
    return lines


def _rows(evaluation: Evaluation) -> list[_Row]:
    values, gold = evaluation.scores.values, evaluation.gold
    rows: list[_Row] = []
    if "word_f" in values:
        rows.append(_prf("words", gold.words, values, "word_"))
    elif evaluation.segmenters:
        rows.append(("words", (gold.words, None, None, None, None)))
    for name, scores in evaluation.segmenters.items():
        rows.append(_prf(f"  {name}", None, scores, "word_"))
    if "word_f" in values:
        rows.append(_prf("words with tags", gold.words, values, "word_tag_"))
        rows.append(("joint tags", (None, None, None, None, values["tag_acc"])))
    if "ents_f" in values:
        counts = gold.entities or Counter()
        rows.append(_prf("entities", sum(counts.values()), values, "ents_"))
        for label, scores in sorted((values["ents_per_type"] or {}).items()):
            rows.append(_prf(f"  {label}", counts.get(label, 0), scores, ""))
        if values.get("ents_outside"):
            numbers = (None, values["ents_outside_r"], None, None)
            rows.append(("  outside vocabulary", (values["ents_outside"], *numbers)))
    if "cats_micro_f" in values:
        numbers = (None, None, values["cats_macro_f"], values.get("cats_acc"))
        rows.append(("categories", (gold.docs_with_cats, *numbers)))
        for label, scores in sorted(values["cats_f_per_type"].items()):
            rows.append(_prf(f"  {label}", gold.cats[label], scores, ""))
    return rows


def _prf(name: str, count: int | None, values: dict[str, Any], prefix: str) -> _Row:
    return name, (count, *(values[prefix + key] for key in "prf"), None)


def _align(rows: list[_Row]) -> list[str]:
    """Give the rows as lines under their heads, without the columns that have no number."""
    if not rows:
        return []
    used = [i for i in range(len(_HEADS)) if any(row[i] is not None for _, row in rows)]
    cells = [["", *(_HEADS[i] for i in used)]]
    cells += [[name, *(_number(row[i]) for i in used)] for name, row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            f"{cell:<{width}}" if i == 0 else f"{cell:>{width}}"
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]


def _number(value: float | None) -> str:
    """Write a count with its thousands, a score with four digits."""
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
