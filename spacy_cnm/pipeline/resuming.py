"""Going on with the training of a pipeline: its config, with its own components as the start."""

from pathlib import Path

import spacy
from spacy.util import load_config
from thinc.api import Config

from spacy_cnm.errors import CNMError, Errors, one_line


def resume_config(pipeline: Path) -> Config:
    """Make a config that trains a pipeline further.

    Weights and labels are taken from the folder, which has to stay until training has begun.
    spaCy does not save optimizers, so moments and the learning rate's schedule begin anew; the seed
    is the next one, so that the texts come in another order.

    pipeline: folder that `spacy train` has written, such as `model-last`, which is also written
        when training is stopped with Ctrl-C.
    RETURNS: the config that it was trained with, each component sourced from the folder.
    RAISES: CNMError when there is no trained pipeline with components in the folder, or a damaged
        one.
    """
    path = pipeline / "config.cfg"
    if not (path.is_file() and (pipeline / "meta.json").is_file()):
        raise CNMError(Errors.E240.format(path=pipeline))
    try:
        names = spacy.load(pipeline).component_names
        config = load_config(path)
        # The seed decides on the order of the texts; with the same, those read before come first.
        seed = int(config["system"].get("seed") or 0) + 1
    except Exception as error:  # of whatever library meets the damage
        raise CNMError(Errors.E241.format(path=pipeline, reason=one_line(error))) from error
    if not names:
        raise CNMError(Errors.E240.format(path=pipeline))
    source = str(pipeline.resolve())
    config["components"] = {name: {"source": source} for name in names}
    config["system"]["seed"] = seed
    config["training"]["seed"] = "${system.seed}"
    config["initialize"]["components"] = {}
    return config
