"""Small pipelines around the small encoders."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

# On products this small, threads that wait for each other cost a hundred times what they save.
torch.set_num_threads(1)

#: Texts of the training documents: (text, entities, joint labels, category).
SENTENCES = [
    ("我在北京见到了王小明", [(2, 4, "LOC"), (7, 10, "PER")], "r p ns ns v v u nr nr nr", "news"),
    ("今天天气很好", [], "t t n n d a", "talk"),
    ("上海和香港都有人", [(0, 2, "LOC"), (3, 5, "LOC")], "ns ns c ns ns d v n", "news"),
    ("重䢖道藏说不是", [(1, 2, "PER")], "v nr n n v d v", "talk"),
]
LISTENER = {
    "@architectures": "spacy-transformers.TransformerListener.v1",
    "grad_factor": 1.0,
    "upstream": "*",
    "pooling": {"@layers": "reduce_mean.v1"},
}
_PARSER = {
    "@architectures": "spacy.TransitionBasedParser.v2",
    "extra_state_tokens": False,
    "hidden_width": 16,
    "maxout_pieces": 2,
    "use_upper": False,
    "nO": None,
    "tok2vec": LISTENER,
}
_TAGGER = {"@architectures": "spacy.Tagger.v2", "nO": None, "normalize": False, "tok2vec": LISTENER}
_TEXTCAT = {
    "@architectures": "spacy.TextCatReduce.v1",
    "use_reduce_first": False,
    "use_reduce_last": False,
    "use_reduce_max": False,
    "use_reduce_mean": True,
    "nO": None,
    "tok2vec": LISTENER,
}
_MODELS: dict[str, dict[str, Any]] = {
    "ner": {**_PARSER, "state_type": "ner"},
    "parser": {**_PARSER, "state_type": "parser"},
    "tagger": _TAGGER,
    "morphologizer": _TAGGER,
    "textcat": {**_TEXTCAT, "exclusive_classes": True},
    "textcat_multilabel": {**_TEXTCAT, "exclusive_classes": False},
    "spancat": {
        "@architectures": "spacy.SpanCategorizer.v1",
        "tok2vec": LISTENER,
        "reducer": {"@layers": "spacy.mean_max_reducer.v1", "hidden_size": 16},
        "scorer": {"@layers": "spacy.LinearLogistic.v1", "nO": None, "nI": None},
    },
}
WINDOWS = {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 30, "stride": 20}
CONFIG = {
    "nlp": {"tokenizer": {"@tokenizers": "spacy.zh.ChineseTokenizer", "segmenter": "char"}},
    "training": {"seed": 0},
}


def make_transformer_config(
    name: Path | str, get_spans: Any = None, **settings: Any
) -> dict[str, Any]:
    """Config of a `transformer` component with a CNM-BERT."""
    model = {
        "@architectures": "spacy_cnm.CNMTransformerModel.v1",
        "name": str(name),
        "get_spans": get_spans or WINDOWS,
        **settings,
    }
    return {"model": model}


def component_config(name: str) -> dict[str, Any]:
    config: dict[str, Any] = {"model": _MODELS[name]} if name in _MODELS else {}
    if name == "parser":
        config["min_action_freq"] = 1
    return config


def make_examples(nlp: Language) -> list[Example]:
    """The training documents, annotated for every component."""
    examples = []
    for text, entities, tags, category in SENTENCES:
        # Not `make_doc`, which some tests give a tokenizer of another kind.
        doc = Doc(nlp.vocab, words=list(text), spaces=[False] * len(text))
        labels = tags.split()
        inside = {i for start, end, _ in entities for i in range(start + 1, end)}
        annotations = {
            "entities": entities,
            "tags": [f"{'I' if i in inside else 'B'}-{tag}" for i, tag in enumerate(labels)],
            "pos": ["NOUN" if tag[0] == "n" else "VERB" for tag in labels],
            "morphs": ["Case=Nom" if tag[0] == "n" else "" for tag in labels],
            "heads": [max(0, i - 1) for i in range(len(doc))],
            "deps": ["ROOT", *(["dep"] * (len(doc) - 1))],
            "cats": {name: float(name == category) for name in ("news", "talk")},
            "spans": {"sc": entities},
        }
        examples.append(Example.from_dict(doc, annotations))
    return examples


@pytest.fixture(scope="session")
def build() -> Callable[..., Language]:
    """Function that builds a pipeline: build(encoder folder, *component names, **settings)."""

    def build_pipeline(name: Path | str, *pipes: str, **settings: Any) -> Language:
        nlp = spacy.blank("zh", config=CONFIG)
        nlp.add_pipe("transformer", config=make_transformer_config(name, **settings))
        for pipe in pipes:
            nlp.add_pipe(pipe, config=component_config(pipe))
        return nlp

    return build_pipeline


@pytest.fixture(scope="session")
def train() -> Callable[..., dict[str, float]]:
    """Function that trains a pipeline for a few steps and returns the last losses."""

    def train_pipeline(
        nlp: Language,
        steps: int = 3,
        *,
        examples: list[Example] | None = None,
        initialize: bool = True,
        drop: float = 0.0,
    ) -> dict[str, float]:
        examples = examples or make_examples(nlp)
        if initialize:
            spacy.util.fix_random_seed(0)
            optimizer = nlp.initialize(lambda: examples)
        else:
            optimizer = nlp.resume_training()
        optimizer.learn_rate = 0.005
        losses: dict[str, float] = {}
        for _ in range(steps):
            losses = nlp.update(examples, sgd=optimizer, losses={}, drop=drop)
        return losses

    return train_pipeline


@pytest.fixture(scope="session")
def examples() -> Callable[[Language], list[Example]]:
    """Function that gives the training documents."""
    return make_examples


@pytest.fixture(scope="session")
def transformer_config() -> Callable[..., dict[str, Any]]:
    """Function that gives the config of a `transformer` component."""
    return make_transformer_config


@pytest.fixture(scope="session")
def described() -> Callable[[Doc], Any]:
    """Function that gives all that a pipeline has predicted for a document, to compare."""

    def describe(doc: Doc) -> Any:
        return (
            [(t.text, t.tag_, t.pos_, str(t.morph), t.dep_, t.head.i) for t in doc],
            [(e.start, e.end, e.label_) for e in doc.ents],
            {label: pytest.approx(score, abs=1e-5) for label, score in doc.cats.items()},
            [(s.start, s.end, s.label_) for s in doc.spans.get("sc", [])],
        )

    return describe


@pytest.fixture(scope="session")
def pieces_of() -> Callable[[Doc], list[list[str]]]:
    """Function that gives the word pieces that each token of a document is aligned to."""

    def pieces(doc: Doc) -> list[list[str]]:
        data = doc._.trf_data
        strings = [string for row in data.wordpieces.strings for string in row]
        return [[strings[i] for i in data.align[t].dataXd.ravel()] for t in range(len(doc))]

    return pieces


@pytest.fixture(scope="session")
def vectors_of() -> Callable[[Doc], Any]:
    """Function that gives the mean vector of each token's word pieces, (tokens, width)."""

    def vectors(doc: Doc) -> Any:
        data = doc._.trf_data
        states = data.model_output.last_hidden_state.reshape(-1, data.width)
        rows = [states[data.align[t].dataXd.ravel()] for t in range(len(doc))]
        return torch.stack(
            [torch.from_numpy(r).mean(0) if len(r) else torch.zeros(data.width) for r in rows]
        )

    return vectors


@pytest.fixture(scope="session")
def run_python(tmp_path_factory) -> Callable[..., str]:
    """Function that runs code in a fresh Python, elsewhere, and returns what it prints.

    It fails after `timeout` seconds, so a process that hangs is a failure. A fresh process has
    imported nothing and uses the default number of threads.
    """

    def run(code: str, *args: Path | str, timeout: float = 120) -> str:
        env = {key: value for key, value in os.environ.items() if not key.startswith("OMP_")}
        result = subprocess.run(
            [sys.executable, "-c", code, *map(str, args)],
            cwd=tmp_path_factory.mktemp("elsewhere"),
            env=env,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout,
        )
        assert result.returncode == 0, result.stderr
        return result.stdout

    return run


@pytest.fixture(scope="session")
def trained(build, train, cnm_folder) -> Language:
    """A trained pipeline, for reading only."""
    nlp = build(cnm_folder, "ner", "tagger", "textcat")
    train(nlp, 80)
    return nlp


@pytest.fixture(scope="session")
def trained_folder(trained, tmp_path_factory) -> Path:
    """The trained pipeline on disk, for reading only."""
    folder = tmp_path_factory.mktemp("trained") / "pipeline"
    trained.to_disk(folder)
    return folder
