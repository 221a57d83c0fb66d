"""A new encoder, not trained yet: random weights for a vocabulary."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer
from transformers import BertConfig, BertTokenizerFast, PreTrainedTokenizerFast

from spacy_cnm.ids import StructureTable

from .model import CNMBertModel
from .wrap import build_model


def bert_tokenizer(vocab: Iterable[str], **settings: bool) -> BertTokenizerFast:
    """A BERT tokenizer for a vocabulary, in the order of its ids.

    settings: `lowercase` and `strip_accents`, as `tokenizers.BertWordPieceTokenizer` has them.
    """
    words = BertWordPieceTokenizer({token: i for i, token in enumerate(vocab)}, **settings)
    return BertTokenizerFast(tokenizer_object=Tokenizer.from_str(words.to_str()))


def new_encoder(
    vocabulary: Sequence[str],
    *,
    n_layers: int = 4,
    width: int = 256,
    max_length: int = 512,
    seed: int = 0,
    table: StructureTable | None = None,
    operator_std: float | None = None,
    **settings: Any,
) -> tuple[CNMBertModel, PreTrainedTokenizerFast]:
    """A CNM-BERT with random weights.

    vocabulary: the tokens of the base vocabulary, in the order of their ids (see
        `vocabulary.base_vocabulary`).
    n_layers, width: shape of the backbone; heads of width 64, feed-forward of 4 x width.
    max_length: word pieces a row, [CLS] and [SEP] included.
    seed: of the random weights.
    table: structure table. Default: the shipped one.
    operator_std: standard deviation of the operator embeddings, see
        `StructureEncoder.init_operators`. Default: as of all others.
    settings: fields of `CNMBertConfig`.
    RETURNS: the model in evaluation mode and its tokenizer.
    """
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=n_layers,
        num_attention_heads=max(1, width // 64),
        intermediate_size=4 * width,
        max_position_embeddings=max_length,
        # BERT's 0.02 is for its width of 768; a narrow model would start with flat attention.
        initializer_range=0.02 * math.sqrt(768 / width),
        # A small model that sees its text once or twice has nothing to be kept from memorising.
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
    )
    torch.manual_seed(seed)
    model, tokenizer = build_model(
        CNMBertModel,
        config,
        bert_tokenizer(vocabulary),
        table or StructureTable.default(),
        **settings,
    )
    if operator_std is not None:
        model.structure.init_operators(operator_std)
    with torch.no_grad():
        model.embeddings.position_embeddings.weight.copy_(sinusoids(max_length, width))
    return model, tokenizer


def sinusoids(length: int, width: int) -> torch.Tensor:
    """Sines and cosines of positions (Vaswani et al. 2017, section 3.5): (length, width) float.

    As the start of learned position embeddings they show at once which characters are neighbours.
    They have the size of the fused embeddings, which leave a LayerNorm.
    """
    rates = torch.exp(torch.arange(0, width, 2) * (-math.log(10_000.0) / width))
    angles = torch.arange(length)[:, None] * rates
    return torch.stack([angles.sin(), angles.cos()], dim=2).flatten(1)
