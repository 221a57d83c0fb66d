"""CNM-BERT on Hugging Face's BERT: the backbone is untouched, only its input embedding is fused."""

from typing import Any

import torch
from torch import Tensor
from transformers import BertForMaskedLM, BertModel, BertPreTrainedModel
from transformers.modeling_outputs import (
    BaseModelOutputWithPoolingAndCrossAttentions,
    MaskedLMOutput,
)

from .checkpoint import check_loaded, loading_errors
from .config import CNMBertConfig
from .fusion import Fusion
from .structure_encoder import StructureEncoder


class CNMBertPreTrainedModel(BertPreTrainedModel):
    """What the CNM-BERT models share: config, initialisation, strict loading, wrapping."""

    config_class = CNMBertConfig
    base_model_prefix = "bert"

    def _init_weights(self, module: torch.nn.Module) -> None:
        super()._init_weights(module)
        if isinstance(module, Fusion):
            module.init_weights(structure_std=self.config.initializer_range)

    @classmethod
    def from_pretrained(cls, source: Any, *args: Any, **kwargs: Any) -> Any:
        """Load a CNM-BERT checkpoint, from safetensors only.

        source (str or Path): folder or hub id. Other arguments as in transformers.
        RAISES CNMError: a structure key is missing, extra, misshapen or out of range.
        """
        with_info = kwargs.pop("output_loading_info", False)
        # Misshapen weights are reported by `check_loaded`, with their whole names.
        kwargs |= {
            "use_safetensors": True,
            "output_loading_info": True,
            "ignore_mismatched_sizes": True,
        }
        with loading_errors(source):
            model, info = super().from_pretrained(source, *args, **kwargs)
        check_loaded(model, source, info)
        return (model, info) if with_info else model

    @classmethod
    def from_bert(cls, base: Any, **kwargs: Any) -> Any:
        """Wrap a plain BERT: the same outputs at first, and a structure side to be trained.

        base (str, Path or BertPreTrainedModel): folder, hub id or model.
        table (StructureTable): default the shipped one.
        tokenizer: the base's tokenizer, extended or not. Default: loaded from `base`.
        **kwargs: fields of `CNMBertConfig` to set, e.g. structure_size, fusion_layer_norm=True
            (the paper's equation 5, no longer the same outputs at first).
        RETURNS: a model of this class, in evaluation mode. Save its tokenizer,
            `extend_tokenizer(base_tokenizer, table)`, beside it.
        RAISES CNMError: not a BERT, no safetensors, or a tokenizer that cannot be extended.
        """
        from .wrap import wrap_bert

        return wrap_bert(cls, base, **kwargs)[0]


class CNMBertModel(CNMBertPreTrainedModel, BertModel):
    """BERT whose token embedding is fused with the structure of each character.

    Two buffers over the extended ids make a second input tensor unnecessary: `token_index` (E,)
    gives the base id and `struct_index` (E,) the row of the structure table.
    """

    token_index: Tensor
    struct_index: Tensor

    def __init__(self, config: CNMBertConfig, add_pooling_layer: bool = True) -> None:
        super().__init__(config, add_pooling_layer=add_pooling_layer)
        self.structure = StructureEncoder(config)
        self.fusion = Fusion(config)
        size = config.extended_vocab_size
        self.register_buffer("token_index", torch.zeros(size, dtype=torch.int32))
        self.register_buffer("struct_index", torch.zeros(size, dtype=torch.int32))
        self.post_init()

    def fuse(self, input_ids: Tensor, struct_idx: Tensor | None = None) -> Tensor:
        """Fused embeddings z (paper, equation 5).

        input_ids: (B, T) int64, extended ids.
        struct_idx: (B, T) int64, rows of the structure table in place of the ids' own.
        RETURNS: (B, T, d) float.
        """
        if struct_idx is None:
            struct_idx = self.struct_index[input_ids]
        tokens = self.embeddings.word_embeddings(self.token_index[input_ids])
        return self.fusion(tokens, self.structure(struct_idx))

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
        if labels is not None:
            labels = self.bert.base_labels(labels)
        return super().forward(
            input_ids, *args, inputs_embeds=inputs_embeds, labels=labels, **kwargs
        )
