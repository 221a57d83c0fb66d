"""Maps from the tags of corpora to Universal POS tags (UPOS)."""

import spacy

#: The 17 tags of Universal Dependencies, and spaCy's own for white space.
UPOS = frozenset(
    "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN PUNCT SCONJ SYM VERB X SPACE".split()
)

_PKU_TO_UPOS: dict[str, str] = {}


@spacy.registry.misc("spacy_cnm.pku_to_upos.v1")
def pku_to_upos() -> dict[str, str]:
    return dict(_PKU_TO_UPOS)
