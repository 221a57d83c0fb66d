"""Configuration of a CNM-BERT: BERT's own plus the sizes of the structure side."""

import math
from typing import Any

from transformers import BertConfig

from spacy_cnm.errors import CNMError, Errors

#: What a stored configuration must hold; a default in its place would be silently wrong.
_STORED = (
    "extended_vocab_size",
    "structure_size",
    "structure_rows",
    "structure_components",
    "structure_groups",
    "structure_scale",
    "fusion_layer_norm",
)


class CNMBertConfig(BertConfig):
    """Shape of a CNM-BERT. Holds sizes only; tables travel in the state dict.

    extended_vocab_size (int): input ids E: the V ids of the base vocabulary, then one for every
        ideograph that it lacks. `vocab_size` stays V, the output space. Defaults to V.
    structure_size (int): width d_s of the structure vectors (paper: 256).
    structure_rows (int): rows of the structure table: null, unknown, one a character.
    structure_components (int): components, the leaves of the trees.
    structure_groups (list of [level, arity, count]): nodes of the shared-subtree table, in order.
    structure_scale (float): factor on the structure vector before the fusion. The vectors leave a
        LayerNorm with entries of size 1, token embeddings have entries of about 0.02 to 0.04;
        1.0 is the paper's equation 5.
    fusion_layer_norm (bool): the LayerNorm of equation 5. Right when pretraining from scratch;
        a wrapped checkpoint needs False to start as the plain BERT that it wraps.
    structure_fingerprint (str): fingerprint of the structure table the model was built with.
    vocabulary_fingerprint (str): fingerprint of the extended vocabulary, "" where it is not known.
    unk_token_id (int): base id of [UNK], which stands for what the base vocabulary lacks.
    **kwargs: everything that `BertConfig` takes.
    """

    model_type = "cnm_bert"

    def __init__(
        self,
        *,
        extended_vocab_size: int | None = None,
        structure_size: int = 256,
        structure_rows: int = 2,
        structure_components: int = 1,
        structure_groups: list[list[int]] | None = None,
        structure_scale: float = 0.04,
        fusion_layer_norm: bool = True,
        structure_fingerprint: str = "",
        vocabulary_fingerprint: str = "",
        unk_token_id: int = 100,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.extended_vocab_size = extended_vocab_size or self.vocab_size
        self.structure_size = structure_size
        self.structure_rows = structure_rows
        self.structure_components = structure_components
        self.structure_groups = structure_groups or [[0, 0, structure_components]]
        self.structure_scale = structure_scale
        self.fusion_layer_norm = fusion_layer_norm
        self.structure_fingerprint = structure_fingerprint
        self.vocabulary_fingerprint = vocabulary_fingerprint
        self.unk_token_id = unk_token_id
        self._check()

    @classmethod
    def from_dict(cls, config_dict: dict[str, Any], **kwargs: Any) -> Any:
        """A stored configuration, which has to be complete.

        RAISES CNMError: with the names of the structure side's keys that it lacks.
        """
        lacking = [key for key in _STORED if key not in config_dict]
        if lacking:
            kind = config_dict.get("model_type")
            raise CNMError(Errors.E119.format(keys=", ".join(lacking), kind=kind))
        return super().from_dict(config_dict, **kwargs)

    def _check(self) -> None:
        size, scale, norm = self.structure_size, self.structure_scale, self.fusion_layer_norm
        number = isinstance(scale, int | float) and not isinstance(scale, bool)
        for key, right, wanted in (
            ("structure_size", type(size) is int and size >= 1, "a whole number of at least 1"),
            ("structure_scale", number and 0 < scale < math.inf, "a finite number above 0"),
            ("fusion_layer_norm", isinstance(norm, bool), "true or false"),
        ):
            if not right:
                raise CNMError(Errors.E122.format(key=key, value=getattr(self, key), wanted=wanted))
