"""What a run writes, beside its checkpoints, and that only one run at a time does."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from spacy_cnm.errors import CNMError, Errors

#: The model with the lowest held-out loss, and the last one.
BEST, LAST = "model-best", "model-last"
METRICS = "metrics.jsonl"
_LOCK = ".lock"


@contextmanager
def only_writer(output: Path) -> Iterator[None]:
    """Keep other runs out of an output folder, which is made. The lock ends with the process.

    RAISES CNMError: a run is writing there.
    """
    output.mkdir(parents=True, exist_ok=True)
    lock = FileLock(output / _LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise CNMError(Errors.E535.format(path=output)) from error
    try:
        yield
    finally:
        lock.release()
