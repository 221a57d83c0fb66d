"""Stopping between two steps, never in one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def stop_signals() -> Iterator[list[int]]:
    """Collect SIGINT and SIGTERM, so that a step is never cut in two; the second one is obeyed."""
    received: list[int] = []
    former = {kind: signal.getsignal(kind) for kind in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for kind, handler in former.items():
            signal.signal(kind, handler)

    def note(number: int, _: Any) -> None:
        received.append(number)
        restore()

    for kind in former:
        signal.signal(kind, note)
    try:
        yield received
    finally:
        restore()
