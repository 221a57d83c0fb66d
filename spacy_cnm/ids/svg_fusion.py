"""The tree of a rare character and its place in BERT, as a drawing: the picture of the README.

From top to bottom: the characters of a text, the two streams of one of them in a panel, their
fusion (paper, section 3.4), the encoder, what listens to it. Blue is the token stream, orange the
structure stream, violet what has passed the fusion.
"""

from collections.abc import Iterator

from .ideographs import is_ideograph
from .svg import shapes
from .svg_frame import MARGIN, PAD, PANEL_TOP, STAGE, TOKEN, TOKEN_Y, Frame, make_frame
from .svg_shapes import BADGE_WIDTH, HAN, LEAF_SIZE, MATH, arrow, box, document, words
from .text import code_point
from .tree import Leaf, Tree

_INK, _SOFT, _LINE = "#1f2933", "#616e7c", "#9aa5b1"
_BLUE, _BLUE_LIGHT = "#2f6fb7", "#e6f0fa"
_ORANGE, _ORANGE_LIGHT = "#ef8a17", "#fff3e0"
_VIOLET, _VIOLET_LIGHT = "#6f4aa8", "#f1ebfa"
_PANEL, _PANEL_EDGE = "#f5f7fa", "#cbd2d9"

#: Shades of a vector's entries: decoration, the same for every vector of a stream.
_SHADES = {_BLUE: (5, 8, 3, 6, 9, 4, 7, 5), _ORANGE: (8, 4, 7, 9, 3, 6, 4, 8)}
_LISTENERS = (("ner", "entities"), ("tagger", "words and tags"), ("textcat", "categories"))


def draw_fusion_svg(char: str, tree: Tree, context: str) -> str:
    """Draw how a character that BERT's vocabulary lacks enters BERT.

    char: the character.
    tree: its tree.
    context: a short text of ideographs and punctuation in which the character stands once.
    RETURNS: a standalone SVG document; the same input gives the same text.
    RAISES CNMError: the character does not stand there once, or something else does.
    """
    frame = make_frame(char, tree, context)
    width, height = frame.right + MARGIN, frame.panel_bottom + 270
    background = f"<rect width='{width:g}' height='{height:g}' rx='14' fill='#ffffff'/>"
    parts = [
        background,
        *_strands(frame),
        *_panel(frame),
        *_tokens(frame),
        *_token_stream(frame),
        *_structure_stream(frame),
        *_fusion(frame),
        *_encoder(frame),
        *_gutter(frame),
    ]
    label = (
        f"{char} {code_point(char)} {tree} in {context}: the embedding of [UNK] and the structure "
        "vector of the tree are fused and go through the unchanged BERT"
    )
    return document(width, height, label, parts)


def _strands(frame: Frame) -> Iterator[str]:
    """The two streams of the other positions, which pass behind the panel."""
    for token, x in zip(frame.tokens, frame.columns, strict=True):
        if token == frame.char:
            continue
        # What is no ideograph has the null vector: a dashed line.
        null = len(token) > 1 or not is_ideograph(token)
        for side, colour in ((-7, _BLUE), (7, _ORANGE)):
            dashes = " stroke-dasharray='3 4'" if null and colour == _ORANGE else ""
            yield (
                f"<path d='M{x + side:g} {TOKEN_Y:g}V{PANEL_TOP + 2:g}' stroke='{colour}' "
                f"stroke-width='2' stroke-opacity='0.55'{dashes}/>"
            )


def _panel(frame: Frame) -> Iterator[str]:
    height = frame.panel_bottom - PANEL_TOP
    centre = (frame.middle, PANEL_TOP + height / 2)
    yield box(centre, (frame.right - frame.left, height), _PANEL, _PANEL_EDGE, radius=12)
    x = frame.columns[frame.tokens.index(frame.char)]
    half, top = TOKEN / 2, TOKEN_Y + TOKEN / 2 - 8
    # The opening towards the character; it covers the panel's edge.
    yield (
        f"<path d='M{x - half:g} {top:g}L{x - half - 12:g} {PANEL_TOP + 1:g}v2H{x + half + 12:g}"
        f"v-2L{x + half:g} {top:g}Z' fill='{_PANEL}'/>"
        f"<path d='M{x - half:g} {top:g}L{x - half - 12:g} {PANEL_TOP:g}"
        f"M{x + half:g} {top:g}L{x + half + 12:g} {PANEL_TOP:g}' stroke='{_PANEL_EDGE}' "
        "stroke-width='2'/>"
    )


def _tokens(frame: Frame) -> Iterator[str]:
    for token, x in zip(frame.tokens, frame.columns, strict=True):
        if len(token) > 1:
            yield box((x, TOKEN_Y), (TOKEN, TOKEN), "#ffffff", _PANEL_EDGE)
            yield _centred(x, TOKEN_Y + 5, token, 14, _SOFT)
            continue
        stroke = _INK if token == frame.char else _LINE
        yield box((x, TOKEN_Y), (TOKEN, TOKEN), "#ffffff", stroke)
        yield words(
            x, TOKEN_Y + 12, token, size=34, fill=_INK, font=HAN, more="text-anchor='middle'"
        )


def _token_stream(frame: Frame) -> Iterator[str]:
    left, x, y = frame.left + PAD, frame.embedding_x, frame.tree[0].y
    yield _heading(left, "Token stream", _BLUE)
    yield words(left, 172, "no entry in the vocabulary", size=12, fill=_SOFT)
    yield box((left + 34, y), (68, STAGE[1]), "#ffffff", _BLUE)
    yield _centred(left + 34, y + 5, "[UNK]", 15, _BLUE)
    yield arrow(left + 69, y, x - STAGE[0] / 2 - 2, y, _BLUE)
    yield box((x, y), STAGE, _BLUE_LIGHT, _BLUE)
    yield _centred(x, y + 5, "Embedding", 15, _INK)
    yield arrow(x, y + STAGE[1] / 2 + 1, x, frame.vectors_y - 14, _BLUE)
    yield from _vector(x, frame.vectors_y, _BLUE, "e", "tok")
    yield words(left, frame.vectors_y - 3, "one vector for all", size=12, fill=_SOFT)
    yield words(left, frame.vectors_y + 13, "that BERT lacks", size=12, fill=_SOFT)


def _structure_stream(frame: Frame) -> Iterator[str]:
    root, x = frame.tree[0], frame.tree_mlp_x
    left = min(place.x for place in frame.tree) - LEAF_SIZE / 2
    left = min(left, root.x - BADGE_WIDTH / 2)
    half = LEAF_SIZE / 2 if isinstance(root.node, Leaf) else BADGE_WIDTH / 2
    yield _heading(left, "Structure stream", _ORANGE)
    yield words(
        left, 172, "the tree of its parts, which other characters share", size=12, fill=_SOFT
    )
    yield arrow(root.x + half + 1, root.y, x - STAGE[0] / 2 - 2, root.y, _ORANGE)
    yield from shapes(frame.tree)
    yield box((x, root.y), STAGE, _ORANGE_LIGHT, _ORANGE)
    yield _centred(x, root.y + 5, "Tree-MLP", 15, _INK)
    yield arrow(x, root.y + STAGE[1] / 2 + 1, x, frame.vectors_y - 14, _ORANGE)
    yield from _vector(x, frame.vectors_y, _ORANGE, "s", "")


def _fusion(frame: Frame) -> Iterator[str]:
    y, height = frame.vectors_y + 72, 44.0
    for x, colour in ((frame.embedding_x, _BLUE), (frame.tree_mlp_x, _ORANGE)):
        yield arrow(x, frame.vectors_y + 12, x, y - height / 2 - 2, colour)
    width = frame.right - frame.left - 2 * PAD
    yield box((frame.middle, y), (width, height), _VIOLET_LIGHT, _VIOLET)
    left = frame.left + PAD + 16
    yield words(left, y + 5, "Fusion", size=15, fill=_INK, more="font-weight='bold'")
    index = "<tspan dy='4' font-size='13'>{}</tspan><tspan dy='-4' dx='{}'>{}</tspan>"
    formula = (
        f"z = W{index.format('f', 8, '[')}<tspan dx='4'>e</tspan>{index.format('tok', 3, ';')}"
        f"<tspan dx='6'>s</tspan><tspan dx='4'>] + b</tspan>{index.format('f', 0, '')}"
    )
    yield (
        f"<text x='{frame.middle:g}' y='{y + 6:g}' font-size='20' text-anchor='middle' "
        f"fill='{_INK}' {MATH}>{formula}</text>"
    )
    right = frame.right - PAD - 16
    note = "a wrapped BERT starts as itself"
    yield words(right, y + 5, note, size=12, fill=_SOFT, more="text-anchor='end'")


def _encoder(frame: Frame) -> Iterator[str]:
    """The fused vectors, BERT and its listeners."""
    chips, sums, bert, heads = (frame.panel_bottom + dy for dy in (42, 93, 144, 223))
    width = frame.right - frame.left
    for token, x in zip(frame.tokens, frame.columns, strict=True):
        chosen = token == frame.char
        top = frame.vectors_y + 95 if chosen else frame.panel_bottom + 1
        yield arrow(x, top, x, chips - 17, _VIOLET)
        yield box((x, chips), (TOKEN, 30), "#ffffff" if not chosen else _VIOLET_LIGHT, _VIOLET)
        yield words(x, chips + 6, "z", size=19, fill=_INK, font=MATH, more="text-anchor='middle'")
        yield arrow(x, chips + 16, x, sums - 17, _LINE)
    yield box((frame.middle, sums), (width, 30), _PANEL, _PANEL_EDGE)
    yield _centred(frame.middle, sums + 5, "+ position + segment, LayerNorm, dropout", 13, _SOFT)
    yield box((frame.middle, bert), (width, 48), _INK, _INK)
    yield _centred(frame.middle, bert + 6, "BERT's Transformer layers, unchanged", 17, "#ffffff")
    pitch = width / len(_LISTENERS)
    for i, (name, result) in enumerate(_LISTENERS):
        x = frame.left + pitch * (i + 0.5)
        yield arrow(x, bert + 25, x, heads - 27, _LINE)
        yield box((x, heads), (pitch - 48, 50), "#ffffff", _LINE)
        yield words(
            x,
            heads - 3,
            name,
            size=15,
            fill=_INK,
            more="text-anchor='middle' font-weight='bold'",
        )
        yield _centred(x, heads + 15, result, 12, _SOFT)


def _gutter(frame: Frame) -> Iterator[str]:
    """What each row is, at the left edge."""
    rows = (
        (TOKEN_Y, "Characters"),
        (frame.panel_bottom + 42, "Fused"),
        (frame.panel_bottom + 118, "Encoder"),
        (frame.panel_bottom + 223, "Listeners"),
    )
    for y, name in rows:
        yield words(MARGIN, y + 5, name, size=13, fill=_SOFT, more="font-weight='bold'")
    for y, name, colour in ((94, "token", _BLUE), (112, "structure", _ORANGE)):
        yield f"<path d='M{MARGIN:g} {y}h18' stroke='{colour}' stroke-width='2'/>"
        yield words(MARGIN + 26, y + 4, name, size=12, fill=_SOFT)


def _vector(x: float, y: float, colour: str, name: str, index: str) -> Iterator[str]:
    """A row of shaded cells around x, its name at the right."""
    left = x - 48
    for i, shade in enumerate(_SHADES[colour]):
        yield (
            f"<rect x='{left + 12 * i:g}' y='{y - 10:g}' width='12' height='20' fill='{colour}' "
            f"fill-opacity='0.{shade}' stroke='#ffffff'/>"
        )
    below = f"<tspan dy='4' font-size='13'>{index}</tspan>" if index else ""
    yield (
        f"<text x='{x + 55:g}' y='{y + 5:g}' font-size='19' fill='{_INK}' {MATH}>{name}{below}"
        "</text>"
    )


def _heading(x: float, text: str, colour: str) -> str:
    return words(x, 153, text, size=15, fill=colour, more="font-weight='bold'")


def _centred(x: float, y: float, text: str, size: int, fill: str) -> str:
    return words(x, y, text, size=size, fill=fill, more="text-anchor='middle'")
