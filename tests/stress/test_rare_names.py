"""Names with rare characters: which change, and that nothing else does."""

from pathlib import Path

import pytest
import spacy

from spacy_cnm.corpora.docs import make_doc, reference_nlp
from spacy_cnm.corpora.records import Place, Record, Span
from spacy_cnm.errors import CNMError
from spacy_cnm.stress.rare_names import RareNames, read_characters
from spacy_cnm.stress.substitutes import Substitutes

TEXT = "王小明和J·王 去了 北京市。王小明说"
RECORD = Record(
    TEXT,
    Place("x", 1),
    entities=(
        Span(0, 3, "PER"),
        Span(4, 7, "PER"),
        Span(11, 14, "LOC"),
        Span(15, 18, "PER"),
    ),
    words=(Span(0, 1, "nr"), Span(1, 3, "nr"), Span(3, 4, "c"), Span(4, 7, "nr")),
)
COMMON = set(TEXT)


@pytest.fixture(scope="module")
def substitutes() -> Substitutes:
    return Substitutes(lambda char: char not in COMMON)


def differences(old: str, new: str) -> list[int]:
    return [i for i, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]


@pytest.mark.parametrize(
    ("severity", "keep", "places"),
    [
        ("one", "first", [1, 6, 16]),
        ("most", "first", [1, 2, 6, 16, 17]),
        ("one", "last", [1, 6, 16]),
        ("most", "last", [0, 1, 6, 15, 16]),
        ("all", "first", [0, 1, 2, 6, 15, 16, 17]),
    ],
)
def test_which_characters_change(
    substitutes: Substitutes, severity: str, keep: str, places: list[int]
) -> None:
    names = RareNames(substitutes, {"PER"}, severity, keep)
    doc = make_doc(reference_nlp(), RECORD)
    assert differences(TEXT, names.document(doc).text) == places
    assert (names.changed.names, names.changed.changed) == (3, 3)
    assert names.changed.characters == len(places)


def test_annotations_stay_and_one_person_has_one_name(substitutes: Substitutes) -> None:
    doc = make_doc(reference_nlp(), RECORD)
    new = RareNames(substitutes, {"PER", "LOC"}, "all").document(doc)
    assert [(e.start_char, e.end_char, e.label_) for e in new.ents] == [
        (e.start_char, e.end_char, e.label_) for e in doc.ents
    ]
    assert [t.tag_ for t in new] == [t.tag_ for t in doc]
    assert [t.idx for t in new] == [t.idx for t in doc]
    assert new.ents[0].text == new.ents[3].text
    assert not set(new.ents[2].text) & COMMON
    assert new.text[3] == "和"
    other = RareNames(substitutes, {"PER"}, "all", seed=1).document(doc)
    assert other.ents[0].text != new.ents[0].text


def test_what_changes_elsewhere_is_in_no_name(substitutes: Substitutes) -> None:
    doc = make_doc(reference_nlp(), RECORD)
    names = RareNames(substitutes, {"PER"}, None, elsewhere=1.0)
    new = names.document(doc)
    # All ideographs but those of persons; a place is no person.
    assert differences(TEXT, new.text) == [3, 8, 9, 11, 12, 13, 18]
    assert (names.changed.names, names.changed.changed, names.changed.elsewhere) == (3, 0, 7)
    every = RareNames(substitutes, None, "all").document(doc).text
    assert differences(TEXT, every) == [0, 1, 2, 6, 11, 12, 13, 15, 16, 17]
    both = RareNames(substitutes, {"PER"}, "all", elsewhere=1.0).document(doc).text
    assert [both[i] for i in (3, 8, 9)] == [new.text[i] for i in (3, 8, 9)]
    assert not {char for char in both if char not in "J· 。"} & COMMON


def test_what_is_not_annotated_stays_so(substitutes: Substitutes) -> None:
    doc = make_doc(reference_nlp(), Record("很好", Place("x", 1), cats={"a": 1.0}))
    new = RareNames(substitutes, {"PER"}).document(doc)
    assert (new.text, new.cats) == ("很好", {"a": 1.0})
    assert not new.has_annotation("ENT_IOB")
    assert not new.has_annotation("TAG")
    assert RareNames(substitutes, {"PER"}).document(spacy.blank("zh")("")).text == ""


def test_every_annotation_is_copied(substitutes: Substitutes) -> None:
    doc = make_doc(reference_nlp(), RECORD)
    for token in doc:
        token.pos_, token.lemma_ = "NOUN", token.text
        token.head, token.dep_ = doc[0], "dep" if token.i else "ROOT"
    doc.spans["sc"] = [doc[0:2]]
    new = RareNames(substitutes, {"PER"}).document(doc)
    for name in ("POS", "LEMMA", "DEP", "HEAD", "TAG", "ENT_IOB"):
        assert new.has_annotation(name) == doc.has_annotation(name), name
    assert [t.pos_ for t in new] == [t.pos_ for t in doc]
    # Also that there is no entity: a missing annotation would teach nothing.
    assert [t.ent_iob_ for t in new] == [t.ent_iob_ for t in doc]
    empty = make_doc(reference_nlp(), Record("很好", Place("x", 1), entities=()))
    assert [t.ent_iob_ for t in RareNames(substitutes, {"PER"}).document(empty)] == ["O", "O"]
    assert [t.head.i for t in new] == [t.head.i for t in doc]
    assert [(s.start, s.end) for s in new.spans["sc"]] == [(0, 2)]


def test_characters_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "names.txt"
    path.write_text("surname,count\n王,3\n堃\n", encoding="utf-8")
    assert read_characters(path) == {"王", "堃"}
    path.write_text("none\n", encoding="utf-8")
    with pytest.raises(CNMError, match="no ideographs"):
        read_characters(path)
