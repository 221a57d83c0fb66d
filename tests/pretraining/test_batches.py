"""Streams of batches: nothing lost, nothing twice, the same from every position."""

import dataclasses
import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cnm.errors import CNMError
from spacy_cnm.pretraining.batches import Position, Stream
from spacy_cnm.pretraining.masking import IGNORED

from .conftest import HAN, OTHER

SETTINGS = {"seed": 3, "max_length": 30, "max_tokens": 130, "buffer": 16}


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Texts of 1 to 90 characters, each with its number; some are too long for a row."""
    rng = np.random.default_rng(0)
    chars = [*HAN, *HAN, *OTHER, *"𠮷㐂龘😀 "]
    bodies = ("".join(rng.choice(chars, rng.integers(1, 90))) for _ in range(120))
    return [f"{i}{body}".strip() for i, body in enumerate(bodies)]


@pytest.fixture(scope="session")
def corpus(texts, tmp_path_factory) -> list[Path]:
    """The texts in three files."""
    folder = tmp_path_factory.mktemp("corpus")
    files = [folder / f"{i}.txt" for i in range(3)]
    for i, file in enumerate(files):
        file.write_text("\n".join(texts[i::3]), encoding="utf-8")
    return files


@pytest.fixture
def make(corpus, tokenizer):
    def make(paths=corpus, index=0, count=1, **settings) -> Stream:
        return Stream(paths, tokenizer, index=index, count=count, **SETTINGS | settings)

    return make


def rows(batches):
    """The rows as they were before masking, without [CLS], [SEP] and padding."""
    for batch in batches:
        gold = torch.where(batch.labels == IGNORED, batch.input_ids, batch.labels)
        for ids, mask in zip(gold, batch.attention_mask, strict=True):
            yield ids[mask.bool()][1:-1].tolist()


def same(first, second) -> bool:
    pairs = itertools.zip_longest(first, second)
    return all(
        a is not None
        and b is not None
        and torch.equal(a.input_ids, b.input_ids)
        and torch.equal(a.labels, b.labels)
        and torch.equal(a.attention_mask, b.attention_mask)
        and (a.n_tokens, a.position) == (b.n_tokens, b.position)
        for a, b in pairs
    )


def encode(tokenizer, text):
    return tokenizer(text, add_special_tokens=False)["input_ids"]


def test_the_shape_of_batches(make, tokenizer):
    for batch in make().batches(epochs=1):
        n_rows, width = batch.input_ids.shape
        assert batch.input_ids.numel() <= SETTINGS["max_tokens"]
        assert width <= SETTINGS["max_length"]
        assert width % 8 == 0 or width == SETTINGS["max_length"]
        lengths = batch.attention_mask.sum(1)
        assert batch.n_tokens == lengths.sum()
        assert width - lengths.max() < 8
        for name in ("input_ids", "attention_mask", "labels"):
            assert getattr(batch, name).dtype == torch.int64
            assert getattr(batch, name).shape == (n_rows, width)
        for ids, mask, labels, length in zip(
            batch.input_ids, batch.attention_mask, batch.labels, lengths, strict=True
        ):
            assert (mask == (torch.arange(width) < length)).all()
            assert ids[0] == tokenizer.cls_token_id
            assert ids[length - 1] == tokenizer.sep_token_id
            assert (ids[length:] == tokenizer.pad_token_id).all()
            assert (labels[length - 1 :] == IGNORED).all()
            assert labels[0] == IGNORED
            assert (labels != IGNORED).any()


@pytest.mark.parametrize("count", [1, 3])
def test_streams_are_disjoint_and_complete_in_every_epoch(make, texts, tokenizer, count):
    expected = Counter(i for text in texts for i in encode(tokenizer, text))
    for epoch in range(2):
        found = Counter()
        for index in range(count):
            stream = make(index=index, count=count).batches(Position(epoch), epochs=epoch + 1)
            found.update(i for row in rows(stream) for i in row)
        assert found == expected


def test_short_texts_are_rows_and_long_ones_are_cut(make, texts, tokenizer):
    found = Counter(map(tuple, rows(make().batches(epochs=1))))
    room = SETTINGS["max_length"] - 2
    for text in texts:
        pieces = encode(tokenizer, text)
        if len(pieces) <= room:
            found[tuple(pieces)] -= 1
            continue
        n = -(-len(pieces) // room)  # as few rows as can hold it, or some more to keep words whole
        parts = _partition(pieces, found, n + 2)
        assert parts
        found.subtract(parts)
    assert not +found


def _partition(pieces, found, most):
    """Parts among the rows found that give the pieces when joined."""
    if not pieces:
        return []
    if not most:
        return None
    for end in range(len(pieces), 0, -1):
        part = tuple(pieces[:end])
        if found[part] > 0:
            rest = _partition(pieces[end:], found, most - 1)
            if rest is not None:
                return [part, *rest]
    return None


def _rows_of(make, tmp_path, *lines, **settings):
    (tmp_path / "a.txt").write_text("\n".join(lines), encoding="utf-8")
    return list(rows(make([tmp_path / "a.txt"], **settings).batches(epochs=1)))


def test_words_are_cut_only_where_no_row_can_hold_them(make, tmp_path, tokenizer):
    words = ["abcdefg", "北京", "hi", "abcdefghijk", "天气", "x" * 40]
    found = _rows_of(make, tmp_path, " ".join(words), max_length=12, max_tokens=12)
    assert len(found) >= 7
    assert all(len(row) <= 10 for row in found)
    tokens = sorted(("".join(tokenizer.convert_ids_to_tokens(row)) for row in found), key=len)
    whole = [token.replace("##", "") for token in tokens]
    assert sum(map(len, whole)) == len("".join(words))
    for word in ("abcdefg", "北京", "天气"):
        assert any(word in row for row in whole)


def test_a_word_longer_than_an_even_share_stays_whole(make, tmp_path):
    # 13 pieces in rows of 10: even shares are 7, but the first word has 9.
    found = _rows_of(make, tmp_path, "abcdefghi 北京 天气", max_length=12, max_tokens=24)
    assert sorted(map(len, found)) == [4, 9]


def test_special_tokens_written_in_a_text_are_text(make, tmp_path, tokenizer):
    found = _rows_of(make, tmp_path, "[MASK][CLS]北京[SEP]")
    assert not set(found[0]) & set(tokenizer.all_special_ids)


def test_calls_of_the_tokenizer_change_nothing(make, tokenizer):
    before = list(make().batches(epochs=1))
    stream = make()
    tokenizer("我" * 50, truncation=True, max_length=5, split_special_tokens=False)
    tokenizer(["我"], padding="max_length", max_length=20)
    assert same(before, stream.batches(epochs=1))
    assert same(before, make().batches(epochs=1))


def test_continued_pieces_stay_with_their_word(make, tmp_path, tokenizer):
    """jieba takes letters with accents for words of their own, BERT does not."""
    stream = make(_write(tmp_path, "北京cafébé\n" * 50), max_length=64, max_tokens=64)
    piece = {token: i for i, token in enumerate(["北", "京", "c", "##a", "##f", "##e", "##b"])}
    for batch in stream.batches(epochs=1):
        gold = torch.where(batch.labels == IGNORED, batch.input_ids, batch.labels)
        for ids, labels in zip(gold, batch.labels != IGNORED, strict=True):
            tokens = tokenizer.convert_ids_to_tokens(ids[1:9].tolist())
            assert all(token in piece for token in tokens)
            assert len(set(labels[3:9].tolist())) == 1


def _write(folder: Path, text: str) -> list[Path]:
    (folder / "a.txt").write_text(text, encoding="utf-8")
    return [folder / "a.txt"]


@pytest.mark.parametrize("buffer", [7, 16, 1000])
def test_every_position_gives_the_same_rest(make, buffer):
    whole = list(make(index=1, count=2, buffer=buffer).batches(epochs=2))
    assert len(whole) > 20
    again = make(index=1, count=2, buffer=buffer)
    for i in range(0, len(whole), 4):
        state = json.loads(json.dumps(dataclasses.asdict(whole[i].position)))
        assert same(again.batches(Position(**state), epochs=2), whole[i + 1 :])
    assert not list(again.batches(whole[-1].position, epochs=2))


def test_positions_tell_streams_and_epochs_apart(make):
    stream = list(make().batches(epochs=2))
    positions = [batch.position for batch in stream]
    assert len(set(positions)) == len(positions)
    assert same(stream, make().batches(epochs=2))
    assert not same(stream, make(seed=4).batches(epochs=2))


def test_order_and_masks_change_with_the_epoch(make, texts):
    first, second = (list(make().batches(Position(i), epochs=i + 1)) for i in range(2))
    assert list(rows(first)) != list(rows(second))
    hidden = [
        Counter(tuple(row.tolist()) for b in e for row in b.input_ids) for e in (first, second)
    ]
    assert (hidden[0] & hidden[1]).total() < len(texts) / 2


def test_the_order_of_files_changes_with_the_epoch(make, tmp_path):
    files = [tmp_path / f"{i}.txt" for i in range(4)]
    for file, char in zip(files, "今天气很", strict=True):
        file.write_text(char)
    orders = {
        tuple(row[0] for row in rows(make(files, buffer=1).batches(Position(i), epochs=i + 1)))
        for i in range(8)
    }
    assert len(orders) > 2


def test_a_stream_does_not_end_by_itself(make):
    stream = make(buffer=1000)
    n = sum(1 for _ in stream.batches(epochs=1))
    positions = [batch.position for batch in itertools.islice(stream.batches(), 3 * n + 1)]
    assert positions[-1].epoch == 3


@settings(deadline=None, max_examples=20)
@given(
    lengths=st.lists(st.integers(1, 70), min_size=1, max_size=60),
    max_length=st.integers(3, 40),
    factor=st.integers(1, 9),
    buffer=st.integers(1, 70),
)
def test_all_settings_keep_every_piece(
    lengths, max_length, factor, buffer, tokenizer, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("any")
    paths = _write(folder, "\n".join("我" * length for length in lengths))
    limits = {"max_length": max_length, "max_tokens": factor * max_length, "buffer": buffer}
    stream = Stream(paths, tokenizer, index=0, count=1, seed=0, **limits)
    batches = list(stream.batches(epochs=1))
    assert sum(len(row) for row in rows(batches)) == sum(lengths)
    assert all(batch.input_ids.numel() <= limits["max_tokens"] for batch in batches)
    assert all(batch.input_ids.shape[1] <= max_length for batch in batches)
    assert len(list(rows(batches))) == sum(-(-length // (max_length - 2)) for length in lengths)


def test_there_is_little_padding(make, tmp_path):
    rng = np.random.default_rng(1)
    paths = _write(tmp_path, "\n".join("我" * n for n in rng.integers(20, 480, 600)))
    batches = make(paths, max_length=256, max_tokens=2048, buffer=600).batches(epochs=1)
    tokens, places = np.sum([(b.n_tokens, b.input_ids.numel()) for b in batches], axis=0)
    assert tokens > 0.95 * places


def test_texts_without_pieces_are_left_out(make, tmp_path):
    assert len(_rows_of(make, tmp_path, "\u200b", "北京", "\x01")) == 1
    for epochs in (None, 1):
        with pytest.raises(CNMError, match="no word piece"):
            next(make(_write(tmp_path, "\u200b\n\x01")).batches(epochs=epochs))


def test_a_row_of_unknown_characters_has_no_label(make, tmp_path):
    (batch,) = make(_write(tmp_path, "😀😀")).batches(epochs=1)
    assert (batch.labels == IGNORED).all()


def test_fewer_texts_than_streams_are_an_error(make, tmp_path):
    paths = _write(tmp_path, "北京\n天气")
    assert list(make(paths, index=1, count=3).batches(epochs=1))
    with pytest.raises(CNMError, match="no text for stream 2 of 3"):
        next(make(paths, index=2, count=3).batches())


def test_an_empty_file_is_an_error(make, tmp_path):
    with pytest.raises(CNMError, match="holds no text"):
        next(make(_write(tmp_path, "\n")).batches())


@pytest.mark.parametrize(
    "position", [Position(0, 16, 999), Position(0, 5, 0), Position(0, 1600, 0), Position(0, 999, 0)]
)
def test_a_position_of_another_corpus_is_an_error(make, position):
    with pytest.raises(CNMError, match="no place in the corpus"):
        next(make().batches(position))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("paths", []),
        ("count", 0),
        ("index", 1),
        ("index", -1),
        ("seed", -1),
        ("max_length", 2),
        ("max_tokens", 29),
        ("buffer", 0),
        ("budget", 0.0),
    ],
)
def test_settings_out_of_range_are_errors(make, name, value):
    with pytest.raises(CNMError, match=name):
        make(**{name: value})


def test_a_tokenizer_that_is_not_extended_is_refused(corpus, base_tokenizer):
    with pytest.raises(CNMError, match="not extended"):
        Stream(corpus, base_tokenizer, index=0, count=1, **SETTINGS)
