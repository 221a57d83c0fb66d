"""Where a sentence ends, and when two sentences are the same one."""

import re
from collections.abc import Iterator

#: A sentence ends after these; closing quotes and brackets stay with it.
_SENTENCE_END = re.compile(r"[。！？!?]+[”’」』）》〉】〕)\]]*")


def sentence_ends(text: str) -> Iterator[int]:
    """Yield the offsets after which a sentence ends (。！？ or !?), closing quotes included.

    The end of the text is yielded only where it has such a mark.
    """
    return (match.end() for match in _SENTENCE_END.finditer(text))


def sentence_keys(text: str) -> frozenset[str]:
    """Give the sentences of a text in the form in which they are compared: letters and digits only.

    White space and punctuation do not count, so that quotes, or a mark that stands in another
    place, do not make two sentences of one. Pieces without a letter or an ideograph (numbers,
    marks) are no sentences.
    """
    keys = set()
    start = 0
    for end in [*sentence_ends(text), len(text)]:
        key = "".join(filter(str.isalnum, text[start:end]))
        if any(map(str.isalpha, key)):
            keys.add(key)
        start = end
    return frozenset(keys)
