"""CNM-BERT on Hugging Face's BERT: the backbone is untouched, only its input embedding is fused."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import BertForMaskedLM, BertModel, BertPreTrainedModel
from transformers.modeling_outputs import (
    BaseModelOutputWithPoolingAndCrossAttentions,
    MaskedLMOutput,
)

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import FIRST_ROW

from .checkpoint import check_loaded, loading_errors, silent_about_pooler
from .config import CNMBertConfig
from .consistency import check_no_gap
from .fusion import Fusion
from .row_counts import padded_count
from .structure_encoder import StructureEncoder
from .tokenizer import is_extended


class CNMBertPreTrainedModel(BertPreTrainedModel):
    """What the CNM-BERT models share: config, initialisation, strict loading, wrapping."""

    config_class = CNMBertConfig
    base_model_prefix = "bert"

    def _init_weights(self, module: nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, Fusion):
            module.init_weights(structure_std=self.config.initializer_range)

    @classmethod
    def from_pretrained(cls, source: Any, *args: Any, **kwargs: Any) -> Any:
        """Load a CNM-BERT checkpoint, from safetensors only.

        source (str or Path): folder or hub id. Other arguments as in transformers.
        RAISES CNMError: a key is missing, extra or misshapen, or a value is out of range.
        """
        with_info = kwargs.pop("output_loading_info", False)
        # Misshapen weights are reported by `check_loaded`, with their whole names.
        kwargs |= {
            "use_safetensors": True,
            "output_loading_info": True,
            "ignore_mismatched_sizes": True,
        }
        with loading_errors(source), silent_about_pooler():
            model, info = super().from_pretrained(source, *args, **kwargs)
        check_loaded(model, source, info)
        return (model, info) if with_info else model

    @classmethod
    def from_bert(cls, base: Any, **kwargs: Any) -> Any:
        """Wrap a plain BERT: the same outputs at first, and a structure side to be trained.

        base (str, Path or BertPreTrainedModel): folder, hub id or model.
        table (StructureTable): default the shipped one.
        tokenizer: the base's tokenizer, extended or not; is not changed. Default: loaded from
            `base`.
        **kwargs: structure_size, structure_scale and fusion_layer_norm of `CNMBertConfig`; True for
            the last is the paper's equation 5, no longer the same outputs at first.
        RETURNS: a model of this class, in evaluation mode. `wrap_bert(cls, base, ...)` returns its
            tokenizer too, which is `extend_tokenizer(base_tokenizer, table)`.
        RAISES CNMError: not a complete BERT, no safetensors, or a tokenizer that cannot be
            extended or, extended by its own size, would not fit (use `wrap_bert`).
        """
        from .wrap import wrap_bert

        model, extended = wrap_bert(cls, base, **kwargs)
        given = kwargs.get("tokenizer")
        if given is None or not is_extended(given):
            check_no_gap(model, extended)
        return model

    def resize_token_embeddings(
        self, new_num_tokens: int | None = None, pad_to_multiple_of: int | None = None, **_: Any
    ) -> nn.Embedding:
        """Only the size that there is: the ids behind it are taken.

        RAISES CNMError: another size is asked for.
        """
        size = self.config.vocab_size
        if new_num_tokens not in (None, size) or size % (pad_to_multiple_of or 1):
            raise CNMError(Errors.E118.format(size=size))
        return self.get_input_embeddings()


class CNMBertModel(CNMBertPreTrainedModel, BertModel):
    """BERT whose token embedding is fused with the structure of each character.

    Two buffers over the extended ids make a second input tensor unnecessary: `token_index` (E,)
    gives the base id and `struct_index` (E,) the row of the structure table.
    """

    # The heads of the other classes.
    _keys_to_ignore_on_load_unexpected = (r"^cls\.", r"^component_head\.")

    token_index: Tensor
    struct_index: Tensor

    def __init__(self, config: CNMBertConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self.structure = StructureEncoder(config)
        self.fusion = Fusion(config)
        if config.freeze_structure:
            self.structure.requires_grad_(False)
        size = config.extended_vocab_size
        self.register_buffer("token_index", torch.zeros(size, dtype=torch.int32))
        self.register_buffer("struct_index", torch.zeros(size, dtype=torch.int32))
        self.post_init()

    def fuse(self, input_ids: Tensor, struct_idx: Tensor | None = None) -> Tensor:
        """Fused embeddings z (paper, equation 5).

        A fused embedding is a function of the id, so it is computed once for each distinct one. In
        training, `token_dropout` of the ideographs with a tree have [UNK]'s token embedding.

        input_ids: (B, T) int64, extended ids.
        struct_idx: (B, T) int64, rows of the structure table in place of the ids' own.
        RETURNS: (B, T, d) float.
        """
        if struct_idx is None:
            ids, places = _distinct(input_ids)
            rows = self.structure_rows(ids)
        else:
            ids, rows = input_ids.flatten(), struct_idx.expand_as(input_ids).flatten()
            places = torch.arange(len(ids), device=ids.device).view_as(input_ids)
        return self._fuse(ids, self._structure(rows), places)

    def fuse_beside(
        self, input_ids: Tensor, rows: Tensor, structure_ids: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Fused embeddings, and structure vectors that do not enter them, from one evaluation.

        input_ids: (B, T) int64, extended ids.
        rows: (n,) integer, rows of the structure table.
        structure_ids: (B, T) int64, extended ids of the characters whose structure is fused.
            Default: `input_ids`.
        RETURNS: (B, T, d) float, as `fuse`; and (n, d_s) float, the vectors of `rows`.
        """
        if structure_ids is None:
            ids, places = _distinct(input_ids)
            seen = ids
        else:
            size = len(self.struct_index)
            pairs, places = _distinct(input_ids * size + structure_ids)
            ids, seen = pairs // size, pairs % size
        inputs = [] if self.config.structure_input == "none" else [self.structure_rows(seen)]
        vectors = self.structure(torch.cat([*inputs, rows]))
        structure, beside = vectors.tensor_split([len(vectors) - len(rows)])
        return self._fuse(ids, structure if inputs else None, places), beside

    def structure_rows(self, ids: Tensor) -> Tensor:
        """Rows of the structure table of extended ids: (...) integer to (...) integer."""
        return _look_up(self.struct_index, ids)

    def _structure(self, rows: Tensor) -> Tensor | None:
        return None if self.config.structure_input == "none" else self.structure(rows)

    def _fuse(self, ids: Tensor, structure: Tensor | None, places: Tensor) -> Tensor:
        """Fused embeddings of ids (n,) with structure (n, d_s), at the places (B, T) they stand."""
        tokens = _look_up(self.token_index, ids)
        fused = self.fusion(self.embeddings.word_embeddings(tokens), structure)
        share = self.config.token_dropout
        if self.training and share:
            unknown = torch.full_like(tokens, self.config.unk_token_id)
            without = self.fusion(self.embeddings.word_embeddings(unknown), structure)
            fused = torch.cat([fused, without])
            dropped = torch.rand(places.shape, device=places.device) < share
            dropped &= _look_up(self.structure_rows(ids), places) >= FIRST_ROW
            places = places + len(ids) * dropped
        return F.embedding(places, fused)

    def base_labels(self, labels: Tensor) -> Tensor:
        """Masked-LM labels in the output space.

        labels: (B, T) int64, extended ids or -100.
        RETURNS: (B, T) int64, base ids; -100 also where the character is outside the base
            vocabulary and so cannot be predicted.
        """
        base = self.token_index[labels.clamp(min=0)].long()
        lacking = (labels >= self.config.vocab_size) & (base == self.config.unk_token_id)
        return base.masked_fill((labels < 0) | lacking, -100)

    def forward(
        self,
        input_ids: Tensor | None = None,
        *args: Any,
        struct_idx: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        **kwargs: Any,
    ) -> BaseModelOutputWithPoolingAndCrossAttentions | tuple[Tensor, ...]:
        """As `BertModel.forward`, on extended ids.

        input_ids: (B, T) int64, extended ids.
        struct_idx: (B, T) int64, optional rows of the structure table (paper, section 3.1).
        inputs_embeds: (B, T, d) float in place of the fused embeddings.
        """
        if inputs_embeds is None and input_ids is not None:
            inputs_embeds, input_ids = self.fuse(input_ids, struct_idx), None
        return super().forward(input_ids, *args, inputs_embeds=inputs_embeds, **kwargs)


class CNMBertForMaskedLM(CNMBertPreTrainedModel, BertForMaskedLM):
    """CNM-BERT with BERT's masked-LM head over the base vocabulary (V outputs)."""

    # Pretraining's second head; and the pooler of a `CNMBertModel`, which has no use here.
    _keys_to_ignore_on_load_unexpected = (r"^component_head\.", r"^(bert\.)?pooler\.")

    def __init__(self, config: CNMBertConfig) -> None:
        super().__init__(config)
        self.bert = CNMBertModel(config, add_pooling_layer=False)
        self.post_init()

    def forward(
        self,
        input_ids: Tensor | None = None,
        *args: Any,
        labels: Tensor | None = None,
        struct_idx: Tensor | None = None,
        inputs_embeds: Tensor | None = None,
        **kwargs: Any,
    ) -> MaskedLMOutput | tuple[Tensor, ...]:
        """As `BertForMaskedLM.forward`, on extended ids.

        labels: (B, T) int64, extended ids; -100 and characters outside the base vocabulary carry
            no loss.
        struct_idx, inputs_embeds: as in `CNMBertModel.forward`.
        """
        if inputs_embeds is None and input_ids is not None:
            inputs_embeds, input_ids = self.bert.fuse(input_ids, struct_idx), None
        output = super().forward(input_ids, *args, inputs_embeds=inputs_embeds, **kwargs)
        if labels is None:
            return output
        loss = _masked_lm_loss(output[0], self.bert.base_labels(labels))
        if isinstance(output, tuple):
            return (loss, *output)
        return MaskedLMOutput(loss=loss, **output)


def _distinct(ids: Tensor) -> tuple[Tensor, Tensor]:
    """Distinct ids, with [PAD] or whatever has id 0 as padding, and where each id is in them."""
    distinct, places = torch.unique(ids, return_inverse=True)
    return F.pad(distinct, (0, padded_count(len(distinct)) - len(distinct))), places


def _look_up(table: Tensor, ids: Tensor) -> Tensor:
    """Entries of a buffer (E,); unlike indexing, it does not count negative ids from the end."""
    return F.embedding(ids, table[:, None]).squeeze(-1)


def _masked_lm_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """Mean cross-entropy over the labels that are not -100, 0 where there are none."""
    total = F.cross_entropy(logits.flatten(0, -2), labels.flatten(), reduction="sum")
    return total / (labels != -100).sum().clamp(min=1)
