"""A hub name without a network was asked for again and again, for 23 seconds."""

import time

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling import load_or_wrap


def test_it_fails_fast(monkeypatch):
    def no_network(*args, **kwargs):
        raise OSError("Network is unreachable")

    monkeypatch.setattr("socket.getaddrinfo", no_network)
    monkeypatch.setattr("socket.socket.connect", no_network)
    start = time.perf_counter()
    with pytest.raises(CNMError, match=r"(?s)no-such-organisation/no-such-bert.*needs a network"):
        load_or_wrap("no-such-organisation/no-such-bert")
    assert time.perf_counter() - start < 5
