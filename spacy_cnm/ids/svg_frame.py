"""Measures of the picture of a character in BERT: what its rows and columns have to agree on."""

import unicodedata
from typing import NamedTuple

from spacy_cnm.errors import CNMError, Errors

from .ideographs import is_ideograph
from .svg import Place, layout
from .svg_shapes import BADGE_WIDTH, LEAF_SIZE
from .tree import Tree

_GUTTER, MARGIN = 132.0, 28.0  # left and right of the panel and the bars
TOKEN = 56.0  # size of the boxes of tokens
TOKEN_Y, PANEL_TOP = 54.0, 124.0
PAD, STAGE = 24.0, (124.0, 40.0)  # inside the panel; size of the boxes Embedding and Tree-MLP
_TOKEN_SIDE = 352.0  # width of the token stream in the panel
_MIN_WIDTH, _MIN_PITCH = 900.0, 64.0


class Frame(NamedTuple):
    """What the parts of the picture have to agree on."""

    char: str
    tokens: list[str]
    tree: list[Place]
    left: float  # of the panel and the bars
    right: float
    columns: list[float]  # centre of each token
    vectors_y: float  # centre of the vectors' row
    panel_bottom: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2

    @property
    def embedding_x(self) -> float:
        return self.left + 212

    @property
    def tree_mlp_x(self) -> float:
        return self.right - PAD - STAGE[0] / 2


def make_frame(char: str, tree: Tree, context: str) -> Frame:
    """Measure the picture of a character in a text.

    RAISES CNMError: the text does not hold the character once, or holds other than ideographs and
        punctuation, whose word pieces are not single characters.
    """
    if context.count(char) != 1:
        raise CNMError(Errors.E017.format(char=char, context=context, n=context.count(char)))
    for other in context:
        if not (is_ideograph(other) or unicodedata.category(other).startswith("P")):
            raise CNMError(Errors.E018.format(char=ascii(other)))
    tokens = ["[CLS]", *context, "[SEP]"]
    places = layout(tree, 0, 190, leaf_step=80, level_step=92)
    tree_width = max(max(place.x for place in places) + LEAF_SIZE / 2, BADGE_WIDTH)
    structure_side = tree_width + 52 + STAGE[0] + PAD
    content = max(
        _MIN_WIDTH - _GUTTER - MARGIN, len(tokens) * _MIN_PITCH, _TOKEN_SIDE + structure_side
    )
    right = _GUTTER + content
    shift = right - structure_side
    places = [
        Place(node, x + shift, y, parent and (parent[0] + shift, parent[1]))
        for node, x, y, parent in places
    ]
    pitch = content / len(tokens)
    vectors_y = max(312.0, *(place.y for place in places))
    return Frame(
        char=char,
        tokens=tokens,
        tree=places,
        left=_GUTTER,
        right=right,
        columns=[_GUTTER + pitch * (i + 0.5) for i in range(len(tokens))],
        vectors_y=vectors_y,
        panel_bottom=vectors_y + 118,
    )
