"""The test file: its documents, and how much of each annotation they have."""

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from spacy.tokens import Doc

from spacy_cnm.corpora.docs import read_docs
from spacy_cnm.corpora.segmentation import words_from_labels
from spacy_cnm.errors import CNMError, Errors


@dataclass
class Gold:
    """The reference documents of a test file.

    source: name of the file, without its folder.
    docs: the documents, in order.
    words: words with a tag.
    entities: entities by label; None where no document is annotated with entities.
    cats: documents by category (of value 1), of those that have categories.
    """

    source: str
    docs: list[Doc]
    words: int = 0
    entities: Counter[str] | None = None
    cats: Counter[str] = field(default_factory=Counter)

    @property
    def characters(self) -> int:
        """Characters of all texts."""
        return sum(len(doc.text) for doc in self.docs)

    @property
    def docs_with_cats(self) -> int:
        """Documents that have categories."""
        return sum(bool(doc.cats) for doc in self.docs)

    def to_dict(self) -> dict[str, Any]:
        """Give the counts for a JSON file."""
        return {
            "source": self.source,
            "docs": len(self.docs),
            "characters": self.characters,
            "words": self.words,
            "entities": self.entities,
            "docs_with_cats": self.docs_with_cats,
            "cats": self.cats,
        }


def read_gold(path: str | os.PathLike[str]) -> Gold:
    """Read a test file.

    path: the `.spacy` file.
    RETURNS: its documents with counts of what is annotated.
    RAISES: CNMError when the file cannot be read or has no annotation at all.
    """
    gold = count_gold(PurePath(path).name, read_docs(path))
    if not gold.words and gold.entities is None and not gold.docs_with_cats:
        raise CNMError(Errors.E413.format(path=path))
    return gold


def count_gold(source: str, docs: list[Doc]) -> Gold:
    """Count what reference documents have."""
    gold = Gold(source, docs)
    for doc in docs:
        gold.words += sum(bool(tag) for _, _, tag in words_from_labels([t.tag_ for t in doc]))
        gold.cats.update(label for label, value in doc.cats.items() if value > 0)
        if doc.has_annotation("ENT_IOB"):
            gold.entities = gold.entities or Counter()
            gold.entities.update(ent.label_ for ent in doc.ents)
    return gold
