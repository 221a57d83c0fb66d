"""Going on with the training of a pipeline: its config, with its own components as the start."""

from pathlib import Path

from spacy.util import load_config
from thinc.api import Config

from spacy_cnm.errors import CNMError, Errors


def resume_config(pipeline: Path) -> Config:
    """Make a config that trains a pipeline further.

    Weights and labels are taken from the folder, which has to stay until training has begun.
    spaCy does not save optimizers, so moments and the learning rate's schedule begin anew.

    pipeline: folder that `spacy train` has written, such as `model-last`, which is also written
        when training is stopped with Ctrl-C.
    RETURNS: the config that it was trained with, each component sourced from the folder.
    RAISES: CNMError when there is no trained pipeline in the folder.
    """
    path = pipeline / "config.cfg"
    if not path.is_file():
        raise CNMError(Errors.E240.format(path=pipeline))
    config = load_config(path)
    source = str(pipeline.resolve())
    config["components"] = {name: {"source": source} for name in config["nlp"]["pipeline"]}
    config["initialize"]["components"] = {}
    return config
