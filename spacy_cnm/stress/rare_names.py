"""Rare characters in the names of documents."""

import random
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, cast

from spacy.tokens import Doc, Span, SpanGroup

from spacy_cnm.corpora.text_files import read_lines
from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import is_ideograph

from .substitutes import Substitutes

#: What the tokens of a document keep. Not the norm, which is that of the characters.
_ATTRIBUTES = ["TAG", "POS", "MORPH", "LEMMA", "ENT_IOB", "ENT_TYPE", "ENT_KB_ID", "ENT_ID"]
#: How much of a name changes: one character, all but the one that says what it is (the surname in
#: front, 省 or 市 at the end), or all.
Severity = Literal["one", "most", "all"]
SEVERITIES: tuple[Severity, ...] = ("one", "most", "all")
#: Which character is kept as long as there is another: the first of a person, the last of a place.
Keep = Literal["first", "last"]
KEEPS: tuple[Keep, ...] = ("first", "last")


@dataclass
class Changed:
    """What was changed.

    names: entities that could change.
    changed: of these, how many have new characters.
    characters: new characters, in names and elsewhere.
    alike: of these, how many share the main component of what they stand for.
    elsewhere: new characters outside of names.
    """

    names: int = 0
    changed: int = 0
    characters: int = 0
    alike: int = 0
    elsewhere: int = 0


@dataclass
class RareNames:
    """Puts characters outside of a base vocabulary into names. Lengths stay.

    The new form of a name depends on the seed and the name alone: a person is called the same
    wherever they appear.

    substitutes: where the characters come from.
    labels: of the entities that change; None: all entities do.
    severity: how much of a name changes; None: nothing.
    keep: which character stays longest.
    seed: of the choice.
    elsewhere: share of the other ideographs that change too, those of no such entity. Which ones,
        and to what, depends on the seed, the text and the place.
    """

    substitutes: Substitutes
    labels: Collection[str] | None
    severity: Severity | None = "one"
    keep: Keep = "first"
    seed: int | str = 0
    elsewhere: float = 0.0
    changed: Changed = field(default_factory=Changed)

    def name(self, text: str) -> str:
        """Give a name its new form, of the same length; also counted in `changed`."""
        characters = list(text)
        for place in self._places(text):
            characters[place] = self._substitute(text, place)
        new = "".join(characters)
        self.changed.names += 1
        self.changed.changed += new != text
        return new

    def _places(self, text: str) -> list[int]:
        """Offsets of the characters that change, of those that are ideographs."""
        if self.severity is None:
            return []
        places = [i for i, char in enumerate(text) if is_ideograph(char)]
        if self.severity == "all" or len(places) < 2:
            return places
        free = places[1:] if self.keep == "first" else places[:-1]
        if self.severity == "most":
            return free
        # The one that a common name would have in its place: neither surname nor 市.
        return free[:1] if self.keep == "first" else free[-1:]

    def is_name(self, entity: Span) -> bool:
        """Tell whether an entity is one of those that change."""
        return self.labels is None or entity.label_ in self.labels

    def text(self, doc: Doc) -> str:
        """Give the text of a document with its names, and what else is to change, changed."""
        old = doc.text
        characters = list(old)
        inside = bytearray(len(old))
        for ent in doc.ents:
            if self.is_name(ent):
                characters[ent.start_char : ent.end_char] = self.name(ent.text)
                inside[ent.start_char : ent.end_char] = b"1" * len(ent.text)
        if self.elsewhere:
            chance = random.Random(f"{self.seed}:{old}")
            for place, char in enumerate(old):
                drawn = chance.random() < self.elsewhere
                if drawn and not inside[place] and is_ideograph(char):
                    characters[place] = self._substitute(old, place)
                    self.changed.elsewhere += characters[place] != char
        return "".join(characters)

    def _substitute(self, text: str, place: int) -> str:
        """Give what stands for a character of a text; itself where there is nothing."""
        found = self.substitutes.find(text[place], f"{self.seed}:{text}:{place}")
        if found is None:
            return text[place]
        self.changed.characters += 1
        self.changed.alike += found[1]
        return found[0]

    def document(self, doc: Doc) -> Doc:
        """Make a document with the names changed and all annotations in place.

        What is not annotated stays so: an unknown entity is not one outside of all.

        doc: a reference document whose tokens are single characters.
        """
        text = self.text(doc)
        words = [text[token.idx : token.idx + len(token)] for token in doc]
        new = Doc(doc.vocab, words=words, spaces=[bool(token.whitespace_) for token in doc])
        # Both of these at once are an error.
        bounds = ["HEAD", "DEP"] if doc.has_annotation("DEP") else ["SENT_START"]
        attributes: list[int | str] = [*_ATTRIBUTES, *bounds]
        new.from_array(attributes, cast(Any, doc.to_array(attributes)))
        new.cats = dict(doc.cats)
        new.user_data = dict(doc.user_data)  # extension attributes are in there, by offsets
        for name, group in doc.spans.items():
            spans = [
                Span(new, s.start, s.end, label=s.label, kb_id=s.kb_id, span_id=s.id) for s in group
            ]
            new.spans[name] = SpanGroup(new, name=name, attrs=dict(group.attrs), spans=spans)
        return new


def check_settings(severity: str, keep: str) -> None:
    """Check two settings that types alone do not guard.

    RAISES: CNMError that names the value.
    """
    for name, value, known in (("severity", severity, SEVERITIES), ("keep", keep, KEEPS)):
        if value not in known:
            raise CNMError(Errors.E431.format(name=name, value=value, known=", ".join(known)))


def find_substitutes(
    lacks: Callable[[str], bool], allowed: Collection[str] | None = None
) -> Substitutes:
    """Collect substitutes; see `Substitutes`.

    RAISES: CNMError where there are none.
    """
    found = Substitutes(lacks, allowed=allowed)
    if not found.all:
        raise CNMError(Errors.E435)
    return found


def read_characters(path: Path) -> set[str]:
    """Read which characters names may have: all ideographs of a UTF-8 text, such as a name list."""
    found = {char for line in read_lines(path) for char in line if is_ideograph(char)}
    if not found:
        raise CNMError(Errors.E430.format(path=path))
    return found
