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
    """Sets `doc._.cnm_vectors`, (tokens, d_s) float32, the structure vectors of its CNM-BERT.

    A token's is the mean of those of its characters that have a tree (paper, equation 4), or zeros.
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
        model, chars = encoder.transformer, [char for token in doc for char in token.text]
        owners = [i for i, token in enumerate(doc) for _ in token.text]
        ids = torch.tensor(encoder.tokenizer.convert_tokens_to_ids(chars), dtype=torch.int64)
        with torch.no_grad():
            rows = model.structure_rows(ids.to(model.device))
            known = (rows >= FIRST_ROW)[:, None]
            vectors = torch.where(known, model.structure(rows), 0.0).float().cpu().numpy()
        sums = np.zeros((len(doc), vectors.shape[1]), dtype=np.float32)
        counts = np.zeros((len(doc), 1), dtype=np.float32)
        np.add.at(sums, owners, vectors)
        np.add.at(counts, owners, known.cpu().numpy())
        doc._.cnm_vectors = sums / np.maximum(counts, 1.0)
        return doc


def _structure(token: Token) -> Tree | tuple[Tree | None, ...] | None:
    """The tree of a character, None where it has none; of a longer token a tuple of them."""
    table = StructureTable.default()
    trees = tuple(table.tree(char) if char in table else None for char in token.text)
    return trees[0] if len(trees) == 1 else trees


def _vector(token: Token) -> np.ndarray:
    """The structure vector of a token: (d_s,) float32."""
    vectors = token.doc._.cnm_vectors
    if vectors is None or len(vectors) != len(token.doc):
        raise CNMError(Errors.E210)
    found: np.ndarray = vectors[token.i]
    return found


Doc.set_extension("cnm_vectors", default=None, force=True)
Token.set_extension("cnm_structure", getter=_structure, force=True)
Token.set_extension("cnm_vector", getter=_vector, force=True)
