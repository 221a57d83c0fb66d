"""Documents with rare names lost what JSON does not hold: "unknown" became "outside"."""

import pytest
import spacy
from spacy.tokens import Doc, Span, Token
from spacy.training import Example

from spacy_cnm.errors import CNMError
from spacy_cnm.stress.rare_names import RareNames, find_substitutes
from spacy_cnm.stress.substitutes import Substitutes


@pytest.fixture
def names():
    common = set("王小明在北京李说")
    return RareNames(Substitutes(lambda char: char not in common), {"PER"}, severity="one")


def test_what_is_unknown_stays_unknown(names):
    nlp = spacy.blank("zh")
    doc = nlp("王小明在北京说")
    doc.set_ents([Span(doc, 0, 3, "PER", kb_id="Q1", span_id="a")], default="missing")
    new = names.document(doc)
    assert new.text != doc.text
    assert len(new) == len(doc)
    known = Example(nlp(new.text), new).get_aligned_ner()
    assert known == ["B-PER", "I-PER", "L-PER", None, None, None, None]
    assert [(e.start, e.end, e.kb_id_, e.id_) for e in new.ents] == [(0, 3, "Q1", "a")]
    assert [token.is_sent_start for token in new] == [token.is_sent_start for token in doc]


def test_everything_else_stays(names):
    doc = spacy.blank("zh")("王小明在北京说 李")
    doc.set_ents([Span(doc, 0, 3, "PER")])
    for i, token in enumerate(doc):
        token.tag_, token.pos_ = f"B-{i}", "NOUN"
        token.is_sent_start = i == 0
    doc.cats = {"a": 1.0}
    doc.spans["x"] = [Span(doc, 3, 6, "PLACE", kb_id="k", span_id="s")]
    doc.spans["x"].attrs["color"] = "red"
    doc.user_data["source"] = "a.txt"
    Token.set_extension("note", default=None)
    doc[4]._.note = "city"
    new = names.document(doc)
    assert new.spans["x"].attrs == {"color": "red"}
    assert (new.user_data["source"], new[4]._.note, new[3]._.note) == ("a.txt", "city", None)
    Token.remove_extension("note")
    assert new.text[0] == "王"
    assert new.text[2:] == doc.text[2:]
    assert [t.tag_ for t in new] == [t.tag_ for t in doc]
    assert [t.pos_ for t in new] == [t.pos_ for t in doc]
    assert [t.ent_iob_ for t in new] == [t.ent_iob_ for t in doc]
    assert [t.is_sent_start for t in new] == [t.is_sent_start for t in doc]
    assert new.cats == doc.cats
    (span,) = new.spans["x"]
    assert (span.start, span.end, span.label_, span.kb_id_, span.id_) == (3, 6, "PLACE", "k", "s")


def test_a_parse_stays(names):
    vocab = spacy.blank("zh").vocab
    words = list("王小明在说")
    doc = Doc(vocab, words=words, spaces=[False] * 5, heads=[4, 0, 1, 4, 4], deps=list("abcde"))
    doc.set_ents([Span(doc, 0, 3, "PER")])
    new = names.document(doc)
    assert [t.head.i for t in new] == [t.head.i for t in doc]
    assert [t.dep_ for t in new] == list("abcde")


def test_no_substitute_is_said_in_words():
    with pytest.raises(CNMError, match=r"^The encoder's vocabulary has all") as error:
        find_substitutes(lambda char: False)
    assert "{" not in str(error.value)
