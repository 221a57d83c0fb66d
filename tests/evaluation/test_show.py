"""What `show` prints for a document."""

import spacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_cnm.evaluation.show import describe
from spacy_cnm.evaluation.vocabulary import vocabulary_of


def make(words: list[str], tags: list[str], *ents: tuple[int, int, str]) -> Doc:
    doc = Doc(spacy.blank("zh").vocab, words=words, spaces=[False] * len(words), tags=tags)
    doc.set_ents([Span(doc, *ent) for ent in ents])
    return doc


def test_a_document(demo_nlp: Language) -> None:
    doc = make(["记者", "王䶮", "在", "北京"], ["n", "nr", "p", "ns"], (1, 2, "PER"), (3, 4, "LOC"))
    for token in doc:
        token.is_sent_start = token.i == 0
    doc.cats = {"negative": 0.251, "positive": 0.749}
    text = describe(doc, vocabulary_of(demo_nlp))
    assert text.split("\n") == [
        "记者王䶮在北京",
        "  words       记者/n 王䶮/nr 在/p 北京/ns",
        "  sentences   1",
        "  entities    王䶮  PER",
        "                䶮 U+4DAE not in the vocabulary, structure ⿱龙天",
        "              北京  LOC",
        "  characters  记 U+8BB0 not in the vocabulary, structure ⿰讠己",
        "              者 U+8005 not in the vocabulary, structure ⿱耂日",
        "  category    positive  0.75",
    ]


def test_labels_are_aligned_by_columns() -> None:
    doc = make(["IBM", "在", "王小明"], ["n", "p", "nr"], (0, 1, "ORG"), (2, 3, "PER"))
    lines = describe(doc).split("\n")
    assert lines[2:] == ["  entities    IBM     ORG", "              王小明  PER"]


def test_what_is_not_set_is_not_mentioned() -> None:
    assert describe(spacy.blank("zh")("没有，䶮")) == "没有，䶮"
    assert describe(spacy.blank("zh")("")) == ""
    assert vocabulary_of(spacy.blank("zh")) is None


def test_lines_are_short() -> None:
    doc = make(["很长"] * 100, ["a"] * 100)
    lines = describe(doc).split("\n")
    assert "".join(lines[:5]) == doc.text
    assert all(len(line.encode("gb18030")) <= 80 for line in lines)
    assert lines[5].startswith("  words       很长/a 很长/a")
    assert " ".join(line.strip() for line in lines[5:]).split()[1:] == ["很长/a"] * 100


def test_a_line_break_in_the_text_is_a_space() -> None:
    assert describe(spacy.blank("zh")("一\n二")) == "一 二"


def test_vocabulary(demo_nlp: Language) -> None:
    vocabulary = vocabulary_of(demo_nlp)
    assert vocabulary is not None
    assert [char for char in "王䶮在, 𬭸X😀" if vocabulary.lacks(char)] == ["䶮", "𬭸"]


def test_encoder_inside_another_component(demo_folder) -> None:
    nlp = spacy.load(demo_folder)
    nlp.replace_listeners("transformer", "ner", ["model.tok2vec"])
    nlp.remove_pipe("transformer")
    vocabulary = vocabulary_of(nlp)
    assert vocabulary is not None
    assert vocabulary.lacks("䶮")
