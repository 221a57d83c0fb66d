"""Find out in the first second what would otherwise end a run after hours."""

from itertools import chain, islice

from spacy_cnm.corpora.text_streams import read_lines
from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import is_ideograph

from .config import PretrainConfig

#: Texts of each file that are looked at.
_TEXTS = 1000


def check_inputs(config: PretrainConfig) -> None:
    """Read all held-out files, and the beginning of every training file.

    RAISES CNMError: a file is missing, empty, binary or damaged there; there are fewer texts than
        streams; or structure is to be learned from texts without a Chinese character.
    """
    for path in config.data.heldout.values():
        for _ in read_lines(path):
            pass
    count = config.training.micro_batches
    texts = chain.from_iterable(map(read_lines, config.data.train))
    n_texts = sum(1 for _ in islice(texts, count))
    if n_texts < count:
        raise CNMError(Errors.E507.format(index=n_texts, count=count))
    found = False
    for path in config.data.train:
        for text in islice(read_lines(path), _TEXTS):
            if found or (found := any(map(is_ideograph, text))):
                break
    if config.model.use_structure and not found:
        paths = ", ".join(map(str, config.data.train))
        raise CNMError(Errors.E533.format(count=_TEXTS, paths=paths))
