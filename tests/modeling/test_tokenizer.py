"""The extended vocabulary: one id and one offset for every ideograph, the base for the rest."""

import lzma
import random
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import AutoTokenizer, BertTokenizer, BertTokenizerFast, GPT2TokenizerFast

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import IDEOGRAPH_RANGES, is_ideograph, unify
from spacy_cnm.modeling import extend_tokenizer
from spacy_cnm.modeling.scratch import bert_tokenizer
from spacy_cnm.modeling.tokenizer import extended_indices, is_extended

ALL_IDEOGRAPHS = [chr(c) for low, high in IDEOGRAPH_RANGES for c in range(low, high + 1)]
IDEOGRAPH_CLASS = "[" + "".join(f"{chr(a)}-{chr(b)}" for a, b in IDEOGRAPH_RANGES) + "]"


@pytest.fixture(scope="module")
def tokenizer(base_tokenizer, table):
    return extend_tokenizer(base_tokenizer, table)


def check_text(text, base, extended):
    """The contract of the extended vocabulary on one text."""
    encoding = extended(text, add_special_tokens=False, verbose=False).encodings[0]
    parts = re.split(f"({IDEOGRAPH_CLASS})", text)
    others = base(parts[::2], add_special_tokens=False, split_special_tokens=True, verbose=False)
    expected: list[int] = []
    spans = []
    position = 0
    for i, part in enumerate(parts):
        if i % 2:
            spans.append((len(expected), position))
            expected.append(extended.convert_tokens_to_ids(part))
        else:
            expected.extend(others["input_ids"][i // 2])
        position += len(part)
    assert encoding.ids == expected
    for index, start in spans:
        assert encoding.offsets[index] == (start, start + 1)
        assert extended.decode([encoding.ids[index]]) == text[start]


def test_base_ids_stay_and_ideographs_follow_in_order(base_tokenizer, tokenizer):
    base, extended = base_tokenizer.get_vocab(), tokenizer.get_vocab()
    assert {token: extended[token] for token in base} == base
    added = sorted(set(extended) - set(base), key=extended.__getitem__)
    assert added == [char for char in ALL_IDEOGRAPHS if char not in base]
    assert extended[added[0]] == len(base)
    assert len(tokenizer) == len(base) + len(added)


def test_every_ideograph_is_one_piece(base_tokenizer, tokenizer):
    for start in range(0, len(ALL_IDEOGRAPHS), 5000):
        chars = ALL_IDEOGRAPHS[start : start + 5000]
        encoding = tokenizer("".join(chars), add_special_tokens=False, verbose=False).encodings[0]
        assert encoding.tokens == chars
        assert encoding.offsets == [(i, i + 1) for i in range(len(chars))]
        assert "".join(tokenizer.decode(i) for i in encoding.ids) == "".join(chars)


MIXED = st.text(
    st.one_of(
        st.sampled_from(ALL_IDEOGRAPHS),
        st.characters(exclude_categories=["Cs"]),
        st.sampled_from("今天abcéΣß한글ﬁ，。 \t\n　️󠄀‍́👩🏽[]MASKUN"),
    ),
    max_size=60,
)


def test_contract_on_any_text(base_tokenizer, tokenizer):
    @settings(deadline=None, max_examples=400)
    @given(text=MIXED)
    def check(text):
        check_text(text, base_tokenizer, tokenizer)

    check()


@pytest.mark.parametrize(
    "text",
    [
        "今é天ｆｕｌｌ天️气󠄀很好",  # case 2: accents, full width, variation selectors
        "以σπδ来; 好𰀀𰀁的",  # case 3: unknowns beside known characters
        "⽣日, ⾦⾊, 塚塚",  # case 4: Kangxi radicals, compatibility ideographs
        "abc𬺰def𮯰𱍐ghi𲎰",  # extensions that BERT's own rule glues to their neighbours
        "王👩🏽‍🤝‍👨🏻小明🇨🇳",
        "[MASK]今[PAD][CLS][SEP][UNK]",
        "",
        "　",
        "\u200b",
        "\ufffd\ufffd",
    ],
)
def test_contract_on_known_troubles(base_tokenizer, tokenizer, text):
    check_text(text, base_tokenizer, tokenizer)


def test_neighbours_of_unknowns_keep_their_ids(tokenizer):
    alone = tokenizer.convert_tokens_to_ids(list("以好的"))
    ids = tokenizer("好𰀀𰀁的", add_special_tokens=False)["input_ids"]
    assert [ids[0], ids[3]] == alone[1:]
    assert ids[1] != ids[2]


def test_special_tokens_in_text_stay_text_unless_asked_for(tokenizer):
    assert tokenizer.mask_token_id not in tokenizer("今[MASK]天")["input_ids"]
    assert tokenizer.pad_token_id not in tokenizer("今[PAD]天")["input_ids"]
    asked = tokenizer("今[MASK]天", split_special_tokens=False)["input_ids"]
    assert tokenizer.mask_token_id in asked


def test_code_points_of_a_future_extension_do_not_swallow_ideographs(tokenizer):
    encoding = tokenizer("今\U00033500天", add_special_tokens=False).encodings[0]
    assert encoding.offsets == [(0, 1), (1, 2), (2, 3)]
    assert encoding.ids[1] == tokenizer.unk_token_id


def test_extending_twice_changes_nothing(tokenizer, base_tokenizer):
    assert extend_tokenizer(tokenizer) is tokenizer
    assert is_extended(tokenizer)
    assert not is_extended(base_tokenizer)


def test_saving_and_loading_keeps_everything(base_tokenizer, tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.get_vocab() == tokenizer.get_vocab()
    assert loaded.split_special_tokens
    assert is_extended(loaded)
    for text in ("今[MASK]天塚⽣鑫𰻞é", "重䢖道藏abc"):
        check_text(text, base_tokenizer, loaded)


def test_indices_of_the_model(base_tokenizer, tokenizer, table):
    size = len(base_tokenizer)
    token_index, struct_index = extended_indices(tokenizer, table, size)
    assert len(token_index) == len(struct_index) == len(tokenizer)
    ids = tokenizer.get_vocab()
    assert token_index[ids["今"]] == ids["今"]
    assert token_index[ids["鑫"]] == ids["[UNK]"]
    assert token_index[ids["⽣"]] == ids["生"]  # Kangxi radical
    assert token_index[ids["塚"]] == ids["塚"]  # compatibility ideograph U+FA10
    assert token_index[ids["⺠"]] == ids["[UNK]"]  # 民 is not in the small vocabulary
    assert struct_index[ids["⽣"]] == table["生"]
    assert struct_index[ids["塚"]] == table["塚"]
    assert struct_index[ids["##中"]] == table["中"]
    assert struct_index[ids["a"]] == struct_index[ids["[MASK]"]] == 0
    assert struct_index[ids["\U000323b0"]] == 1  # Extension J: newer than the table
    assert all(struct_index[ids[c]] == table[unify(c)] for c in ALL_IDEOGRAPHS[::97])


def test_cased_tokenizers(base_tokenizer, table):
    vocab = base_tokenizer.get_vocab()
    tokens = [*sorted(vocab, key=vocab.__getitem__), "A"]
    base = bert_tokenizer(tokens, lowercase=False, strip_accents=False)
    extended = extend_tokenizer(base, table)
    check_text("今天ABé塚⽣鑫", base, extended)


def test_first_id_leaves_room_for_unused_embedding_rows(base_tokenizer, table):
    extended = extend_tokenizer(base_tokenizer, table, first_id=500)
    added = set(extended.get_vocab().values()) - set(base_tokenizer.get_vocab().values())
    assert min(added) == 500
    assert "".join(extended.tokenize("今鑫")) == "今鑫"


def test_tokenizer_with_more_tokens_than_the_model_has_rows(tokenizer, table, base_tokenizer):
    with pytest.raises(CNMError, match="##"):
        extended_indices(tokenizer, table, len(base_tokenizer) - 3)


def test_slow_tokenizer_is_refused(base_tokenizer, tmp_path):
    vocab = base_tokenizer.get_vocab()
    path = tmp_path / "vocab.txt"
    path.write_text("\n".join(sorted(vocab, key=vocab.__getitem__)), encoding="utf-8")
    with pytest.raises(CNMError, match="use_fast"):
        extend_tokenizer(BertTokenizer(str(path)))


def test_other_kinds_of_tokenizer_are_refused(tmp_path):
    (tmp_path / "vocab.json").write_text('{"a": 0, "<|endoftext|>": 1}', encoding="utf-8")
    (tmp_path / "merges.txt").write_text("#version: 0.2\n", encoding="utf-8")
    gpt = GPT2TokenizerFast(str(tmp_path / "vocab.json"), str(tmp_path / "merges.txt"))
    with pytest.raises(CNMError, match="BPE"):
        extend_tokenizer(gpt)


@pytest.fixture(scope="module")
def real_pair(shared, table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("vocab")
    lines = (shared / "corpora/vocab/bert-base-chinese-vocab.txt").read_text("utf-8")
    (folder / "vocab.txt").write_text(lines, encoding="utf-8")
    base = BertTokenizerFast(str(folder / "vocab.txt"))
    return base, extend_tokenizer(base, table)


def test_real_vocabulary_on_real_text(real_pair, shared):
    """Every corpus file, sampled: the contract holds on each line."""
    base, extended = real_pair
    assert len(base) == 21128
    files = sorted((shared / "corpora/text").glob("*.xz"))
    assert len(files) == 16
    for path in files:
        with lzma.open(path, "rt", encoding="utf-8") as lines:
            sample = random.Random(0).sample(list(lines), 250)
        for line in sample:
            check_text(line, base, extended)


def test_real_vocabulary_keeps_rare_characters(real_pair, shared):
    base, extended = real_pair
    rows = (shared / "corpora/text/rare/ext_sentences.tsv").read_text("utf-8").splitlines()[1:]
    assert len(rows) > 4000
    for row in random.Random(0).sample(rows, 400):
        check_text(row.split("\t")[2], base, extended)


def test_real_vocabulary_on_any_text(real_pair):
    @settings(deadline=None, max_examples=300)
    @given(text=MIXED)
    def check(text):
        check_text(text, *real_pair)

    check()


def test_ideograph_ranges_agree_with_the_helper():
    assert all(is_ideograph(char) for char in ALL_IDEOGRAPHS[::50])
    assert not any(is_ideograph(char) for char in "aé。〇、 한あ々")
