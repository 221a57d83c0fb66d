"""The component for the structure of tokens: `token._.cnm_structure`, `token._.cnm_vector`."""

import numpy as np
import torch
from spacy.language import Language
from spacy.tokens import Doc, Token

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import FIRST_ROW, StructureTable, Tree

from .encoders import encoders_of


@Language.factory(
    "cnm_structure",
    assigns=["doc._.cnm_vectors", "token._.cnm_vector", "token._.cnm_structure"],
)
def make_structure_attributes(nlp: Language, name: str) -> "StructureAttributes":
    """Create the component `cnm_structure`; put it behind everything that joins tokens."""
    return StructureAttributes(nlp, name)


class StructureAttributes:
    """Sets `doc._.cnm_vectors`, (characters, d_s) float32, structure vectors from its CNM-BERT.

    They are of the characters of `doc.text` (paper, equation 4), zeros where one has no tree. So
    they stay right when tokens are joined or split afterwards.
    """

    def __init__(self, nlp: Language, name: str = "cnm_structure") -> None:
        self.name = name
        self._nlp = nlp

    def __call__(self, doc: Doc) -> Doc:
        """Set the vectors of a document, in place.

        RAISES CNMError: the pipeline has no CNM-BERT, or it is not initialized.
        """
        encoder = next((layer for layer in encoders_of(self._nlp) if layer.tokenizer), None)
        if encoder is None:
            raise CNMError(Errors.E209.format(name=self.name))
        model = encoder.transformer
        ids = encoder.tokenizer.convert_tokens_to_ids(list(doc.text))
        with torch.no_grad():
            rows = model.structure_rows(torch.tensor(ids, dtype=torch.int64).to(model.device))
            known = (rows >= FIRST_ROW)[:, None]
            vectors = torch.where(known, model.structure(rows), 0.0)
        doc._.cnm_vectors = vectors.float().cpu().numpy()
        return doc


def _structure(token: Token) -> Tree | tuple[Tree | None, ...] | None:
    """The tree of a character, None where it has none; of a longer token a tuple of them."""
    table = StructureTable.default()
    trees = tuple(table.tree(char) if char in table else None for char in token.text)
    return trees[0] if len(trees) == 1 else trees


def _vector(token: Token) -> np.ndarray:
    """The structure vector of a token: (d_s,) float32.

    The mean of those of its characters that have a tree, zeros where none has.
    """
    if (vectors := token.doc._.cnm_vectors) is None:
        raise CNMError(Errors.E210)
    found: np.ndarray = vectors[token.idx : token.idx + len(token)]
    with_tree = found.any(axis=1)  # a vector that leaves a LayerNorm is not zero
    return found.sum(axis=0) / max(1, with_tree.sum())


Doc.set_extension("cnm_vectors", default=None, force=True)
Token.set_extension("cnm_structure", getter=_structure, force=True)
Token.set_extension("cnm_vector", getter=_vector, force=True)
