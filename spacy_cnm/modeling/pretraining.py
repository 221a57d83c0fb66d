"""Pretraining: masked words, and components predicted from the vector of the tree (appendix D)."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers.models.bert.modeling_bert import BertOnlyMLMHead
from transformers.utils import ModelOutput

from spacy_cnm.ids import FIRST_ROW

from .component_head import ComponentHead
from .config import CNMBertConfig
from .model import CNMBertModel, CNMBertPreTrainedModel
from .row_counts import padded_count


@dataclass
class PreTrainingOutput(ModelOutput):
    """Sums beside counts, so that means over several batches or processes can be exact.

    loss: () float, mean masked-LM loss + `component_loss_weight` x mean component loss.
    mlm_loss_sum: () float, sum over the positions of `mlm_labels`.
    n_mlm: labelled positions whose gold is in the base vocabulary.
    component_loss_sum: () float, sum over the labelled positions whose gold has a tree.
    n_component: number of those; 0 where the component loss is switched off.
    mlm_logits: (n_mlm, V) float; (B, T, V) of all positions where no labels are given.
    mlm_labels: (n_mlm,) int64, base ids.
    """

    loss: Tensor | None = None
    mlm_loss_sum: Tensor | None = None
    n_mlm: int | None = None
    component_loss_sum: Tensor | None = None
    n_component: int | None = None
    mlm_logits: Tensor | None = None
    mlm_labels: Tensor | None = None


class CNMBertForPreTraining(CNMBertPreTrainedModel):
    """CNM-BERT with the masked-LM head and the component head, which is for training only.

    The component loss sees the tree of the gold character, the encoder's input does not: the two
    share the structure encoder, and nothing else.
    """

    _tied_weights_keys = ("cls.predictions.decoder.bias", "cls.predictions.decoder.weight")
    # Of a `CNMBertModel`, which has no use here.
    _keys_to_ignore_on_load_unexpected = (r"^(bert\.)?pooler\.",)

    def __init__(self, config: CNMBertConfig) -> None:
        super().__init__(config)
        self.bert = CNMBertModel(config, add_pooling_layer=False)
        self.cls = BertOnlyMLMHead(config)
        self.component_head = ComponentHead(config)
        self.post_init()

    def get_output_embeddings(self) -> nn.Linear:
        """The masked-LM output layer, which transformers ties to the word embeddings."""
        return self.cls.predictions.decoder

    def set_output_embeddings(self, new_embeddings: nn.Linear) -> None:
        """Replace the masked-LM output layer, bias included."""
        self.cls.predictions.decoder = new_embeddings
        self.cls.predictions.bias = new_embeddings.bias

    def freeze_unused(self) -> None:
        """Stop gradients of parameters that the configuration gives none."""
        config, bert = self.config, self.bert
        structure = bert.structure
        unused: list[nn.Module] = []
        if not config.component_loss_weight:
            unused.append(self.component_head)
        if config.structure_input == "flat":
            unused += [structure.operator_embeddings, structure.binary, structure.ternary]
        if config.structure_input == "none":
            unused.append(structure.special_embeddings)
            if not config.component_loss_weight:
                unused.append(structure)
            if isinstance(bert.fusion.scale, nn.Parameter):
                bert.fusion.scale.requires_grad_(False)
        for module in unused:
            module.requires_grad_(False)

    def label_counts(self, labels: Tensor) -> tuple[int, int]:
        """How many labels carry either loss, without a forward pass.

        labels: (B, T) int64, extended ids or -100.
        RETURNS: `n_mlm` and `n_component` of `PreTrainingOutput`.
        """
        n_mlm = int((self.bert.base_labels(labels) != -100).sum())
        return n_mlm, len(self._gold_rows(labels))

    def component_predictions(self, rows: Tensor) -> Tensor:
        """What the component head finds in structure vectors.

        rows: (n,) integer, rows of the structure table.
        RETURNS: (n, components) float, logits.
        """
        structure = self.bert.structure
        return self.component_head(structure(rows), structure)

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        labels: Tensor | None = None,
        structure_ids: Tensor | None = None,
        return_logits: bool = True,
    ) -> PreTrainingOutput:
        """Losses of a batch of masked rows.

        input_ids: (B, T) int64, extended ids after masking.
        attention_mask, token_type_ids: (B, T) int64, as in `BertModel.forward`.
        labels: (B, T) int64, extended ids of the gold characters, -100 at all other positions.
        structure_ids: (B, T) int64, extended ids of the characters whose structure is seen, where
            it is not that of `input_ids`.
        return_logits: False leaves them out; converting them to float32 for the caller, as
            accelerate does, takes longer than the loss.
        """
        if labels is None:
            embedded = self.bert.fuse(input_ids)
            return PreTrainingOutput(
                mlm_logits=self.cls(self._encode(embedded, attention_mask, token_type_ids))
            )
        gold = self._gold_rows(labels)
        rows, counts = torch.unique(gold, return_counts=True)
        embedded, vectors = self.bert.fuse_beside(input_ids, rows, structure_ids)
        hidden = self._encode(embedded, attention_mask, token_type_ids)

        base = self.bert.base_labels(labels).flatten()
        places = (base != -100).nonzero().squeeze(1)
        n_mlm = len(places)
        places = F.pad(places, (0, padded_count(n_mlm) - n_mlm))
        logits = self.cls(F.embedding(places, hidden.flatten(0, 1)))
        base = base[places]
        base[n_mlm:] = -100
        mlm_loss = F.cross_entropy(logits.float(), base, reduction="sum")
        component_loss = self.component_head.loss(vectors, rows, counts, self.bert.structure)
        mean_component = component_loss / max(1, len(gold))
        return PreTrainingOutput(
            loss=mlm_loss / max(1, n_mlm) + self.config.component_loss_weight * mean_component,
            mlm_loss_sum=mlm_loss,
            n_mlm=n_mlm,
            component_loss_sum=component_loss,
            n_component=len(gold),
            mlm_logits=logits[:n_mlm] if return_logits else None,
            mlm_labels=base[:n_mlm],
        )

    def _encode(
        self, embedded: Tensor, attention_mask: Tensor | None, token_type_ids: Tensor | None
    ) -> Tensor:
        """Hidden states (B, T, d) of fused embeddings (B, T, d)."""
        return self.bert(
            inputs_embeds=embedded, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state

    def _gold_rows(self, labels: Tensor) -> Tensor:
        """Table rows (n_component,) of the labelled characters that have a tree."""
        if not self.config.component_loss_weight:
            return labels.new_empty(0)
        rows = self.bert.structure_rows(labels[labels >= 0])
        return rows[rows >= FIRST_ROW]
