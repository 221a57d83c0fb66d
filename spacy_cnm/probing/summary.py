"""Means and spreads over the seeds of a study."""

import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

#: Score -> its heading, and whether it is a share.
SCORES: dict[str, tuple[str, bool]] = {
    "layout_f1": ("layout macro F1", True),
    "layout_accuracy": ("layout accuracy", True),
    "component_f1": ("component F1", True),
    "stroke_mae": ("stroke MAE", False),
    "order_f1": ("stroke order F1", True),
}


@dataclass(frozen=True)
class Value:
    """A mean over seeds, its standard deviation (0 for one seed), and their number."""

    mean: float
    spread: float
    n: int

    @classmethod
    def of(cls, values: list[float]) -> "Value":
        """Summarize at least one value."""
        spread = statistics.stdev(values) if len(values) > 1 else 0.0
        return cls(statistics.mean(values), spread, len(values))


class Summary:
    """The results of a study by model, protocol and split.

    runs: as `study.run` returns them.
    """

    def __init__(self, runs: Iterable[Mapping[str, Any]]) -> None:
        self._runs = defaultdict(list)
        for run in runs:
            settings = run["settings"]
            key = settings["model"], settings["protocol"], settings["split"]
            self._runs[key].append(run)

    def rows(self, split: str) -> list[tuple[str, str]]:
        """Model and protocol of what was probed on a split, in the order of the study."""
        return [(model, protocol) for model, protocol, name in self._runs if name == split]

    def score(self, model: str, protocol: str, split: str, part: str, score: str) -> Value | None:
        """A score of a slice; None where it was not asked."""
        runs = self._runs.get((model, protocol, split), ())
        found = [run["scores"].get(part, {}).get(score) for run in runs]
        values = [value for value in found if value is not None]
        return Value.of(values) if values else None

    def layout(self, model: str, protocol: str, split: str, layout: str) -> Value | None:
        """F1 of a layout on the OOV slice."""
        runs = self._runs.get((model, protocol, split), ())
        values = [run["layouts"][layout] for run in runs if layout in run["layouts"]]
        return Value.of(values) if values else None

    def seconds(self) -> float:
        """How long all probes took together."""
        return sum(run.get("seconds", 0.0) for runs in self._runs.values() for run in runs)

    def precisions(self) -> list[str]:
        """In what they were computed."""
        runs = (run for runs in self._runs.values() for run in runs)
        return sorted({run["precision"] for run in runs if "precision" in run})
