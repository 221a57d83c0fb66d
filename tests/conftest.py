"""Fixtures for the whole suite: shared corpora, a small BERT on disk, small pipelines."""

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
import torch
from spacy.language import Language
from spacy.training import Example
from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

from spacy_cnm.cli import main
from spacy_cnm.corpora.docs import make_doc, reference_nlp
from spacy_cnm.corpora.records import Record
from spacy_cnm.ids import StructureTable
from spacy_cnm.modeling import CNMBertModel, wrap_bert
from spacy_cnm.modeling.scratch import bert_tokenizer

#: Read-only corpora for training and tests; never part of the project.
SHARED = Path(os.environ.get("SPACY_CNM_SHARED", Path(__file__).resolve().parents[2] / "shared"))

#: Characters of the small BERT; everything else is outside of its vocabulary.
HAN = "今天气很好我在北京见到了王小明他说中国的上海和香港都有人重道藏日木生金色塚一二三不是"
OTHER = "，。！？、“”：()[]-.%@/0123456789abcdefghijklmnopqrstuvwxyzéσ"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared corpora; a test that asks for it is skipped where it is absent."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the shared corpora (no folder {SHARED}; set SPACY_CNM_SHARED)")
    return SHARED


@pytest.fixture(scope="session")
def table() -> StructureTable:
    """The shipped structure table."""
    return StructureTable.default()


@pytest.fixture(scope="session")
def base_tokenizer() -> BertTokenizerFast:
    """A BERT tokenizer with a small vocabulary."""
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *HAN, *OTHER, "mask", "##mask"]
    tokens += [f"##{char}" for char in OTHER if char.isalnum()] + ["##中"]
    return bert_tokenizer(tokens)


@pytest.fixture(scope="session")
def bert_folder(base_tokenizer: BertTokenizerFast, tmp_path_factory) -> Path:
    """A small plain BERT with random weights, as a Hugging Face folder."""
    folder = tmp_path_factory.mktemp("bert")
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(base_tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    base_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def cnm_folder(bert_folder: Path, table: StructureTable, tmp_path_factory) -> Path:
    """The small BERT wrapped, with a structure side that already matters, as a folder."""
    folder = tmp_path_factory.mktemp("cnm")
    torch.manual_seed(2)
    model, tokenizer = wrap_bert(CNMBertModel, bert_folder, table=table, structure_size=16)
    model.fusion.init_weights(structure_std=0.5)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


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
def train_pipeline(cnm_folder: Path) -> Callable[..., Language]:
    """Make a small pipeline of some components and train it until it knows a few texts."""

    def train(pipes: Sequence[str], records: Sequence[Record], *, steps: int) -> Language:
        # Threads that wait for each other cost more than they save on products this small.
        torch.set_num_threads(1)
        spacy.util.fix_random_seed(0)
        nlp = reference_nlp()
        windows = {"@span_getters": "spacy_cnm.wordpiece_spans.v1", "window": 30, "stride": 20}
        model = {
            "@architectures": "spacy_cnm.CNMTransformerModel.v1",
            "name": str(cnm_folder),
            "get_spans": windows,
        }
        nlp.add_pipe("transformer", config={"model": model})
        for name in pipes:
            nlp.add_pipe(name, config=_PIPES[name])
        examples = [Example(nlp.make_doc(r.text), make_doc(nlp, r)) for r in records]
        optimizer = nlp.initialize(lambda: examples)
        optimizer.learn_rate = 0.005
        for _ in range(steps):
            nlp.update(examples, sgd=optimizer)
        return nlp

    return train


@pytest.fixture
def run_cli(monkeypatch, capsys) -> Callable[..., tuple[int, str, str]]:
    """Run `spacy-cnm` in this process: its exit status, standard output and errors."""

    def run(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["spacy-cnm", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        found = capsys.readouterr()
        return int(stop.value.code or 0), found.out, found.err

    return run
