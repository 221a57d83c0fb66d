"""Find out in the first second what would otherwise end a run after hours."""

from itertools import islice

from spacy_cnm.corpora.text_streams import read_lines
from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.ids import is_ideograph

from .config import PretrainConfig

#: Texts of each file that are looked at.
_TEXTS = 1000


def check_inputs(config: PretrainConfig) -> None:
    """Read the beginning of every file that a run is going to read.

    RAISES CNMError: a file is missing, empty, binary or damaged there; or structure is to be
        learned from texts without a Chinese character.
    """
    for path in config.data.heldout.values():
        next(read_lines(path))
    found = False
    for path in config.data.train:
        for text in islice(read_lines(path), _TEXTS):
            if found or (found := any(map(is_ideograph, text))):
                break
    if config.model.use_structure and not found:
        paths = ", ".join(map(str, config.data.train))
        raise CNMError(Errors.E533.format(count=_TEXTS, paths=paths))
