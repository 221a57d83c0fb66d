"""Weibo NER as it was published (`weiboNER_2nd_conll.*`): BIO with the position in the word.

Each token is one character and, as one or two digits, its position in the segmented word: `科0`,
`技1`. The character comes first, so `10` is the digit 1 at position 0 and `110` the same at 10.
Lost emoji are two U+FFFD (the halves of a surrogate pair) and are written as one.
(Peng & Dredze, Named Entity Recognition for Chinese Social Media, EMNLP 2015.)
"""

import itertools
import os
import re
from collections.abc import Iterator

from .char_bio import is_document_start, read_characters
from .records import Reason, Record, Rejected

_TOKEN = re.compile(r"(\ufffd\ufffd|.)([0-9]{1,2})", re.DOTALL)
#: How many tokens decide whether a file has positions.
_SAMPLE = 200


def read_weibo(path: str | os.PathLike[str]) -> Iterator[Record | Rejected]:
    """Read a file in Weibo's original format; the positions are checked and dropped.

    path: the file.
    YIELDS: for each sentence its record, or why it cannot be used.
    RAISES: CNMError when the file cannot be read or is not UTF-8.
    """
    return read_characters(path, token_reader=_PositionedTokens)


def looks_like_weibo(lines: list[str]) -> bool:
    """Tell Weibo's original format from plain BIO: most tokens are a character and a position.

    Not all, so that a damaged one is reported and does not make characters of the positions.
    """
    tagged = (line for line in lines if line.strip() and not is_document_start(line))
    sample = itertools.islice(tagged, _SAMPLE)
    tokens = [line.split("\t")[0] for line in sample]
    return 2 * sum(bool(_TOKEN.fullmatch(token)) for token in tokens) > len(tokens)


class _PositionedTokens:
    """The token reader of one sentence; remembers the last position."""

    def __init__(self) -> None:
        self.last = -1

    def __call__(self, token: str) -> tuple[str, str | None]:
        match = _TOKEN.fullmatch(token)
        if not match:
            raise ValueError(Reason.BAD_POSITION)
        characters, position = match[1], int(match[2])
        jumps = position not in (0, self.last + 1)
        self.last = position
        if len(characters) > 1:
            return characters[0], Reason.LOST_EMOJI
        return characters, Reason.POSITION_JUMP if jumps else None
