"""A small pipeline with all components of the demo, trained for a few steps on invented texts."""

from collections.abc import Callable
from pathlib import Path

import pytest
from spacy.language import Language

from spacy_cnm.corpora.docs import write_docs
from spacy_cnm.corpora.records import Place, Record, Span

PLACE = Place("invented", 1)


def news(*words: str) -> Record:
    """A record with words and entities out of `word/tag`; nr is PER, ns is LOC."""
    spans: list[Span] = []
    text = ""
    for word in words:
        surface, _, tag = word.partition("/")
        spans.append(Span(len(text), len(text) + len(surface), tag, surface))
        text += surface
    labels = {"nr": "PER", "ns": "LOC"}
    entities = tuple(Span(s.start, s.end, labels[s.label]) for s in spans if s.label in labels)
    return Record(text, PLACE, entities=entities, words=tuple(spans))


def review(text: str, category: str) -> Record:
    """A record with a category and nothing else."""
    return Record(text, PLACE, cats={c: float(c == category) for c in ("negative", "positive")})


RECORDS = [
    news("王小明/nr", "在/p", "北京/ns", "。/w"),
    news("他/r", "在/p", "上海/ns", "见到/v", "了/u", "王䶮/nr", "。/w"),
    news("今天/t", "香港/ns", "天气/n", "很/d", "好/a", "。/w"),
    review("很好，天气好！", "positive"),
    review("不好，很不好。", "negative"),
]


@pytest.fixture(scope="session")
def records() -> list[Record]:
    """Three pieces of news and two reviews."""
    return RECORDS


@pytest.fixture(scope="session")
def demo_nlp(train_pipeline: Callable[..., Language]) -> Language:
    """The small pipeline: right about the texts it has seen, which is enough here."""
    pipes = ("ner", "tagger", "textcat", "sentencizer", "cnm_word_merger")
    nlp = train_pipeline(pipes, RECORDS, steps=100)
    nlp.meta["name"], nlp.meta["version"] = "small", "1.2.3"
    return nlp


@pytest.fixture(scope="session")
def demo_folder(demo_nlp: Language, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small pipeline on disk."""
    folder = tmp_path_factory.mktemp("pipeline") / "model"
    demo_nlp.to_disk(folder)
    return folder


@pytest.fixture(scope="session")
def test_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The texts that the small pipeline has seen, as a test file."""
    path = tmp_path_factory.mktemp("corpus") / "test.spacy"
    write_docs(RECORDS, path)
    return path
