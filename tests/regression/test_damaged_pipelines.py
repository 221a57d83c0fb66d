"""Damage that a library met in its own way ended in a traceback of that library."""

import pytest
import spacy

from spacy_cnm.errors import CNMError
from spacy_cnm.evaluation.pipelines import check_lengths, load_pipeline
from spacy_cnm.pipeline.resuming import resume_config


@pytest.fixture
def folder(tmp_path):
    nlp = spacy.blank("zh")
    nlp.add_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    return tmp_path / "pipeline"


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("vocab/vectors", b""),
        ("meta.json", b"null"),
        ("sentencizer.json", b"[]"),
        ("vocab/vectors.cfg", b"[]"),
        ("config.cfg", b"\xff\xfe"),
        ("config.cfg", b"[nlp"),
        ("config.cfg", b"[nlp]\npipeline = 3\n"),
        ("config.cfg", b"[nlp]\nlang = 1\nlang = 2\n"),
    ],
)
def test_one_line(folder, file, content):
    (folder / file).write_bytes(content)
    for use in (load_pipeline, resume_config):
        with pytest.raises(CNMError, match="cannot be loaded") as error:
            use(folder)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("file", ["config.cfg", "meta.json", "sentencizer.json"])
def test_a_lacking_file_is_damage(folder, file):
    """It was "no such pipeline", of a folder that was there."""
    (folder / file).unlink()
    with pytest.raises(CNMError, match=r"cannot be loaded .*copy or train it again"):
        load_pipeline(folder)


def test_seed_that_is_no_number(folder):
    text = (folder / "config.cfg").read_text(encoding="utf-8")
    (folder / "config.cfg").write_text(text.replace("seed = 0", 'seed = "abc"'), encoding="utf-8")
    with pytest.raises(CNMError, match="abc"):
        resume_config(folder)


def test_texts_longer_than_the_pipeline_takes():
    nlp = spacy.blank("zh")
    check_lengths(nlp, ["中" * nlp.max_length])
    with pytest.raises(CNMError, match=r"Document 2 has 1,000,001 characters"):
        check_lengths(nlp, ["中", "中" * (nlp.max_length + 1)])
