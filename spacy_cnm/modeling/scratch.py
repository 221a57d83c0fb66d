"""A new encoder, not trained yet, for a corpus: its vocabulary and random weights."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import torch
from tokenizers import BertWordPieceTokenizer, Tokenizer, normalizers
from transformers import BertConfig, BertTokenizerFast, PreTrainedTokenizerFast

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import StructureTable

from .model import CNMBertModel
from .wrap import build_model

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def read_texts(paths: Iterable[Path]) -> Iterator[str]:
    """Lines of UTF-8 text files.

    RAISES CNMError: a file is missing or is not UTF-8.
    """
    for path in paths:
        try:
            with path.open(encoding="utf-8-sig") as lines:
                yield from lines
        except (OSError, UnicodeDecodeError) as error:
            raise CNMError(Errors.E114.format(path=path, reason=error)) from error


def count_characters(texts: Iterable[str]) -> Counter[str]:
    """Count the characters of texts as BERT's normalizer leaves them, white space excluded."""
    normalizer = normalizers.BertNormalizer(lowercase=True)
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(normalizer.normalize_str(text))
    return Counter({char: n for char, n in counts.items() if not char.isspace()})


def base_vocabulary(counts: Counter[str], min_count: int) -> list[str]:
    """BERT-style vocabulary of single characters, most frequent first.

    counts: characters with their frequencies.
    min_count: rarer characters stay outside, as rare characters are outside of BERT's.
    RETURNS: special tokens, characters, and the word-inside form ("##a") of those that are not
        tokens of their own.
    RAISES CNMError: no character is frequent enough.
    """
    chars = sorted((c for c, n in counts.items() if n >= min_count), key=lambda c: (-counts[c], c))
    if not chars:
        raise CNMError(Errors.E113.format(min_count=min_count))
    inside = [f"##{char}" for char in chars if char.isalnum() and ord(char) < 0x2E80]
    return [*_SPECIAL, *chars, *inside]


def bert_tokenizer(vocab: Iterable[str], **settings: bool) -> BertTokenizerFast:
    """A BERT tokenizer for a vocabulary, in the order of its ids.

    settings: `lowercase` and `strip_accents`, as `tokenizers.BertWordPieceTokenizer` has them.
    """
    words = BertWordPieceTokenizer({token: i for i, token in enumerate(vocab)}, **settings)
    return BertTokenizerFast(tokenizer_object=Tokenizer.from_str(words.to_str()))


def new_encoder(
    texts: Iterable[str],
    *,
    n_layers: int = 4,
    width: int = 256,
    min_count: int = 3,
    max_length: int = 512,
    structure_size: int = 256,
    seed: int = 0,
    table: StructureTable | None = None,
) -> tuple[CNMBertModel, PreTrainedTokenizerFast]:
    """A CNM-BERT with random weights and a vocabulary from texts.

    texts: what the vocabulary is counted on.
    n_layers, width: shape of the backbone; heads of width 64, feed-forward of 4 x width.
    min_count: occurrences that a character needs to enter the base vocabulary.
    max_length: word pieces a row, [CLS] and [SEP] included.
    structure_size: width of the structure vectors.
    seed: of the random weights.
    table: structure table. Default: the shipped one.
    RETURNS: the model in evaluation mode and its tokenizer.
    """
    vocab = base_vocabulary(count_characters(texts), min_count)
    config = BertConfig(
        vocab_size=len(vocab),
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
        bert_tokenizer(vocab),
        table or StructureTable.default(),
        structure_size=structure_size,
    )
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
