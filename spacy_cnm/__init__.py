"""CNM-BERT for spaCy: Chinese BERT models that see the structure of each character."""

from importlib.metadata import version

__version__ = version("spacy-cnm")
