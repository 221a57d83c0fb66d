"""A pipe was read more than once: half of it was lost, and the checksum was that of nothing."""

import os

import pytest

from spacy_cnm.corpora.ner import convert_ner
from spacy_cnm.errors import CNMError
from spacy_cnm.ids import build_table


@pytest.mark.parametrize("read", [build_table, lambda path: convert_ner(path, f"{path}.spacy")])
def test_pipes_are_refused(read, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(CNMError, match=r"pipe: is no regular file"):
        read(pipe)
    assert list(tmp_path.iterdir()) == [pipe]
