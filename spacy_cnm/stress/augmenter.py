"""The augmenter for training: names with rare characters in some of the documents."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.training import Example

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.evaluation.vocabulary import has_encoder, vocabulary_of

from .rare_names import Keep, RareNames, Severity, check_settings, find_substitutes, read_characters
from .substitutes import Substitutes


@spacy.registry.augmenters("spacy_cnm.rare_names.v1")
def make_rare_names_augmenter(
    level: float = 0.3,
    labels: list[str] | None = None,
    severity: Severity = "one",
    keep: Keep = "first",
    characters: Path | None = None,
    seed: int = 0,
    elsewhere: float = 0.0,
) -> "RareNamesAugmenter":
    """Create an augmenter that makes pipelines robust against rare names.

    level: share of the documents (0..1) with such names that are trained on a second time, with
        other characters in the names; of all documents, with `elsewhere`. 0 switches it off. Each
        time a document is read it gets other ones; `spacy train` reads the corpus once, or in each
        epoch where `training.max_epochs` is -1.
    labels: of the entities that change. Default: all entities do.
    severity: "one", "most" or "all" characters of a name.
    keep: "first" (a surname) or "last" (省, 市) stays as long as it can.
    characters: a text whose ideographs may be used, such as a list of names. Default: see
        `substitutes.Substitutes`.
    seed: of the choice of documents and of characters.
    elsewhere: share (0..1) of the other ideographs of such a document that change too, so that a
        rare character does not come to mean a name.
    RETURNS: the augmenter.
    RAISES: CNMError for a value out of range or a file that cannot be read.
    """
    check_settings(severity, keep)
    if not 0 <= level <= 1:
        raise CNMError(Errors.E433.format(name="level", value=level))
    if not 0 <= elsewhere <= 1:
        raise CNMError(Errors.E433.format(name="elsewhere", value=elsewhere))
    allowed = None if characters is None else read_characters(characters)
    if isinstance(labels, str):
        raise CNMError(Errors.E438.format(labels=labels))
    chosen = None if labels is None else set(labels)
    return RareNamesAugmenter(level, chosen, severity, keep, allowed, seed, elsewhere)


@dataclass
class RareNamesAugmenter:
    """See `make_rare_names_augmenter`."""

    level: float
    labels: set[str] | None
    severity: Severity
    keep: Keep
    allowed: set[str] | None
    seed: int
    elsewhere: float = 0.0
    _substitutes: Substitutes | None = None
    _random: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def __call__(self, nlp: Language, example: Example) -> Iterator[Example]:
        """Give the example, and some with changed names once more.

        nlp: the pipeline in training. Until it is initialized its vocabulary is not known and
            nothing changes.
        RAISES: CNMError when the pipeline has no CNM-BERT.
        """
        reference = example.reference
        if not self.level:
            yield example
            return
        if self._substitutes is None:
            vocabulary = vocabulary_of(nlp)
            if vocabulary is not None:
                self._substitutes = find_substitutes(vocabulary.lacks, self.allowed)
            elif not has_encoder(nlp):
                raise CNMError(Errors.E432)
        yield example
        # With `elsewhere`, documents without names teach what is none.
        has_names = any(self.labels is None or e.label_ in self.labels for e in reference.ents)
        suits = has_names or bool(self.elsewhere)
        if self._substitutes is None or not suits or self._random.random() >= self.level:
            return
        seed = f"{self.seed}:{self._random.random()}"
        names = RareNames(
            self._substitutes, self.labels, self.severity, self.keep, seed, self.elsewhere
        )
        changed = names.document(reference)
        if changed.text != reference.text:
            yield Example(nlp.make_doc(changed.text), changed)
