"""Base vocabularies counted on texts."""

import os
import subprocess
import sys
from collections import Counter

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.modeling.scratch import bert_tokenizer
from spacy_cnm.modeling.vocabulary import base_characters, base_vocabulary, count_texts

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
TEXTS = ["今天天气很好", "今天天气不好 ABC", "鑫"]
LATIN = ["Windows windows window", "wind shadow Café 2024 x1"] * 4


def test_characters_and_words_are_counted_as_bert_sees_them():
    counts = count_texts(["今天 Café café\u3000X1", "今１９かな“好”—…"])
    assert counts.characters["今"] == 2
    assert counts.characters["e"] == 2
    assert not any(char.isspace() for char in counts.characters)
    assert {"“", "”", "—", "…", "１", "か"} <= set(counts.characters)
    assert counts.words == {"cafe": 2}


def test_vocabulary_is_by_frequency_and_leaves_rare_characters_out():
    vocab = base_vocabulary(count_texts(TEXTS), min_count=2)
    assert vocab == [*SPECIAL, "天", "今", "好", "气"]
    everything = base_vocabulary(count_texts(TEXTS), min_count=1)
    assert {"鑫", "a", "##a"} <= set(everything)
    assert "##今" not in everything


def test_only_ideographs_are_bounded():
    counts = Counter({"天": 9, "，": 5, "地": 4, "人": 4, "x": 3, "玄": 2, "か": 2, "!": 1})
    assert base_characters(counts, min_count=2) == list("天，人地xか玄")
    assert base_characters(counts, min_count=2, max_ideographs=2) == list("天，人xか")
    assert base_characters(counts, min_count=1, max_ideographs=1) == list("天，xか!")


def test_what_does_not_stand_alone_has_a_form_inside_of_words():
    counts = count_texts(["今ａ１カβ１。，○$+１ア"])
    vocab = base_vocabulary(counts, min_count=1)
    inside = {token.removeprefix("##") for token in vocab if token.startswith("##")}
    assert inside == set("ａ１カβ○ア")
    tokenizer = bert_tokenizer(vocab)
    assert tokenizer.tokenize("１１年") == ["１", "##１", "[UNK]"]
    assert "[UNK]" not in tokenizer.tokenize("ａ１カβ○○")


def test_pieces_are_trained_on_the_words():
    counts = count_texts(LATIN)
    plain = base_vocabulary(counts, min_count=1)
    vocab = base_vocabulary(counts, min_count=1, n_pieces=20)
    assert vocab[: len(plain)] == plain
    pieces = vocab[len(plain) :]
    assert 0 < len(pieces) <= 20
    assert len(set(vocab)) == len(vocab)
    assert all(len(piece.removeprefix("##")) > 1 for piece in pieces)
    assert any(piece.startswith("##") for piece in pieces)
    tokenizer = bert_tokenizer(vocab)
    assert tokenizer.tokenize("WINDOWS") == ["windows"]
    assert len(tokenizer.tokenize("shadows")) < len("shadows")
    few = base_vocabulary(counts, min_count=1, n_pieces=3)
    assert few == vocab[: len(plain) + 3]


def test_words_with_rare_letters_bring_none_into_the_vocabulary():
    counts = count_texts(["windows windows windøws windøws"])
    vocab = base_vocabulary(counts, min_count=3, n_pieces=10)
    assert not any("ø" in token for token in vocab)


def test_same_counts_give_the_same_vocabulary_in_another_process():
    code = (
        "from spacy_cnm.modeling.vocabulary import *; "
        f"print(base_vocabulary(count_texts({LATIN!r}), min_count=1, n_pieces=20))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        encoding="utf-8",
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "1", "PYTHONIOENCODING": "utf-8"},
    )
    assert done.stdout == f"{base_vocabulary(count_texts(LATIN), min_count=1, n_pieces=20)}\n"


def test_no_text_is_an_error():
    with pytest.raises(CNMError, match="min-count"):
        base_vocabulary(count_texts([]), min_count=1)
