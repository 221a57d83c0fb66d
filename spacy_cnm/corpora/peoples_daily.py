"""The People's Daily corpus with PKU tags: words, joint labels and entities of a paragraph.

One paragraph a line, words as `word/tag` separated by spaces. The original corpus also starts each
line with an article number (`19980101-01-001-001/m`, not part of the text) and groups words in
brackets with a tag of their own: `[中央/n 电视台/n]nt`.
(Yu Shiwen et al., Basic Processing of Contemporary Chinese Corpus at Peking University, 2002.)

Entities:

* `nr` is PER, `ns` is LOC, `nt` is ORG. Neighbours with `ns` or `nt` stay apart.
* The tag of a bracket decides for the whole group: with nr, ns or nt it is one entity, with another
  tag none; the tags inside make no entities.
* Consecutive `nr` words are names of surname + given name, see `person_names`.
"""

import re
from collections.abc import Sequence

from .records import Finding, Place, Reason, Record, Rejected, Span

#: PKU tag -> entity label.
ENTITY_LABELS = {"nr": "PER", "ns": "LOC", "nt": "ORG"}

_ARTICLE = re.compile(r"[0-9]{8}-[0-9]{2}-[0-9]{3}-[0-9]{3}(/m)?")
_WORD = re.compile(r"(\[)?(.+?)/([A-Za-z]+)(?:\]/?([A-Za-z]+))?")

_TWO_CHARACTER_SURNAMES = """
欧阳 诸葛 司马 司徒 上官 令狐 夏侯 东方 皇甫 尉迟
公孙 慕容 宇文 长孙 轩辕 淳于 单于 太史 申屠 公羊
赫连 澹台 闻人 呼延 端木 百里 东郭 南宫 西门 独孤
拓跋 鲜于 濮阳 钟离 司空 完颜 第五 万俟
"""
#: Surnames of two characters. All others have one, and longer words are given or foreign names.
TWO_CHARACTER_SURNAMES = frozenset(_TWO_CHARACTER_SURNAMES.split())


def parse_paragraph(line: str, place: Place) -> Record | Rejected:
    """Read one line of the corpus.

    line: `word/tag` separated by spaces.
    place: where the line stands.
    RETURNS: the record with words and entities (the text is the words joined), or why there
        is none.
    """
    items = [item for item in line.split(" ") if item]
    if items and _ARTICLE.fullmatch(items[0]):
        items = items[1:]
    words: list[Span] = []
    # Units are what can be an entity: single words, and bracket groups with their tag.
    units: list[Span] = []
    group_start: int | None = None
    end = 0
    for item in items:
        match = _WORD.fullmatch(item)
        if not match:
            return Rejected(Finding(Reason.BAD_WORD, place))
        opening, surface, tag, group_tag = match.groups()
        start, end = end, end + len(surface)
        words.append(Span(start, end, tag, surface))
        if opening:
            if group_start is not None:
                return Rejected(Finding(Reason.BAD_BRACKET, place))
            group_start = start
        if group_tag:
            if group_start is None:
                return Rejected(Finding(Reason.BAD_BRACKET, place))
            # A group is a name as it stands, so the rule for surnames must not see it as a word.
            units.append(Span(group_start, end, f"[{group_tag}]"))
            group_start = None
        elif group_start is None:
            units.append(words[-1])
    if group_start is not None:
        return Rejected(Finding(Reason.BAD_BRACKET, place))
    text = "".join(word.text or "" for word in words)
    return Record(text, place, entities=tuple(_entities(units, text)), words=tuple(words))


def person_names(words: Sequence[str]) -> list[int]:
    """Group consecutive `nr` words into persons, from left to right.

    * A surname (one character, or two of the usual list) takes the word after it: 江 泽民, 欧阳 修.
      So longer runs are read as pairs: 孟 西安 祁 勇 are two persons.
    * Exactly three words of which two surnames stand before a longer given name are one person:
      陈 方 安生 (a married woman's double surname).
    * Any other word is a person alone: a given or foreign name (克林顿, 约翰·加朗), or a surname
      with nothing after it (江 主席).

    words: the surfaces of the run.
    RETURNS: how many words each person has, in order.
    """
    if len(words) == 3 and len(words[0]) == len(words[1]) == 1 and len(words[2]) > 1:
        return [3]
    sizes: list[int] = []
    i = 0
    while i < len(words):
        is_surname = len(words[i]) == 1 or words[i] in TWO_CHARACTER_SURNAMES
        sizes.append(2 if is_surname and i + 1 < len(words) else 1)
        i += sizes[-1]
    return sizes


def _entities(units: Sequence[Span], text: str) -> list[Span]:
    """Join persons and keep what has an entity tag."""
    entities: list[Span] = []
    i = 0
    while i < len(units):
        unit = units[i]
        if unit.label == "nr":
            stop = i
            while stop < len(units) and units[stop].label == "nr":
                stop += 1
            for size in person_names([text[u.start : u.end] for u in units[i:stop]]):
                entities.append(Span(units[i].start, units[i + size - 1].end, ENTITY_LABELS["nr"]))
                i += size
            continue
        tag = unit.label.strip("[]")
        if tag in ENTITY_LABELS:
            entities.append(Span(unit.start, unit.end, ENTITY_LABELS[tag]))
        i += 1
    return entities
