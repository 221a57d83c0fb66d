"""Characters become words; everything else that is known of the text stays true."""

import copy
import itertools
import pickle
import subprocess
import sys

import numpy
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc, Span, Token
from spacy.training import Example
from spacy.vocab import Vocab
from spacy_transformers.data_classes import TransformerData
from thinc.types import Ragged

from spacy_cnm.errors import CNMError, CNMWarning
from spacy_cnm.pipeline import word_merger
from spacy_cnm.pipeline.word_merger import WordMerger, merge_alignment, words_of

# The transformer component does so when a pipeline creates one.
if not Doc.has_extension("trf_data"):
    Doc.set_extension("trf_data", default=None)

PKU_MAP = {"@misc": "spacy_cnm.pku_to_upos.v1"}


def make_doc(words, labels, spaces=None, **kwargs):
    spaces = spaces or [False] * len(words)
    return Doc(Vocab(), words=list(words), spaces=spaces, tags=labels, **kwargs)


def merge(doc, **kwargs):
    return WordMerger(**kwargs)(doc)


def texts(doc):
    return [token.text for token in doc]


def tags(doc):
    return [token.tag_ for token in doc]


def spans_of(spans):
    return [(s.start_char, s.end_char, s.label_, s.kb_id_, s.id_, s.text) for s in spans]


# --- words and tags ------------------------------------------------------------------------------


def test_joins_characters_and_leaves_plain_tags():
    doc = merge(make_doc("今天天气好", ["B-t", "I-t", "B-n", "I-n", "B-a"]))
    assert texts(doc) == ["今天", "天气", "好"]
    assert tags(doc) == ["t", "n", "a"]
    assert doc.text == "今天天气好"


def test_the_document_is_changed_in_place():
    doc = make_doc("今天", ["B-t", "I-t"])
    assert merge(doc) is doc


def test_pos_comes_from_the_map_or_from_the_tag_itself_or_stays_empty():
    doc = make_doc("一二三四", ["B-n", "B-VERB", "B-zz", "plain"])
    merge(doc, pos_map={"n": "NOUN"})
    assert [token.pos_ for token in doc] == ["NOUN", "VERB", "", ""]


def test_the_map_goes_before_the_tag_itself():
    doc = merge(make_doc("一", ["B-X"]), pos_map={"X": "SYM"})
    assert doc[0].pos_ == "SYM"


def test_a_map_to_something_else_than_upos_is_an_error():
    with pytest.raises(CNMError, match=r"'n'.*'Noun'"):
        WordMerger(pos_map={"n": "Noun"})


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (["", "", ""], ["", "", ""]),
        (["n", "v", "n"], ["n", "v", "n"]),
        (["I-n", "I-n", "I-v"], ["n"]),
        (["B-n", "", "I-n"], ["n", "", "n"]),
        (["B-n", "x", "I-n"], ["n", "x", "n"]),
        (["B-", "I-", "B-"], ["", ""]),
        (["B", "I", "-"], ["B", "I", "-"]),
    ],
)
def test_labels_of_every_kind(labels, words):
    doc = merge(make_doc("甲乙丙", labels))
    assert tags(doc) == words
    assert doc.text == "甲乙丙"


def test_empty_document():
    assert len(merge(Doc(Vocab()))) == 0


def test_document_without_tags_is_left_alone():
    doc = merge(Doc(Vocab(), words=["今", "天"], spaces=[False, False]))
    assert texts(doc) == ["今", "天"]
    assert not doc.has_annotation("TAG")


@pytest.mark.parametrize("label", ["B-n", "I-n"])
def test_one_token(label):
    doc = merge(make_doc(["𰀀"], [label]))
    assert (texts(doc), tags(doc)) == (["𰀀"], ["n"])


def test_a_second_run_changes_nothing():
    doc = merge(make_doc("今天好", ["B-t", "I-t", "B-a"]), pos_map={"t": "NOUN"})
    before = doc.to_bytes()
    assert merge(doc, pos_map={"t": "NOUN"}).to_bytes() == before


@pytest.mark.parametrize("text", ["\ufffd\ufffd", "👨🏽‍👩🏽‍👧", "ｅ\u0301", "刋\U000e0100"])
def test_unusual_characters(text):
    doc = merge(make_doc(text, ["B-nr"] + ["I-nr"] * (len(text) - 1)))
    assert texts(doc) == [text]


def test_emoji_between_names_leave_entities_in_place():
    text = "王强👩🏽‍🚀李雷"
    doc = make_doc(text, ["B-nr", "I-nr", "B-x", "I-x", "I-x", "I-x", "B-nr", "I-nr"])
    doc.ents = [Span(doc, 0, 2, "PER"), Span(doc, 6, 8, "PER")]
    merge(doc)
    assert texts(doc) == ["王强", "👩🏽‍🚀", "李雷"]
    assert [ent.text for ent in doc.ents] == ["王强", "李雷"]


# --- borders -------------------------------------------------------------------------------------


def test_no_word_crosses_the_border_of_an_entity():
    doc = make_doc("王强来了", ["B-n", "I-n", "I-n", "I-n"])
    doc.ents = [Span(doc, 1, 3, "PER", kb_id="Q1", span_id="id1")]
    merge(doc)
    assert texts(doc) == ["王", "强来", "了"]
    assert tags(doc) == ["n", "n", "n"]
    assert spans_of(doc.ents) == [(1, 3, "PER", "Q1", "id1", "强来")]


def test_neighbouring_entities_of_one_label_stay_two():
    doc = make_doc("王强李雷", ["B-n", "I-n", "I-n", "I-n"])
    doc.ents = [Span(doc, 0, 2, "PER"), Span(doc, 2, 4, "PER")]
    assert [ent.text for ent in merge(doc).ents] == ["王强", "李雷"]


def test_words_inside_a_long_entity():
    doc = make_doc("北京大学", ["B-ns", "I-ns", "B-n", "I-n"])
    doc.ents = [Span(doc, 0, 4, "ORG")]
    merge(doc)
    assert texts(doc) == ["北京", "大学"]
    assert [token.ent_iob_ for token in doc] == ["B", "I"]


def test_missing_and_blocked_entities_do_not_stop_words():
    doc = make_doc("甲乙丙丁", ["B-n", "I-n", "B-n", "I-n"])
    doc.set_ents([], blocked=[doc[0:2]], missing=[doc[2:4]])
    merge(doc)
    assert texts(doc) == ["甲乙", "丙丁"]
    assert [token.ent_iob for token in doc] == [3, 0]


def test_no_word_crosses_a_sentence_start():
    doc = make_doc("甲乙丙", ["B-n", "I-n", "I-n"], sent_starts=[True, False, True])
    merge(doc)
    assert texts(doc) == ["甲乙", "丙"]
    assert [sent.text for sent in doc.sents] == ["甲乙", "丙"]


def test_no_word_crosses_white_space():
    text = "@美丽中国 奥\t\n运\u3000会"
    words = ["@", "美", "丽", "中", "国", "奥", "\t", "\n", "运", "\u3000", "会"]
    doc = make_doc(words, ["B-n"] + ["I-n"] * 10, [w == "国" for w in words])
    merge(doc)
    assert doc.text == text
    assert texts(doc) == ["@美丽中国", "奥", "\t", "\n", "运", "\u3000", "会"]
    assert [token.pos_ for token in doc if token.text.isspace()] == ["SPACE"] * 3
    assert doc[0].whitespace_ == " "


def test_the_character_tokenizer_and_white_space():
    nlp = spacy.blank("zh")
    doc = nlp.make_doc("「@美丽中国 奥运会」\r\n 好")
    for token in doc:
        token.tag_ = "I-n"
    assert merge(doc).text == "「@美丽中国 奥运会」\r\n 好"
    assert all(not any(map(str.isspace, t.text)) for t in doc if not t.is_space)


# --- spans, dependencies, user data --------------------------------------------------------------


def test_span_groups_keep_their_characters_and_attributes():
    doc = make_doc("今天天气很好", ["B-t", "I-t", "B-n", "I-n", "B-d", "B-a"])
    doc.spans["sc"] = [
        Span(doc, 2, 4, "N", kb_id="Q1", span_id="s1"),
        Span(doc, 0, 6, "ALL"),
        Span(doc, 4, 6),
        Span(doc, 6, 6, "END"),
        Span(doc, 2, 2, "NONE"),
    ]
    doc.spans["same"] = doc.spans["sc"]
    doc.spans["sc"].attrs["kept"] = True
    doc.spans["empty"] = []
    before = spans_of(doc.spans["sc"])
    merge(doc)
    assert spans_of(doc.spans["sc"]) == before
    assert [(span.start, span.end) for span in doc.spans["sc"]][:3] == [(1, 2), (0, 4), (2, 4)]
    assert doc.spans["same"] is doc.spans["sc"]
    assert doc.spans["sc"].attrs == {"kept": True}
    assert len(doc.spans["empty"]) == 0


def test_no_word_crosses_the_border_of_a_span():
    doc = make_doc("甲乙丙", ["B-n", "I-n", "I-n"])
    doc.spans["sc"] = [doc[1:2]]
    merge(doc)
    assert texts(doc) == ["甲", "乙", "丙"]
    assert [span.text for span in doc.spans["sc"]] == ["乙"]


def test_a_span_that_was_cut_before_grows_to_whole_tokens():
    doc = make_doc("甲乙丙丁", ["B-n", "I-n", "B-n", "I-n"])
    doc.spans["sc"] = [doc[1:2]]
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[0:2], attrs={"TAG": "B-n"})
    merge(doc)
    assert texts(doc) == ["甲乙", "丙丁"]
    assert [span.text for span in doc.spans["sc"]] == ["甲乙"]


def test_dependencies_are_merged():
    doc = make_doc(
        "我吃苹果",
        ["B-r", "B-v", "B-n", "I-n"],
        heads=[1, 1, 3, 1],
        deps=["nsubj", "ROOT", "compound", "obj"],
    )
    merge(doc)
    assert [(t.text, t.head.text, t.dep_) for t in doc] == [
        ("我", "吃", "nsubj"),
        ("吃", "吃", "ROOT"),
        ("苹果", "吃", "obj"),
    ]


def test_user_data_categories_and_tensor():
    if not Token.has_extension("merger_test"):
        Token.set_extension("merger_test", default=None)
    doc = make_doc("今天好", ["B-t", "I-t", "B-a"])
    doc.user_data[1] = "by index"
    doc.user_data["key"] = [1]
    doc[2]._.merger_test = "kept"
    doc.cats = {"POS": 1.0}
    doc.tensor = numpy.arange(6, dtype="f").reshape(3, 2)
    merge(doc)
    assert doc.user_data[1] == "by index"
    assert doc.user_data["key"] == [1]
    assert doc[1]._.merger_test == "kept"
    assert doc.cats == {"POS": 1.0}
    assert doc.tensor.shape == (2, 2)


def test_many_joins_take_several_passes(monkeypatch):
    monkeypatch.setattr(word_merger, "JOINS_PER_PASS", 3)
    doc = make_doc("甲乙丙" * 10, ["B-n", "I-n", "B-v"] * 10)
    doc.ents = [Span(doc, 3, 6, "X"), Span(doc, 27, 30, "Y")]
    merge(doc)
    assert texts(doc) == ["甲乙", "丙"] * 10
    assert [(e.start, e.end, e.label_) for e in doc.ents] == [(2, 4, "X"), (18, 20, "Y")]


# --- transformer data ----------------------------------------------------------------------------


def trf_data(lengths, indices):
    data = TransformerData.empty()
    data.align = Ragged(numpy.array(indices, dtype="i"), numpy.array(lengths, dtype="i"))
    return data


def pieces(align):
    ends = numpy.cumsum(align.lengths)
    starts = ends - align.lengths
    return [align.dataXd[a:b].tolist() for a, b in zip(starts, ends, strict=True)]


def test_transformer_data_is_aligned_to_words():
    doc = make_doc("abc好的", ["B-nx", "I-nx", "I-nx", "B-a", "B-u"])
    # a, b, c share one piece; 好 has two; 的 has none.
    doc._.trf_data = old = trf_data([1, 1, 1, 2, 0], [1, 1, 1, 7, 2])
    merge(doc)
    assert pieces(doc._.trf_data.align) == [[1], [2, 7], []]
    assert doc._.trf_data.align.dataXd.dtype == numpy.int32
    assert len(old.align.lengths) == 5, "the old object may be shared"
    assert TransformerData.empty().from_bytes(doc._.trf_data.to_bytes()).align.lengths.shape == (3,)


@pytest.mark.parametrize("data", [None, TransformerData.empty()])
def test_no_or_empty_transformer_data(data):
    doc = make_doc("今天", ["B-t", "I-t"])
    doc._.trf_data = data
    assert texts(merge(doc)) == ["今天"]
    assert doc._.trf_data is data


def test_alignment_without_any_word_piece():
    assert pieces(merge_alignment(trf_data([0, 0, 0], []).align, [2, 1])) == [[], []]


def test_stale_transformer_data_is_left_with_a_warning():
    doc = make_doc("今天", ["B-t", "I-t"])
    doc._.trf_data = trf_data([1], [1])
    with pytest.warns(CNMWarning, match="aligned to 1 tokens but the document has 2"):
        merge(doc)
    assert pieces(doc._.trf_data.align) == [[1]]


def test_real_transformer(tmp_path):
    transformers = pytest.importorskip("transformers")
    vocab = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "今", "天", "好", "abc"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocab), encoding="utf8")
    transformers.BertTokenizerFast(str(tmp_path / "vocab.txt")).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=len(vocab),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    nlp = spacy.blank("zh")
    model = {
        "@architectures": "spacy-transformers.TransformerModel.v3",
        "name": str(tmp_path),
        "get_spans": {"@span_getters": "spacy-transformers.strided_spans.v1"},
    }
    nlp.add_pipe("transformer", config={"model": model}).initialize(lambda: [], nlp=nlp)
    doc = nlp("abc今天好")
    for token, label in zip(doc, ["B-x", "I-x", "I-x", "B-t", "I-t", "B-a"], strict=True):
        token.tag_ = label
    merge(doc)
    assert texts(doc) == ["abc", "今天", "好"]
    assert pieces(doc._.trf_data.align) == [[1], [2, 3], [4]]


# --- any text, any labels ------------------------------------------------------------------------

CHARS = st.sampled_from("今天气好刋䢖𰀀a1，。👨\u200d🏽\ufffd\u3000\n\t")
LABELS = st.sampled_from(["B-n", "I-n", "B-v", "I-v", "n", "", "B-", "I-"])
CHARACTERS = st.tuples(CHARS, LABELS, st.booleans(), st.sampled_from([None, True, False, False]))


@st.composite
def documents(draw):
    rows = draw(st.lists(CHARACTERS, max_size=24))
    words, labels, spaces, sent_starts = zip(*rows, strict=True) if rows else ((),) * 4
    doc = Doc(
        Vocab(),
        words=list(words),
        spaces=[space and not word.isspace() for word, space in zip(words, spaces, strict=True)],
        tags=list(labels),
        sent_starts=list(sent_starts),
    )
    cuts = sorted(draw(st.sets(st.integers(0, len(doc)), max_size=8)))
    names = st.sampled_from(["", "PER", "LOC"])
    ents = [(a, b, draw(names)) for a, b in itertools.pairwise(cuts)]
    doc.ents = [Span(doc, a, b, label, kb_id="Q1") for a, b, label in ents if label]
    border = st.integers(0, len(doc))
    pairs = draw(st.lists(st.tuples(border, border), max_size=3))
    doc.spans["sc"] = [Span(doc, min(pair), max(pair), "S") for pair in pairs]
    doc.cats = {"A": 0.5}
    lengths = [draw(st.integers(0, 3)) for _ in doc]
    indices = [sorted(draw(st.sets(st.integers(0, 30), min_size=n, max_size=n))) for n in lengths]
    doc._.trf_data = trf_data(lengths, [i for row in indices for i in row])
    return doc


@settings(deadline=None, max_examples=300)
@given(documents())
def test_what_is_known_of_the_text_stays_true(doc):
    before = copy.deepcopy(pieces(doc._.trf_data.align))
    at = {token.idx: row for token, row in zip(doc, before, strict=True)}
    state = (doc.text, spans_of(doc.ents), spans_of(doc.spans["sc"]), dict(doc.cats))
    starts = {token.idx for token in doc if token.is_sent_start}
    n_words = len(words_of(doc))

    merge(doc)

    assert (doc.text, spans_of(doc.ents), spans_of(doc.spans["sc"]), dict(doc.cats)) == state
    assert {token.idx for token in doc if token.is_sent_start} == starts
    assert len(doc) == n_words
    assert not any(tag.startswith(("B-", "I-")) for tag in tags(doc))
    assert all(t.text.isspace() or not any(map(str.isspace, t.text)) for t in doc)
    for token, merged in zip(doc, pieces(doc._.trf_data.align), strict=True):
        rows = [at.get(i, []) for i in range(token.idx, token.idx + len(token))]
        assert merged == sorted({index for row in rows for index in row})
    again = Doc(doc.vocab).from_bytes(doc.to_bytes(exclude=["user_data"]))
    assert texts(again) == texts(doc)

    once = (texts(doc), tags(doc), pieces(doc._.trf_data.align))
    merge(doc)
    assert (texts(doc), tags(doc), pieces(doc._.trf_data.align)) == once


# --- in a pipeline -------------------------------------------------------------------------------


def make_nlp():
    """A pipeline with a stock tagger that has learned two words by heart."""
    nlp = spacy.blank("zh")
    tagger = nlp.add_pipe(
        "tagger", config={"scorer": {"@scorers": "spacy_cnm.joint_tag_scorer.v1"}}
    )
    merger = nlp.add_pipe("cnm_word_merger", config={"pos_map": PKU_MAP})
    doc = nlp.make_doc("今天天气")
    example = Example.from_dict(doc, {"tags": ["B-t", "I-t", "B-n", "I-n"]})
    nlp.initialize(lambda: [example])
    assert isinstance(merger, WordMerger)
    tagger.cfg["overwrite"] = True
    optimizer = nlp.resume_training()
    for _ in range(30):
        with nlp.select_pipes(enable="tagger"):
            nlp.update([Example(nlp.make_doc(doc.text), example.reference)], sgd=optimizer)
    return nlp


@pytest.fixture(scope="module")
def nlp():
    return make_nlp()


def read(doc):
    return [(token.text, token.tag_, token.pos_) for token in doc]


EXPECTED = [("今天", "t", "NOUN"), ("天气", "n", "NOUN")]


def test_pipeline(nlp):
    assert read(nlp("今天天气")) == EXPECTED
    assert nlp.analyze_pipes()["problems"] == {"tagger": [], "cnm_word_merger": []}
    assert nlp.get_pipe_meta("cnm_word_merger").retokenizes


# Python 3.12 warns of any fork in a process with threads, and torch has some.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_several_processes(nlp):
    docs = list(nlp.pipe(["今天天气", "", "今天天气"], n_process=2))
    assert [read(doc) for doc in docs] == [EXPECTED, [], EXPECTED]


def test_disk_bytes_and_pickle(nlp, tmp_path):
    nlp.to_disk(tmp_path)
    assert read(spacy.load(tmp_path)("今天天气")) == EXPECTED
    other = spacy.util.load_model_from_config(nlp.config, auto_fill=False)
    other.from_bytes(nlp.to_bytes())
    assert read(other("今天天气")) == EXPECTED
    doc = make_doc("今天", ["B-t", "I-t"])
    assert read(pickle.loads(pickle.dumps(nlp.get_pipe("cnm_word_merger")))(doc)) == EXPECTED[:1]


def test_config_is_filled_in():
    nlp = spacy.blank("zh")
    nlp.add_pipe("cnm_word_merger")
    section = nlp.config["components"]["cnm_word_merger"]
    assert section["pos_map"] is None
    assert section["scorer"] == {"@scorers": "spacy_cnm.word_scorer.v1"}
    text = nlp.config.to_str().replace("pos_map = null\n", "")
    text += '\n[components.cnm_word_merger.pos_map]\n@misc = "spacy_cnm.pku_to_upos.v1"\n'
    config = spacy.util.load_config_from_str(text)
    filled = spacy.util.load_model_from_config(config, auto_fill=True)
    doc = filled.get_pipe("cnm_word_merger")(make_doc("今天", ["B-t", "I-t"]))
    assert read(doc) == EXPECTED[:1]


def test_evaluation_after_the_merge(nlp):
    reference = nlp.make_doc("今天天气")
    reference = Doc(
        nlp.vocab,
        words=texts(reference),
        spaces=[False] * 4,
        tags=["B-t", "I-t", "B-n", "I-n"],
        ents=["B-X", "I-X", "I-X", "O"],
    )
    nlp.add_pipe("entity_ruler", before="cnm_word_merger").add_patterns(
        [{"label": "X", "pattern": [{"TEXT": "今"}, {"TEXT": "天"}, {"TEXT": "天"}]}]
    )
    scores = nlp.evaluate([Example(nlp.make_doc("今天天气"), reference)])
    nlp.remove_pipe("entity_ruler")
    assert (scores["ents_p"], scores["ents_r"], scores["ents_f"]) == (1.0, 1.0, 1.0)
    # The entity cuts 天气 in two: one label and one word of the reference cannot be right.
    assert scores["tag_acc"] == 0.75
    assert (scores["word_p"], scores["word_r"]) == (pytest.approx(1 / 3), 0.5)


def test_evaluation_of_entities_spans_and_categories_against_characters():
    nlp = spacy.blank("zh")
    words = list("王强在北京")
    labels = ["B-nr", "I-nr", "B-p", "B-ns", "I-ns"]
    reference = Doc(nlp.vocab, words=words, spaces=[False] * 5, tags=labels)
    reference.ents = [Span(reference, 0, 2, "PER"), Span(reference, 3, 5, "LOC")]
    reference.spans["sc"] = [Span(reference, 3, 5, "LOC")]
    reference.cats = {"A": 1.0, "B": 0.0}
    predicted = reference.copy()
    predicted.ents = [Span(predicted, 0, 2, "PER"), Span(predicted, 2, 3, "LOC")]
    merge(predicted)
    example = Example(predicted, reference)
    scorer = spacy.scorer.Scorer
    ents = spacy.scorer.get_ner_prf([example])
    assert (ents["ents_p"], ents["ents_r"]) == (0.5, 0.5)
    assert ents["ents_per_type"]["PER"]["f"] == 1.0
    spans = scorer.score_spans(
        [example], "sc", getter=lambda doc, key: doc.spans[key], allow_overlap=True
    )
    assert spans["sc_f"] == 1.0
    cats = scorer.score_cats([example], "cats", labels=["A", "B"], multi_label=False)
    assert cats["cats_micro_f"] == 1.0


def test_entry_points_resolve_without_importing_the_package():
    code = """
import sys
import spacy
assert not any(name.startswith("spacy_cnm") for name in sys.modules)
from spacy.util import registry
assert callable(registry.scorers.get("spacy_cnm.word_scorer.v1")())
assert callable(registry.scorers.get("spacy_cnm.joint_tag_scorer.v1")())
assert registry.misc.get("spacy_cnm.pku_to_upos.v1")()["nr"] == "PROPN"
assert "spacy_transformers" not in sys.modules, "it loads torch, which these modules do not need"
config = {"pos_map": {"@misc": "spacy_cnm.pku_to_upos.v1"}}
spacy.blank("zh").add_pipe("cnm_word_merger", config=config)
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True)
