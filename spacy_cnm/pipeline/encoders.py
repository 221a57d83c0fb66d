"""The CNM-BERTs of a pipeline."""

from collections.abc import Iterator

from spacy.language import Language
from thinc.api import Model

from .transformer_model import CNMTransformerModel


def encoders_of(nlp: Language) -> Iterator[CNMTransformerModel]:
    """Give the layers with a CNM-BERT, also of components that are disabled.

    One that is not initialized yet has no tokenizer.
    """
    for _, component in nlp.components:
        model = getattr(component, "model", None)
        # Also inside of a component that has taken the encoder over (`replace_listeners`).
        for layer in model.walk() if isinstance(model, Model) else ():
            if isinstance(layer, CNMTransformerModel):
                yield layer
