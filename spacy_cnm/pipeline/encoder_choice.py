"""Which encoder a config trains on: one that was named, pretrained here, or shipped."""

from pathlib import Path

import spacy


@spacy.registry.misc("spacy_cnm.choose_encoder.v1")
def choose_encoder(encoder: str | None, otherwise: list[str]) -> str:
    """The `name` of `spacy_cnm.CNMTransformerModel.v1`.

    encoder: a folder or hub name; it is taken as it is. None: not named.
    otherwise: folders, of which the first that is there is taken; where none is (a trained pipeline
        on another machine, which does not need it), the last.
    """
    if encoder:
        return encoder
    there = [folder for folder in otherwise if Path(folder).is_dir()]
    return [*there, otherwise[-1]][0]
