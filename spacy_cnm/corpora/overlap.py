"""Which texts hold a sentence of other texts: what a model is tested on must not be trained on."""

import unicodedata
from collections import defaultdict

from .sentences import sentence_keys

#: Letters that a sentence has at least for a text to be left out because it holds it. Shorter ones
#: (子曰, 非常好) stand everywhere.
MIN_LETTERS = 6


def comparable(text: str) -> str:
    """Give a text as sentences are compared: full-width forms and capitals do not count."""
    return unicodedata.normalize("NFKC", text).casefold()


class SentenceIndex:
    """Sentences by their letters and digits; finds the texts that hold one.

    A text holds a sentence when the letters of the sentence stand in it in a row, wherever its own
    sentences begin and end, or when it is that sentence. For the former the sentence needs
    `MIN_LETTERS` letters.
    """

    def __init__(self) -> None:
        # The number says which was added first.
        self._whole: dict[str, tuple[int, str]] = {}
        # How long the sentences are that begin with some letters: few, where these are many.
        self._lengths: defaultdict[str, set[int]] = defaultdict(set)

    def __len__(self) -> int:
        return len(self._whole)

    def add(self, text: str, owner: str) -> None:
        """Add the sentences of a text; `owner` is what `find` gives for them."""
        for key in sentence_keys(comparable(text)):
            if key not in self._whole:
                self._whole[key] = (len(self._whole), owner)
                if len(key) >= MIN_LETTERS:
                    self._lengths[key[:MIN_LETTERS]].add(len(key))

    def find(self, text: str) -> str | None:
        """Give the owner of the first sentence that a text holds, or None.

        Of those that begin at the same place it is the one that was added first.
        """
        letters = "".join(filter(str.isalnum, comparable(text)))
        if letters in self._whole:
            return self._whole[letters][1]
        for i in range(len(letters) - MIN_LETTERS + 1):
            lengths = self._lengths.get(letters[i : i + MIN_LETTERS], ())
            keys = (letters[i : i + length] for length in lengths)
            if found := [self._whole[key] for key in keys if key in self._whole]:
                return min(found)[1]
        return None
