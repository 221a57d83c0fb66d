"""A base vocabulary counted on texts: frequent characters, and pieces of alphabetic words.

Rare ideographs stay outside on purpose, as they are outside of BERT's vocabulary: the extended
tokenizer gives them an id all the same, and the model knows them by their structure.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import is_ideograph

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

#: Words of alphabets (Latin, Greek, Cyrillic ...); from U+2E80 on stand ideographs and kana, whose
#: characters are pieces by themselves.
_WORD = re.compile(r"[^\W\d_\u2e80-\U0010ffff]{2,}")


@dataclass
class TextCounts:
    """How often things occur in texts as BERT's normalizer leaves them (lower-cased, no accents).

    characters: every character but white space.
    words: words of alphabetic scripts of at least two letters.
    """

    characters: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)


def count_texts(texts: Iterable[str]) -> TextCounts:
    """Count the characters and words of texts."""
    normalizer = normalizers.BertNormalizer(lowercase=True)
    counts = TextCounts()
    for text in texts:
        normal = normalizer.normalize_str(text)
        counts.characters.update(normal)
        counts.words.update(_WORD.findall(normal))
    for char in [char for char in counts.characters if char.isspace()]:
        del counts.characters[char]
    return counts


def base_characters(
    counts: Counter[str], *, min_count: int = 3, max_ideographs: int | None = None
) -> list[str]:
    """The characters of a base vocabulary, most frequent first.

    counts: characters with their frequencies.
    min_count: rarer characters stay outside.
    max_ideographs: of the ideographs only so many, the most frequent ones. Default: no bound.
    """
    chars = sorted((c for c, n in counts.items() if n >= min_count), key=lambda c: (-counts[c], c))
    left_out = set(list(filter(is_ideograph, chars))[max_ideographs:] if max_ideographs else ())
    return [char for char in chars if char not in left_out]


def base_vocabulary(
    counts: TextCounts,
    *,
    min_count: int = 3,
    max_ideographs: int | None = None,
    n_pieces: int = 0,
) -> list[str]:
    """A BERT-style vocabulary; its order is that of the ids.

    counts: what `count_texts` gives.
    min_count, max_ideographs: see `base_characters`.
    n_pieces: word pieces of two letters and more to train on the words.
    RETURNS: special tokens; characters, most frequent first; the word-inside form ("##a") of those
        that do not stand alone; then the trained pieces, of which there are fewer than `n_pieces`
        where the words give no more. Same counts, same vocabulary.
    RAISES CNMError: no character is frequent enough.
    """
    chars = base_characters(counts.characters, min_count=min_count, max_ideographs=max_ideographs)
    if not chars:
        raise CNMError(Errors.E113.format(min_count=min_count))
    inside = [f"##{char}" for char in chars if _joins_words(char)]
    start = [*_SPECIAL, *chars, *inside]
    return _with_pieces(start, counts.words, n_pieces) if n_pieces else start


def _joins_words(char: str) -> bool:
    """Whether BERT leaves a character with its neighbours: it is no ideograph and no mark."""
    if is_ideograph(char):
        return False
    return len(pre_tokenizers.BertPreTokenizer().pre_tokenize_str(f"{char}{char}")) == 1


def _with_pieces(start: list[str], words: Counter[str], n_pieces: int) -> list[str]:
    """A vocabulary and after it the pieces that WordPiece training adds to it.

    What the trainer is given as special tokens gets the first ids in this order. As all the
    characters are among them, its result does not depend on the order of its hash tables.
    """
    known = set(start)
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    trainer = trainers.WordPieceTrainer(
        vocab_size=len(start) + n_pieces,
        special_tokens=start,
        continuing_subword_prefix="##",
        show_progress=False,
    )
    # Two times at least: a piece of a word that stands there once is worth no id.
    usable = sorted(word for word, n in words.items() if n > 1 and known.issuperset(word))
    repeated = (" ".join([word] * words[word]) for word in usable)
    tokenizer.train_from_iterator(repeated, trainer)
    vocab = tokenizer.get_vocab()
    return sorted(vocab, key=vocab.__getitem__)
