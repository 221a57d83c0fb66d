"""The component that joins characters into words, once everything else has run on characters.

A tagger predicts a joint segmentation-and-tag label for each character (`B-n`, `I-n`); this last
component turns runs of labels into words with a plain tag. What other components have said about
stretches of the text stays exactly true: no word crosses the border of an entity, of a span, of a
sentence, or white space.
"""

import copy
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, cast

import numpy
from spacy.language import Language
from spacy.parts_of_speech import IDS as POS_IDS
from spacy.tokens import Doc, Span, SpanGroup, Token
from spacy.training import Example
from thinc.api import to_numpy
from thinc.backends import get_array_ops
from thinc.types import Ragged

from spacy_cnm.corpora.segmentation import BEGIN, INSIDE, words_from_labels
from spacy_cnm.errors import CNMError, CNMWarning, Errors, Warnings
from spacy_cnm.pipeline.tag_maps import UPOS

#: (start, end, tag) of a word; offsets count tokens, end is exclusive.
Word = tuple[int, int, str]
Scorer = Callable[..., dict[str, Any]]

#: spaCy's retokenizer looks each new span up in a *list* of those it has (quadratic) and walks the
#: whole document once when it closes (linear): a few hundred joins a pass keep both terms small.
JOINS_PER_PASS = 512


@Language.factory(
    "cnm_word_merger",
    assigns=["token.tag", "token.pos"],
    requires=["token.tag"],
    default_config={"pos_map": None, "scorer": {"@scorers": "spacy_cnm.word_scorer.v1"}},
    default_score_weights={
        "word_f": 0.5,
        "word_p": None,
        "word_r": None,
        "word_tag_f": 0.5,
        "word_tag_p": None,
        "word_tag_r": None,
    },
    retokenizes=True,
)
def make_word_merger(
    nlp: Language, name: str, pos_map: dict[str, str] | None, scorer: Scorer | None
) -> "WordMerger":
    """Create the component `cnm_word_merger`; put it last in the pipeline.

    nlp: the pipeline; not used, as the component keeps no state beyond its config.
    name: the component's name in the pipeline.
    pos_map: plain tag to UPOS, for example `spacy_cnm.pku_to_upos.v1` from the `misc` registry.
    scorer: what `score` calls, or None for no scores.
    RETURNS: the component.
    RAISES: CNMError when pos_map names something that is not a UPOS value.
    """
    return WordMerger(name, pos_map=pos_map, scorer=scorer)


class WordMerger:
    """Joins characters into words; everything it knows stands in the pipeline's config."""

    def __init__(
        self,
        name: str = "cnm_word_merger",
        *,
        pos_map: dict[str, str] | None = None,
        scorer: Scorer | None = None,
    ) -> None:
        """Check the map of tags.

        name: the component's name, for error messages.
        pos_map: plain tag to UPOS; a tag that is a UPOS value itself needs no entry.
        scorer: what `score` calls, or None for no scores.
        RAISES: CNMError when pos_map names something that is not a UPOS value.
        """
        self.name = name
        self.scorer = scorer
        self._pos_ids = _pos_ids(name, pos_map or {})

    def __call__(self, doc: Doc) -> Doc:
        """Join the characters of a document into words, in place.

        doc: tokens with joint labels in `token.tag_`. Tokens without a tag, or with a plain one,
            stay as they are, so that a second call changes nothing.
        RETURNS: the same document.
        WARNS: CNMWarning when `doc._.trf_data` was not aligned to the tokens beforehand.
        """
        words = words_of(doc)
        joint = [doc[start].tag_ != tag for start, _, tag in words]
        if not any(joint):
            return doc
        # spaCy refuses to read a group whose spans lie beyond the end, so read them beforehand.
        groups = [(group, list(group)) for group in doc.spans.values() if len(group)]
        _realign_transformer_data(doc, words)
        _join_tokens(doc, words)
        _relocate_spans(doc, groups)
        for i, (_, _, tag) in enumerate(words):
            if joint[i]:
                self._set_tag(doc, i, tag)
        return doc

    def score(self, examples: Iterable[Example], **kwargs: Any) -> dict[str, Any]:
        """Score the words of a batch of examples.

        examples: predicted and reference documents.
        RETURNS: the scorer's scores; empty without a scorer.
        """
        return {} if self.scorer is None else self.scorer(examples, **kwargs)

    def _set_tag(self, doc: Doc, i: int, tag: str) -> None:
        token = doc[i]
        token.tag_ = tag
        if _is_space(token):
            token.pos_ = "SPACE"
        elif tag in self._pos_ids:
            token.pos = self._pos_ids[tag]


def words_of(doc: Doc) -> list[Word]:
    """Read the words off a document: what the merger joins, or has joined.

    doc: characters with joint labels, or words with plain tags.
    RETURNS: (start, end, tag) of each word in tokens; together they cover the document.
    """
    labels = [token.tag_ for token in doc]
    for i in range(1, len(doc)):
        if _is_joint(labels[i]) and _is_joint(labels[i - 1]) and _is_mark(doc[i].text):
            labels[i] = INSIDE + labels[i - 1][len(INSIDE) :]
    for i in _word_borders(doc):
        if labels[i].startswith(INSIDE):
            labels[i] = BEGIN + labels[i][len(INSIDE) :]
    return words_from_labels(labels)


def _word_borders(doc: Doc) -> Iterator[int]:
    """Yield the indices of the tokens at which a word must begin, whatever their labels say."""
    after_space = False
    for token in doc:
        is_space = _is_space(token)
        if after_space or is_space or token.is_sent_start:
            yield token.i
        after_space = is_space or bool(token.whitespace_)
    spans = list(chain(doc.ents, *doc.spans.values()))
    if spans:
        token_at = {token.idx: token.i for token in doc}
        offsets = chain.from_iterable((span.start_char, span.end_char) for span in spans)
        yield from (token_at[offset] for offset in offsets if offset in token_at)


def _is_joint(label: str) -> bool:
    return label.startswith((BEGIN, INSIDE))


def _is_mark(text: str) -> bool:
    """Whether a token only modifies the one before it: accents, variation selectors, joiners."""
    return all(unicodedata.category(char) in ("Mn", "Me", "Cf") for char in text)


def _is_space(token: Token) -> bool:
    # Not token.is_space: a vocabulary without lexical attributes says False to everything.
    return token.text.isspace()


def _join_tokens(doc: Doc, words: list[Word]) -> None:
    """Merge the tokens of each word of more than one, from the end so that indices hold."""
    joins = [(start, end) for start, end, _ in words if end - start > 1]
    for stop in range(len(joins), 0, -JOINS_PER_PASS):
        with doc.retokenize() as retokenizer:
            for start, end in joins[max(0, stop - JOINS_PER_PASS) : stop]:
                retokenizer.merge(doc[start:end])


def _relocate_spans(doc: Doc, groups: list[tuple[SpanGroup, list[Span]]]) -> None:
    """Give the spans in `doc.spans` the token indices of their characters.

    The retokenizer leaves the old indices in them, which then mean other text.
    """
    for group, spans in groups:
        for i, span in enumerate(spans):
            group[i] = _relocate(doc, span)  # type: ignore[index]  # the stub forgets __setitem__


def _relocate(doc: Doc, span: Span) -> Span:
    """Find the tokens of a span's characters.

    Words end at the borders of spans, so the characters stay the same, save in a span that some
    earlier component left with its border inside a token: that one grows to the whole token.
    """
    if span.start_char == len(doc.text):
        start = end = len(doc)
    else:
        stop = max(span.end_char, span.start_char + 1)
        found = doc.char_span(span.start_char, stop, alignment_mode="expand")
        # Never None, since the text is what it was.
        start, end = cast(Span, found).start, cast(Span, found).end
    if len(span) == 0:
        end = start
    return Span(doc, start, end, label=span.label, kb_id=span.kb_id, span_id=span.id)


def _realign_transformer_data(doc: Doc, words: list[Word]) -> None:
    """Align `doc._.trf_data`, where there is any, to words in place of characters."""
    # The extension belongs to spacy-transformers; importing that only to ask would load torch.
    data = doc._.trf_data if Doc.has_extension("trf_data") else None
    if data is None or len(data.align.lengths) == 0:
        return
    if len(data.align.lengths) != len(doc):
        text = Warnings.W230.format(aligned=len(data.align.lengths), tokens=len(doc))
        warnings.warn(text, CNMWarning, stacklevel=3)
        return
    # A copy, since a batch or a cache may hold the old one.
    data = copy.copy(data)
    data.align = merge_alignment(data.align, [end - start for start, end, _ in words])
    doc._.trf_data = data


def merge_alignment(align: Ragged, sizes: list[int]) -> Ragged:
    """Merge the entries of neighbouring tokens in an alignment to word pieces.

    align: for each token the indices of its word pieces.
    sizes: how many tokens make up each merged token; they add up to the number of tokens.
    RETURNS: for each merged token the union of its tokens' indices, sorted, each once.
    """
    ops = get_array_ops(align.dataXd)
    indices = to_numpy(align.dataXd).astype("int64")
    word_of_token = numpy.repeat(numpy.arange(len(sizes)), sizes)
    word_of_index = numpy.repeat(word_of_token, to_numpy(align.lengths))
    width = int(indices.max(initial=0)) + 1
    words, merged = numpy.divmod(numpy.unique(word_of_index * width + indices), width)
    lengths = numpy.bincount(words, minlength=len(sizes))
    return Ragged(ops.asarray1i(merged, dtype="int32"), ops.asarray1i(lengths, dtype="int32"))


def _pos_ids(name: str, pos_map: dict[str, str]) -> dict[str, int]:
    """Map plain tags to spaCy's numbers of UPOS values, each UPOS value to itself included."""
    for tag, pos in pos_map.items():
        if pos not in UPOS:
            raise CNMError(Errors.E230.format(name=name, tag=tag, pos=pos, upos=sorted(UPOS)))
    return {tag: POS_IDS[pos] for tag, pos in ({pos: pos for pos in UPOS} | pos_map).items()}
