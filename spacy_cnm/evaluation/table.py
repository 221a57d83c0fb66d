"""The results of an evaluation as an aligned table for a terminal."""

from collections import Counter
from typing import Any

from .evaluate import Evaluation

#: Name, gold count, P, R, F and accuracy; None is an empty cell.
_Row = tuple[str, int | None, float | None, float | None, float | None, float | None]
_HEADS = ("gold", "P", "R", "F", "accuracy")


def table(evaluation: Evaluation) -> list[str]:
    """Give the lines of the table: what was evaluated, the scores, other segmenters, the speed."""
    gold, speed, missing = evaluation.gold, evaluation.speed, evaluation.scores.missing
    rows = _rows(evaluation)
    width = max(len(name) for name, *_ in rows) if rows else 0
    lines = [
        f"{evaluation.name} {evaluation.version}: {', '.join(evaluation.components)}",
        f"{gold.source}: {len(gold.docs):,} documents, {gold.characters:,} characters",
        "",
    ]
    if rows:
        lines.append(_line(width, "", *_HEADS))
        lines += [_format(width, row) for row in rows]
    lines += [f"{name}: missing, {reason}" for name, reason in missing.items()]
    lines += [
        "",
        f"{speed.characters_per_second:,.0f} characters/s on {speed.device}: {speed.docs:,} "
        f"documents in {speed.seconds:.1f} s, {speed.threads} threads, batches of {speed.batch_size}",
    ]
    return lines


def _rows(evaluation: Evaluation) -> list[_Row]:
    values, gold = evaluation.scores.values, evaluation.gold
    rows: list[_Row] = []
    if "word_f" in values:
        rows.append(_prf("words", gold.words, values, "word_"))
    for name, scores in evaluation.segmenters.items():
        rows.append(_prf(f"  {name}", None, scores, "word_"))
    if "word_f" in values:
        rows.append(_prf("words with tags", gold.words, values, "word_tag_"))
        rows.append(("joint tags", None, None, None, None, values["tag_acc"]))
    if "ents_f" in values:
        counts = gold.entities or Counter()
        rows.append(_prf("entities", sum(counts.values()), values, "ents_"))
        for label, scores in sorted((values["ents_per_type"] or {}).items()):
            rows.append(_prf(f"  {label}", counts.get(label, 0), scores, ""))
    if "cats_micro_f" in values:
        name, count = "categories", gold.docs_with_cats
        rows.append((name, count, None, None, values["cats_macro_f"], values.get("cats_acc")))
        for label, scores in sorted(values["cats_f_per_type"].items()):
            rows.append(_prf(f"  {label}", gold.cats[label], scores, ""))
    return rows


def _prf(name: str, count: int | None, values: dict[str, Any], prefix: str) -> _Row:
    precision, recall, f_score = (values[prefix + key] for key in "prf")
    return name, count, precision, recall, f_score, None


def _format(width: int, row: _Row) -> str:
    name, count, *numbers = row
    cells = ["" if number is None else f"{number:.4f}" for number in numbers]
    return _line(width, name, "" if count is None else f"{count:,}", *cells)


def _line(width: int, name: str, *cells: str) -> str:
    return "  ".join([f"{name:<{width}}", *(f"{cell:>8}" for cell in cells)]).rstrip()
