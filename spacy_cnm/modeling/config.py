"""Configuration of a CNM-BERT: BERT's own plus the sizes of the structure side."""

import math
from typing import Any, TypeGuard

from transformers import BertConfig

from spacy_cnm.errors import CNMError, Errors

#: What may be fused with the tokens.
STRUCTURE_INPUTS = ("tree", "flat", "none")
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
    learn_structure_scale (bool): the scale is a parameter that starts at `structure_scale`.
    structure_input (str): what is fused. "tree": the Tree-MLP's vectors; "flat": the components
        of the tree without operators and order; "none": zeros, so that only tokens are seen. The
        modules and their initial weights are the same in all three.
    token_dropout (float): share of the ideographs with a tree that, in training, lose their token:
        its embedding is that of [UNK], their structure stays. So the encoder learns to read
        structure where there is nothing else, as outside the vocabulary; without structure, it is
        plain word dropout.
    freeze_structure (bool): the structure encoder does not learn: structure vectors stay those of
        pretraining, also for characters that the training data lack.
    component_loss_weight (float): lambda, the weight of the auxiliary component loss in
        pretraining (paper: 0.1); 0 leaves it out.
    operator_loss_weight (float): weight, within that loss, of naming the operator of the root too;
        0 is the paper's.
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
        learn_structure_scale: bool = False,
        structure_input: str = "tree",
        token_dropout: float = 0.0,
        freeze_structure: bool = False,
        component_loss_weight: float = 0.1,
        operator_loss_weight: float = 0.0,
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
        self.learn_structure_scale = learn_structure_scale
        self.structure_input = structure_input
        self.token_dropout = token_dropout
        self.freeze_structure = freeze_structure
        self.component_loss_weight = component_loss_weight
        self.operator_loss_weight = operator_loss_weight
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
        result = super().from_dict(config_dict, **kwargs)
        # transformers sets what `kwargs` overrides after the constructor has checked.
        (result[0] if isinstance(result, tuple) else result)._check()
        return result

    def _check(self) -> None:
        for key, right, wanted in (
            ("structure_size", _is_size, "a whole number of at least 1"),
            ("structure_scale", _is_positive, "a finite number above 0"),
            ("learn_structure_scale", _is_switch, "true or false"),
            ("structure_input", STRUCTURE_INPUTS.__contains__, f"one of {STRUCTURE_INPUTS}"),
            ("freeze_structure", _is_switch, "true or false"),
            ("token_dropout", _is_share, "a number of at least 0 and below 1"),
            ("component_loss_weight", _is_weight, "a finite number of at least 0"),
            ("operator_loss_weight", _is_weight, "a finite number of at least 0"),
            ("fusion_layer_norm", _is_switch, "true or false"),
        ):
            value = getattr(self, key)
            if not right(value):
                raise CNMError(Errors.E122.format(key=key, value=value, wanted=wanted))


def _is_size(value: object) -> bool:
    return type(value) is int and value >= 1


def _is_weight(value: object) -> TypeGuard[float]:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < math.inf


def _is_share(value: object) -> bool:
    return _is_weight(value) and value < 1


def _is_positive(value: object) -> bool:
    return _is_weight(value) and value != 0


def _is_switch(value: object) -> bool:
    return isinstance(value, bool)
