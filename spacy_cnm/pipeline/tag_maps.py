"""Maps from the tags of corpora to Universal POS tags (UPOS).

The PKU map follows two sources: the tag descriptions of the People's Daily corpus (Yu Shiwen et
al., Specification for Corpus Processing at Peking University, 2003) for what a tag means, and the
Chinese pages of Universal Dependencies (https://universaldependencies.org/zh/) for where UD puts
such words. Where one tag covers several UPOS values, the words of the tag in the January 1998
corpus were looked up in UD Chinese-GSDSimp and the most frequent fitting value was taken; the
notes beside the entries give the shares. One tag gives one value: who needs 了 as AUX or 这 as DET
has to look at the word, for example with an `attribute_ruler` after the merger.
"""

import spacy

#: The 17 tags of Universal Dependencies, and spaCy's own for white space.
UPOS = frozenset(
    {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN"}
    | {"PUNCT", "SCONJ", "SYM", "VERB", "X", "SPACE"}
)

_PKU_TO_UPOS = {
    # Nouns. Classifiers (q) are nouns in UD Chinese (NounType=Clf), time and place words too.
    "n": "NOUN",
    "t": "NOUN",  # time: 去年, １月
    "s": "NOUN",  # place: 国内, 现场
    "q": "NOUN",  # classifier: 个, 年, 元 (80% NOUN)
    "vn": "NOUN",  # verb used as a noun: 工作, 建设 (50% NOUN, 46% VERB)
    "an": "NOUN",  # adjective used as a noun: 安全, 困难 (43% NOUN, 42% ADJ)
    "l": "NOUN",  # fixed phrase: 人民法院, 发展中国家; the frequent ones are nominal
    # Proper nouns. Abbreviations (j) are mostly of names: 欧盟, 政协 (56% PROPN, 23% NOUN).
    "nr": "PROPN",
    "ns": "PROPN",
    "nt": "PROPN",
    "nz": "PROPN",
    "j": "PROPN",
    # Verbs. 是 and the modals are v as well (70% VERB, 11% AUX).
    "v": "VERB",
    "i": "VERB",  # idiom: 实事求是; most are predicates (46% VERB, 32% ADJ)
    # Adjectives: plain, attributive only (b, 大型), descriptive (z, 扎扎实实).
    "a": "ADJ",
    "b": "ADJ",
    "z": "ADJ",
    # Adverbs, and adjectives and verbs used as such (ad 积极, vd 持续): the use decides here, as in
    # vn and an.
    "d": "ADV",
    "ad": "ADV",
    "vd": "ADV",
    # Function words.
    "m": "NUM",
    "r": "PRON",  # 54% PRON, 32% DET (这, 各)
    "p": "ADP",
    "f": "ADP",  # localizer: 中, 上, 里; a postposition in UD (61% ADP)
    "c": "CCONJ",  # 52% CCONJ, 25% SCONJ (因为, 如果)
    "u": "PART",  # 的, 地, 得, 等, 所; the aspect markers 了, 着, 过 would be AUX
    "y": "PART",  # sentence-final: 吗, 呢, 吧
    "h": "PART",  # prefix: 非, 准
    "k": "PART",  # suffix: 们, 者 (99% PART)
    "e": "INTJ",
    "o": "INTJ",  # onomatopoeia: 哈哈, 沙沙; UD has no nearer class
    # The rest.
    "w": "PUNCT",
    "nx": "X",  # foreign letters: Ａ, ＶＣＤ
    "x": "X",  # not a morpheme
    # Morphemes that stand for a word take the class of the word (Ng 时, Vg 摄, Tg 晚).
    "Ng": "NOUN",
    "Tg": "NOUN",
    "Vg": "VERB",
    "Ag": "ADJ",
    "Bg": "ADJ",
    "Dg": "ADV",
    "Rg": "PRON",
    "Mg": "NUM",
}


@spacy.registry.misc("spacy_cnm.pku_to_upos.v1")
def pku_to_upos() -> dict[str, str]:
    """Map the PKU tags of the People's Daily corpus to UPOS.

    The morpheme tags are there in lower case as well (`ng` beside `Ng`), as some releases of the
    corpus write them.

    RETURNS: tag to UPOS value; a new dict at each call.
    """
    return _PKU_TO_UPOS | {tag.lower(): pos for tag, pos in _PKU_TO_UPOS.items()}
