"""Which characters the base vocabulary of a pipeline's encoder lacks."""

from dataclasses import dataclass

from spacy.language import Language
from transformers import PreTrainedTokenizerBase

from spacy_cnm.ids import is_ideograph
from spacy_cnm.pipeline.encoders import encoders_of


@dataclass(frozen=True)
class Vocabulary:
    """Which characters the base vocabulary of a pipeline's encoder lacks.

    tokenizer: the encoder's, which has an id for every ideograph.
    size: number of base ids; ideographs with an id from here on are outside.
    """

    tokenizer: PreTrainedTokenizerBase
    size: int

    def lacks(self, char: str) -> bool:
        """Tell whether an ideograph is outside the base vocabulary."""
        return is_ideograph(char) and self.tokenizer.convert_tokens_to_ids(char) >= self.size


def vocabulary_of(nlp: Language) -> Vocabulary | None:
    """Give the base vocabulary of a pipeline's encoder, or None where it has no CNM-BERT yet."""
    for layer in encoders_of(nlp):
        if layer.tokenizer is not None:
            return Vocabulary(layer.tokenizer, layer.transformer.config.vocab_size)
    return None


def has_encoder(nlp: Language) -> bool:
    """Tell whether a pipeline has a CNM-BERT, initialized or not."""
    return any(True for _ in encoders_of(nlp))
