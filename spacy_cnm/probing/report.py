"""What a study found: a page of tables, and one HTML file with tables and figures."""

import base64
import html
import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path
from spacy_cnm.ids import StructureTable

from .lookup import LOOKUP, agreement
from .splits import LONG_TAIL
from .study import Study
from .subject import CONTRASTING, DISAGREEING, OOV, TEST
from .summary import SCORES, Summary, Value

FIGURES = ("tiers", "layouts", "structure-vectors", "pretraining")
#: What `write_report` writes.
OUTPUTS = ("table.md", "report.html", *(f"{n}.{kind}" for n in FIGURES for kind in ("png", "svg")))

_CAPTIONS = {
    "tiers": "Layout and components by tier of frequency; OOV: outside of the vocabulary.",
    "layouts": "F1 of each layout on the OOV slice.",
    "structure-vectors": "UMAP of structure vectors, 250 of each of the 8 most frequent operators.",
    "pretraining": "Loss of the encoders in pretraining.",
}
_PACKAGES = ("spacy-cnm", "torch", "transformers", "numpy", "matplotlib", "umap-learn")
_STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; margin: 1em 0; }
td, th { border: 1px solid #ccc; padding: .2em .6em; text-align: right; }
td:first-child, th:first-child, td:nth-child(2), th:nth-child(2) { text-align: left; }
figure { margin: 2em 0; } img { max-width: 100%; } code { overflow-wrap: anywhere; }
"""

_Table = tuple[str, list[str], list[list[str]]]


def check_extra() -> None:
    """Check that what draws the figures is installed.

    RAISES CNMError: it is not.
    """
    for package in ("matplotlib", "umap"):
        if find_spec(package) is None:
            raise CNMError(Errors.E607.format(package=package))


def check_logs(folders: Iterable[Path]) -> None:
    """Check, before any work, the logs that are to be drawn.

    RAISES CNMError: one is damaged.
    """
    from .figures import pretraining_logs, read_log

    for folder in folders:
        for path in pretraining_logs(folder):
            read_log(path)


def write_report(out: Path, study: Study, runs: Sequence[Mapping[str, Any]], command: str) -> None:
    """Write OUTPUTS to a folder; figures that there is nothing for are taken away.

    runs: as `study.run` returns them.
    command: what was called.
    """
    from .figures import StructureVectors, draw_all

    summary = Summary(runs)
    encoders = study.encoders | study.ablations
    purities = {name: StructureVectors.of(path).purity() for name, path in encoders.items()}
    tables = list(_tables(summary, study, purities))
    about = _about(summary, study, command)
    with atomic_path(out / "table.md") as temporary:
        temporary.write_text("\n".join(_markdown(tables, about)), encoding="utf-8")
    figures = draw_all(out, summary, study.encoders, list(study.subject.splits))
    for name in set(FIGURES) - set(figures):
        for kind in ("png", "svg"):
            (out / f"{name}.{kind}").unlink(missing_ok=True)
    with atomic_path(out / "report.html") as temporary:
        page = "\n".join(_html(tables, about, {name: out / f"{name}.png" for name in figures}))
        temporary.write_text(page, encoding="utf-8")


def _tables(summary: Summary, study: Study, purities: Mapping[str, float]) -> Iterator[_Table]:
    splits = study.subject.splits
    # The paper's main result comes first.
    for split in sorted(splits, key=lambda name: name != LONG_TAIL):
        slices = study.subject.slices[split]
        for part in (OOV, TEST):
            if part in slices:
                yield _scores(summary, split, part, len(slices[part]), list(SCORES))
    for part, title in (
        (CONTRASTING, "another character has the same components in another order or layout"),
        (DISAGREEING, "the label is another layout than the IDS has"),
    ):
        for split, slices in study.subject.slices.items():
            if part in slices and split == (LONG_TAIL if LONG_TAIL in splits else split):
                name, heads, rows = _scores(
                    summary, split, part, len(slices[part]), ["layout_accuracy", "order_f1"]
                )
                yield f"{name}: {title}", heads, rows
    found = agreement(study.subject.labels, StructureTable.default())
    shares = [[name, f"{100 * share:.1f}"] for name, share in found.items()]
    yield "Labels whose layout is that of the IDS", ["layout", "%"], shares
    heads = ["encoder", "purity"]
    rows = [[name, f"{value:.2f}"] for name, value in purities.items()]
    yield "1-NN purity of structure vectors by top operator", heads, rows


def _scores(summary: Summary, split: str, part: str, count: int, scores: Sequence[str]) -> _Table:
    """Scores of every model and protocol on one slice."""
    heads = ["model", "protocol", *(SCORES[score][0] for score in scores)]
    rows = []
    for model, protocol in summary.rows(split):
        cells = [_cell(summary.score(model, protocol, split, part, s), s) for s in scores]
        rows.append([model, "" if model == LOOKUP else protocol, *cells])
    return f"{split} split, {part} ({count:,} characters)", heads, rows


def _cell(value: Value | None, score: str) -> str:
    if value is None:
        return ""
    factor, digits = (100, 1) if SCORES[score][1] else (1, 2)
    spread = f" ± {factor * value.spread:.{digits}f}" if value.n > 1 else ""
    return f"{factor * value.mean:.{digits}f}{spread}"


def _about(summary: Summary, study: Study, command: str) -> list[tuple[str, str]]:
    """What stands behind the numbers."""
    packages = [f"{name} {version(name)}" for name in _PACKAGES]
    folders = study.encoders | study.ablations
    sizes = [
        f"{name}: {len(split.train):,} to learn from, {len(split.dev):,}, {len(split.test):,}"
        for name, split in study.subject.splits.items()
    ]
    return [
        ("command", command),
        ("seeds", ", ".join(map(str, study.seeds))),
        ("encoders", ", ".join(f"{name} = {folder}" for name, folder in folders.items())),
        ("characters (train, dev, test)", "; ".join(sizes)),
        ("versions", ", ".join([f"Python {platform.python_version()}", *packages])),
        ("fine-tuned in", ", ".join(summary.precisions())),
        ("time of all probes, one thread each", f"{summary.seconds() / 60:.0f} minutes"),
    ]


def _markdown(tables: Sequence[_Table], about: Sequence[tuple[str, str]]) -> Iterator[str]:
    yield "# Structural probe\n"
    yield "Means over seeds and standard deviations, in percent but for the stroke MAE. Made by"
    yield "`spacy-cnm probe`; do not edit.\n"
    for title, heads, rows in tables:
        yield f"## {title}\n"
        yield f"| {' | '.join(heads)} |"
        yield "|" + " --- |" * len(heads)
        yield from (f"| {' | '.join(row)} |" for row in rows)
        yield ""
    yield "## About\n"
    yield from (f"- {key}: {value}" for key, value in about)
    yield ""


def _html(
    tables: Sequence[_Table], about: Sequence[tuple[str, str]], figures: Mapping[str, Path]
) -> Iterator[str]:
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8"><title>Structural probe</title>'
    yield f"<style>{_STYLE}</style></head><body><h1>Structural probe</h1>"
    yield "<p>Means over seeds and standard deviations, in percent but for the stroke MAE.</p>"
    for name, path in figures.items():
        data = base64.b64encode(path.read_bytes()).decode()
        yield f'<figure><img alt="{name}" src="data:image/png;base64,{data}">'
        yield f"<figcaption>{html.escape(_CAPTIONS[name])}</figcaption></figure>"
    for title, heads, rows in tables:
        yield f"<h2>{html.escape(title)}</h2><table>"
        yield "<tr>" + "".join(f"<th>{html.escape(head)}</th>" for head in heads) + "</tr>"
        for row in rows:
            yield "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        yield "</table>"
    yield "<h2>About</h2><dl>"
    for key, value in about:
        yield f"<dt>{html.escape(key)}</dt><dd><code>{html.escape(value)}</code></dd>"
    yield "</dl></body></html>\n"
