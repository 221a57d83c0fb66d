"""Reading ahead keeps the order, passes errors on in their place, and leaves no thread behind."""

import itertools
import threading

import pytest

from spacy_cnm.pretraining.prefetch import prefetch


def test_the_same_items():
    with prefetch() as read_ahead:
        assert list(read_ahead(iter(range(100)))) == list(range(100))


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield from range(3)
        raise KeyError("broken")

    found = []
    with prefetch() as read_ahead, pytest.raises(KeyError, match="broken"):
        found.extend(read_ahead(items()))
    with prefetch() as read_ahead:
        ahead = read_ahead(items())
        assert [next(ahead) for _ in range(3)] == [0, 1, 2]


def test_threads_end_with_the_context():
    before = threading.active_count()
    with prefetch(depth=2) as read_ahead:
        streams = [read_ahead(itertools.count()) for _ in range(3)]
        assert [next(stream) for stream in streams] == [0, 0, 0]
        assert threading.active_count() == before + 3
    assert threading.active_count() == before
