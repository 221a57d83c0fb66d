"""What a run tells while it runs: a progress bar, JSON lines, and TensorBoard where wanted."""

import contextlib
import importlib
import json
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path

from .outputs import METRICS


class Progress:
    """Metrics of the main process; on the others every call does nothing.

    Lines of `metrics.jsonl` are {"step", "tokens", "seconds", ...}: every `log_every` steps the
    training metrics, and after an evaluation {"step", "heldout": {name: metrics}}. Each line is
    written whole, so that a kill damages nothing that stood there.
    """

    def __init__(
        self, folder: Path, *, main: bool, steps: int, start: int, tensorboard: bool
    ) -> None:
        self.main = main
        self._path = folder / METRICS
        if not main:
            return
        self._writer = _summary_writer(folder, start) if tensorboard else None
        _keep_until(self._path, start)
        self._file = self._path.open("a", encoding="utf-8")
        self._bar = tqdm(
            total=steps,
            initial=start,
            unit="step",
            # A log file needs no line ten times a second.
            mininterval=0.1 if sys.stderr.isatty() else 30,
        )

    def advance(self, **shown: str) -> None:
        """One step is done; `shown` stands beside the bar."""
        if self.main:
            self._bar.set_postfix(shown, refresh=False)
            self._bar.update()

    def write(self, step: int, values: dict[str, Any]) -> None:
        """Write metrics of a step; values may be nested one level deep or two."""
        if not self.main:
            return
        self._file.write(json.dumps({"step": step, **values}, allow_nan=False) + "\n")
        self._file.flush()
        if self._writer:
            for name, value in _flat(values):
                self._writer.add_scalar(name, value, step)

    def say(self, text: str) -> None:
        """A line above the bar."""
        if self.main:
            tqdm.write(text, file=sys.stderr)

    def close(self) -> None:
        """End the bar and the files."""
        if self.main:
            self._bar.close()
            self._file.close()
            if self._writer:
                self._writer.close()


def _keep_until(path: Path, step: int) -> None:
    """Drop what an interrupted run wrote after the checkpoint from which it goes on."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        with contextlib.suppress(ValueError, TypeError, KeyError):  # cut off, or edited
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
    with atomic_path(path) as temporary:
        temporary.write_text("".join(kept), encoding="utf-8")


def _summary_writer(folder: Path, start: int) -> Any:
    try:
        tensorboard = importlib.import_module("torch.utils.tensorboard")
    except ImportError as error:
        raise CNMError(Errors.E524) from error
    return tensorboard.SummaryWriter(str(folder / "tensorboard"), purge_step=start)


def _flat(values: dict[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    found: list[tuple[str, float]] = []
    for name, value in values.items():
        if isinstance(value, dict):
            found += _flat(value, f"{prefix}{name}/")
        else:
            found.append((prefix + name, float(value)))
    return found
