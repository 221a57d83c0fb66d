"""Reference documents: the pipeline's own tokens, the text unchanged, annotations in place."""

from pathlib import Path

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import DocBin
from spacy.training import Corpus

from spacy_cnm.corpora.docs import make_doc, write_docs
from spacy_cnm.corpora.records import Place, Record, Span, unusable_reason
from spacy_cnm.corpora.segmentation import words_from_labels

NLP = spacy.blank("zh")
PLACE = Place("x", 1)

TEXTS = st.text(
    st.one_of(
        st.sampled_from("王红沪，。 \t\n\r\u3000\u200d👨👩🏽\ufe0f𠮷Ab1\u0301\u2028\xa0"),
        st.characters(exclude_categories=("Cs", "Cc")),
    ),
    max_size=40,
)


@st.composite
def annotated(draw: st.DrawFn) -> Record:
    """A text with random non-overlapping spans that neither start nor end on white space."""
    text = draw(TEXTS.filter(lambda text: bool(text.strip())))
    borders = draw(st.lists(st.integers(0, len(text)), unique=True).map(sorted))
    spans = []
    for start, end in zip(borders[::2], borders[1::2], strict=False):
        if not text[start].isspace() and not text[end - 1].isspace():
            spans.append(Span(start, end, draw(st.sampled_from(["PER", "LOC"]))))
    return Record(text, PLACE, entities=tuple(spans))


@given(annotated())
def test_text_and_offsets_survive(record: Record) -> None:
    assert unusable_reason(record) is None
    doc = make_doc(NLP, record)
    assert doc.text == record.text
    assert [t.text for t in doc] == [t.text for t in NLP.make_doc(record.text)]
    assert doc.has_annotation("ENT_IOB")
    found = [Span(e.start_char, e.end_char, e.label_) for e in doc.ents]
    assert tuple(found) == record.entities
    (again,) = DocBin().from_bytes(DocBin(docs=[doc]).to_bytes()).get_docs(NLP.vocab)
    assert again.text == record.text


@given(annotated())
def test_joint_labels_give_the_words_back(record: Record) -> None:
    words = tuple(
        word for word in record.entities or () if not any(map(str.isspace, _surface(record, word)))
    )
    doc = make_doc(NLP, Record(record.text, PLACE, words=words))
    tagged = [
        Span(doc[start].idx, doc[end - 1].idx + len(doc[end - 1]), tag)
        for start, end, tag in words_from_labels([t.tag_ for t in doc])
        if tag
    ]
    assert tuple(tagged) == words
    assert not any(token.tag_ for token in doc if token.is_space)


def _surface(record: Record, span: Span) -> str:
    return record.text[span.start : span.end]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@美丽中国 奥运会", "奥运会"),
        ("\t王红\u3000\u3000来了\r\n", "王红"),
        ("  王红", "王红"),
        ("👩🏽\u200d🚀王红👨\u200d👩\u200d👧李明", "李明"),
        ("𠮷野家和𰀀𰀁", "𰀀𰀁"),
    ],
)
def test_white_space_and_emoji(text: str, name: str) -> None:
    """Cases 15 and 21."""
    start = text.index(name)
    doc = make_doc(NLP, Record(text, PLACE, entities=(Span(start, start + len(name), "X"),)))
    assert doc.text == text
    assert [(e.text, e.start_char) for e in doc.ents] == [(name, start)]


def test_missing_is_not_negative() -> None:
    bare = make_doc(NLP, Record("王红", PLACE))
    assert not bare.has_annotation("ENT_IOB")
    assert not bare.has_annotation("TAG")
    assert bare.cats == {}
    none = make_doc(NLP, Record("王红", PLACE, entities=(), words=(Span(0, 2, "nr"),)))
    assert [t.ent_iob_ for t in none] == ["O", "O"]
    assert [t.tag_ for t in none] == ["B-nr", "I-nr"]


def test_white_space_word_has_no_label() -> None:
    words = (Span(0, 1, "n"), Span(1, 2, "w"), Span(2, 4, "v"))
    doc = make_doc(NLP, Record("人\u3000走路", PLACE, words=words))
    assert [t.tag_ for t in doc] == ["B-n", "", "B-v", "I-v"]


def test_same_records_same_bytes_and_spacy_reads_them(tmp_path: Path) -> None:
    records = [
        Record("王红来沪", PLACE, entities=(Span(0, 2, "PER"), Span(3, 4, "LOC"))),
        Record("很好", PLACE, cats={"positive": 1.0, "negative": 0.0}),
    ]
    summary = write_docs(records, tmp_path / "a.spacy")
    write_docs(records, tmp_path / "b.spacy")
    assert (tmp_path / "a.spacy").read_bytes() == (tmp_path / "b.spacy").read_bytes()
    assert (summary.docs, summary.characters) == (2, 6)
    assert summary.entities == {"PER": 1, "LOC": 1}
    assert summary.cats == {"positive": 1}
    reader = Corpus(tmp_path / "a.spacy")
    first, second = (example.reference for example in reader(NLP))
    assert [(e.text, e.label_) for e in first.ents] == [("王红", "PER"), ("沪", "LOC")]
    assert not second.has_annotation("ENT_IOB")
    assert second.cats == {"positive": 1.0, "negative": 0.0}
