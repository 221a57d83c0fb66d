"""Batches made ahead by threads, so that the device does not wait for the tokenizer."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
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
        queue: _Results[T] = Queue(depth)
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


#: An item, or the error that came in its place; None at the end.
_Results = Queue[Future[T] | None]


def _fill(queue: _Results[T], items: Iterator[T], over: threading.Event) -> None:
    result: Future[T]
    try:
        for item in items:
            result = Future()
            result.set_result(item)
            if not _put(queue, result, over):
                return
    except Exception as error:
        result = Future()
        result.set_exception(error)
        _put(queue, result, over)
    _put(queue, None, over)


def _put(queue: _Results[T], result: Future[T] | None, over: threading.Event) -> bool:
    while not over.is_set():
        try:
            queue.put(result, timeout=_PATIENCE)
            return True
        except Full:
            continue
    return False


def _drain(queue: _Results[T], over: threading.Event) -> Iterator[T]:
    while not over.is_set():
        try:
            result = queue.get(timeout=_PATIENCE)
        except Empty:
            continue
        if result is None:
            return
        yield result.result()
