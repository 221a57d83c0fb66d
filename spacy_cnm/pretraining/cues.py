"""Which characters are cued in pretraining: shown as [UNK] with their structure, and to be guessed.

A character outside the vocabulary is rare, so what stands for it in training has to be rare as
well: if frequent characters were cued as often as they are met, most cues would be common words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedTokenizerFast

from spacy_cnm.corpora.text_streams import read_lines
from spacy_cnm.ids import is_ideograph
from spacy_cnm.modeling.tokenizer import first_added_id

#: How often, of the cases in which it would become [MASK], a rare character is cued.
MOST = 0.5
#: So many characters are counted, at least where there are more; enough for frequencies.
_COUNTED = 100_000_000


def count_ideographs(paths: Sequence[Path], most: int = _COUNTED) -> Counter[str]:
    """Count the ideographs of text files (see `text_streams.read_lines`).

    most: after so many characters a file is left, its share of them.
    """
    counts: Counter[str] = Counter()
    for path in paths:
        left = most // len(paths)
        for line in read_lines(path):
            counts.update(line)
            left -= len(line)
            if left < 0:
                break
    return Counter({char: n for char, n in counts.items() if is_ideograph(char)})


def cue_shares(
    tokenizer: PreTrainedTokenizerFast, counts: Mapping[str, int], frequency: float
) -> NDArray[np.float64]:
    """Tell how often each id is cued, of the cases in which it would become [MASK].

    For the ideographs of the base vocabulary that is MOST, and less for those that make up more
    than `frequency` of the text, in inverse proportion: these are all cued equally often.

    tokenizer: an extended tokenizer.
    counts: ideograph -> occurrences.
    frequency: share of all occurrences; 0: no cues.
    RETURNS: (E,) over the extended ids.
    """
    vocab = tokenizer.get_vocab()
    shares = np.zeros(1 + max(vocab.values()))
    allowed = frequency * sum(counts.values())
    size = first_added_id(tokenizer)
    for token, i in vocab.items():
        if frequency and i < size and len(token) == 1 and is_ideograph(token):
            shares[i] = MOST * min(1.0, allowed / max(1, counts.get(token, 0)))
    return shares
