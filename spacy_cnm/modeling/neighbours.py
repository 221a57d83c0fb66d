"""Characters that look alike: nearest ones by structure vector, for spelling and OCR."""

from collections.abc import Iterable
from functools import cached_property

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import PreTrainedTokenizerBase

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import FIRST_ROW, is_ideograph

from .model import CNMBertModel

#: Share of the mean variance that is added to each direction's.
_SMOOTHING = 1e-3


class StructureIndex:
    """Structure vectors of characters, to be searched.

    Similarity is the cosine of whitened vectors: with the mean over the whole structure table taken
    away and every direction scaled to the same variance. As they are, vectors say mostly which
    frequent component there is; whitened, they say as much of every part.

    model, tokenizer: a CNM-BERT and its tokenizer.
    characters: what may be found; those without a tree are left out.
    RAISES CNMError: none of them has a tree, or the encoder reads no structure.
    """

    def __init__(
        self, model: CNMBertModel, tokenizer: PreTrainedTokenizerBase, characters: Iterable[str]
    ) -> None:
        if model.config.structure_input == "none":
            raise CNMError(Errors.E128)
        self._model, self._tokenizer = model, tokenizer
        given = list(dict.fromkeys(characters))
        has_tree = self._rows(given) >= FIRST_ROW
        self.characters = [c for c, known in zip(given, has_tree.tolist(), strict=True) if known]
        if not self.characters:
            raise CNMError(Errors.E127)
        self._vectors = self.vectors(self.characters)

    def nearest(self, char: str, n: int = 20) -> list[tuple[str, float]]:
        """Find the characters that are most alike, without the character itself.

        char: any character with a tree, whether it may be found or not.
        n: how many.
        RETURNS: (character, similarity), the most alike first; a similarity is in -1..1.
        RAISES CNMError: it is no single character with a tree.
        """
        if len(char) != 1 or int(self._rows([char])) < FIRST_ROW:
            raise CNMError(Errors.E126.format(text=char))
        similar = self._vectors @ self.vectors([char])[0]
        order = similar.argsort(descending=True, stable=True)[: n + 1].tolist()
        found = [(self.characters[i], float(similar[i])) for i in order]
        return [(other, value) for other, value in found if other != char][:n]

    def vectors(self, characters: list[str]) -> Tensor:
        """Whitened structure vectors of length 1 of characters with a tree: (n, d_s) float."""
        mean, whiten = self._whitening
        with torch.no_grad():
            structure = self._model.eval().structure(self._rows(characters))
        return F.normalize((structure - mean) @ whiten, dim=-1)

    def _rows(self, characters: list[str]) -> Tensor:
        """Rows of the structure table: (n,) integer."""
        unknown = self._tokenizer.unk_token
        tokens = [char if is_ideograph(char) else unknown for char in characters]
        ids = torch.tensor(self._tokenizer.convert_tokens_to_ids(tokens), dtype=torch.int64)
        return self._model.structure_rows(ids.to(self._model.device))

    @cached_property
    def _whitening(self) -> tuple[Tensor, Tensor]:
        """The mean (d_s,) and the matrix (d_s, d_s) by which differences from it are multiplied."""
        structure = self._model.eval().structure
        with torch.no_grad():
            rows = torch.arange(len(structure.roots), device=self._model.device) + FIRST_ROW
            vectors = structure(rows)
        mean = vectors.mean(dim=0)
        variances, directions = torch.linalg.eigh(torch.cov((vectors - mean).T))
        return mean, directions / (variances + _SMOOTHING * variances.mean()).sqrt()
