"""Batches made ahead by threads, so that the device does not wait for the tokenizer."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, Full, Queue
from typing import TypeVar

T = TypeVar("T")

#: Seconds after which a waiting thread looks whether it is still needed.
_PATIENCE = 0.1


@contextmanager
def prefetch(depth: int = 4) -> Iterator[Callable[[Iterator[T]], Iterator[T]]]:
    """Give a function that reads an iterator ahead; its threads end with the context.

    depth: items that wait at most.
    YIELDS: a function from an iterator to an iterator of the same items; an error in the first is
        raised by the second, in its place.
    """
    over = threading.Event()
    threads: list[threading.Thread] = []

    def read_ahead(items: Iterator[T]) -> Iterator[T]:
        queue: Queue[tuple[str, object]] = Queue(depth)
        thread = threading.Thread(target=_fill, args=(queue, items, over), daemon=True)
        threads.append(thread)
        thread.start()
        return _drain(queue, over)

    try:
        yield read_ahead
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _fill(queue: "Queue[tuple[str, object]]", items: Iterator[T], over: threading.Event) -> None:
    last: tuple[str, object] = ("end", None)
    try:
        for item in items:
            if not _put(queue, ("item", item), over):
                return
    except Exception as error:
        last = ("error", error)
    _put(queue, last, over)


def _put(
    queue: "Queue[tuple[str, object]]", entry: tuple[str, object], over: threading.Event
) -> bool:
    while not over.is_set():
        try:
            queue.put(entry, timeout=_PATIENCE)
            return True
        except Full:
            continue
    return False


def _drain(queue: "Queue[tuple[str, object]]", over: threading.Event) -> Iterator[T]:
    while not over.is_set():
        try:
            kind, value = queue.get(timeout=_PATIENCE)
        except Empty:
            continue
        if kind == "error":
            raise value  # type: ignore[misc]
        if kind == "end":
            return
        yield value  # type: ignore[misc]
