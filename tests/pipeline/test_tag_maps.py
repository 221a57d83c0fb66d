"""The PKU map covers the corpus and gives UPOS values only."""

import pytest

from spacy_cnm.pipeline.tag_maps import UPOS, pku_to_upos

PKU = (
    "n v w u d vn m p nr a r ns c q t f j b l ad i Ng s nz nt an y Vg z k vd Tg nx Ag Dg o h e Rg "
    "Bg Mg x"
)


@pytest.mark.parametrize("tag", PKU.split())
def test_every_pku_tag_has_a_upos_value_in_either_case(tag):
    mapped = pku_to_upos()
    assert mapped[tag] in UPOS
    assert mapped[tag.lower()] == mapped[tag]


@pytest.mark.parametrize(
    ("tag", "pos"),
    [("nr", "PROPN"), ("v", "VERB"), ("w", "PUNCT"), ("q", "NOUN"), ("f", "ADP"), ("Vg", "VERB")],
)
def test_values(tag, pos):
    assert pku_to_upos()[tag] == pos


def test_each_call_gives_a_map_of_its_own():
    pku_to_upos()["n"] = "X"
    assert pku_to_upos()["n"] == "NOUN"
