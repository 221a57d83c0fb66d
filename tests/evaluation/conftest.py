"""A small pipeline with all components of the demo, trained for a few steps on invented texts."""

from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.training import Example

from spacy_cnm.corpora.docs import make_doc, reference_nlp, write_docs
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
_LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "upstream": "*",
    "pooling": {"@layers": "reduce_mean.v1"},
}
_PIPES: dict[str, dict[str, Any]] = {
    "ner": {
        "model": {
            "@architectures": "spacy.TransitionBasedParser.v2",
            "state_type": "ner",
            "extra_state_tokens": False,
            "hidden_width": 16,
            "maxout_pieces": 2,
            "use_upper": False,
            "nO": None,
            "tok2vec": _LISTENER,
        }
    },
    "tagger": {
        "model": {
            "@architectures": "spacy.Tagger.v2",
            "nO": None,
            "normalize": False,
            "tok2vec": _LISTENER,
        },
        "scorer": {"@scorers": "spacy_cnm.joint_tag_scorer.v1"},
    },
    "textcat": {
        "model": {
            "@architectures": "spacy.TextCatReduce.v1",
            "exclusive_classes": True,
            "use_reduce_first": False,
            "use_reduce_last": False,
            "use_reduce_max": False,
            "use_reduce_mean": True,
            "nO": None,
            "tok2vec": _LISTENER,
        }
    },
    "sentencizer": {"punct_chars": ["。", "！"]},
    "cnm_word_merger": {},
}


@pytest.fixture(scope="session")
def records() -> list[Record]:
    """Three pieces of news and two reviews."""
    return RECORDS


@pytest.fixture(scope="session")
def demo_nlp(cnm_folder: Path) -> Language:
    """The small pipeline: right about the texts it has seen, which is enough here."""
    # Threads that wait for each other cost more than they save on products this small.
    torch.set_num_threads(1)
    spacy.util.fix_random_seed(0)
    nlp = reference_nlp()
    model = {
        "@architectures": "spacy_cnm.CNMTransformerModel.v1",
        "name": str(cnm_folder),
        "get_spans": {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 30, "stride": 20},
    }
    nlp.add_pipe("transformer", config={"model": model})
    for name, config in _PIPES.items():
        nlp.add_pipe(name, config=config)
    nlp.meta["name"], nlp.meta["version"] = "small", "1.2.3"
    examples = [Example(nlp.make_doc(r.text), make_doc(nlp, r)) for r in RECORDS]
    optimizer = nlp.initialize(lambda: examples)
    optimizer.learn_rate = 0.005
    for _ in range(100):
        nlp.update(examples, sgd=optimizer)
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
