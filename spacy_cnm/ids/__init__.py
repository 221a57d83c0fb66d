"""The symbolic side: Ideographic Description Sequences and the table of canonical trees.

Needs neither torch nor spaCy.
"""

from .ideographs import IDEOGRAPH_RANGES, is_ideograph, unify

__all__ = ["IDEOGRAPH_RANGES", "is_ideograph", "unify"]
