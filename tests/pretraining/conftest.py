"""A small extended tokenizer, and text for runs of a small encoder."""

from pathlib import Path

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

from spacy_cnm.modeling.scratch import bert_tokenizer
from spacy_cnm.modeling.tokenizer import extend_tokenizer

HAN = "今天气很好我在北京见到了王小明他说中国的上海和香港都有人重道藏日木生金色一二三不是"
OTHER = "，。！[]-.0123456789abcdefghijklmnopqrstuvwxyze"


@pytest.fixture(scope="session")
def tokenizer() -> PreTrainedTokenizerFast:
    """An extended tokenizer whose base vocabulary is small and has unused tokens, as BERT's has."""
    vocab = ["[PAD]", *(f"[unused{i}]" for i in range(1, 30)), "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocab += dict.fromkeys(HAN + OTHER)
    vocab += [f"##{char}" for char in dict.fromkeys(OTHER) if char.isalnum()]
    return extend_tokenizer(bert_tokenizer(vocab), first_id=len(vocab) + 10)


#: Sentences of characters of the base vocabulary of `cnm_folder`, and names that it lacks.
_SENTENCES = (
    "今天天气很好。",
    "我在{}见到了王小明，他说中国的上海和香港都有人。",
    "王{}说：“今天不是一二三日！”",
    "{}的人都在日木生金色。",
    "The 上海 of 2026, {} 好。",
)
_NAMES = ("北京", "上海", "香港", "䢖", "𰀀", "刋", "杲")


def write_texts(path: Path, count: int, seed: int = 0) -> Path:
    """Write a text a line: sentences that repeat themselves, so that a small model learns them."""
    rng = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        chosen = rng.choice(len(_SENTENCES), rng.integers(1, 4))
        names = rng.choice(len(_NAMES), len(chosen))
        pairs = zip(chosen, names, strict=True)
        lines.append("".join(_SENTENCES[i].format(_NAMES[j]) for i, j in pairs))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def corpus(tmp_path_factory) -> Path:
    """A folder with train.txt and heldout.txt."""
    folder = tmp_path_factory.mktemp("corpus")
    write_texts(folder / "train.txt", 400)
    write_texts(folder / "heldout.txt", 40, seed=1)
    return folder


@pytest.fixture(scope="session")
def settings(corpus: Path, cnm_folder: Path) -> dict[str, object]:
    """Overrides that make `configs/pretrain_smoke.cfg` a run of the small encoder."""
    return {"paths.corpus": str(corpus), "paths.source": str(cnm_folder), "data.max_length": 48}
