"""What the IDS says, how far labels agree with it, and what only order or layout tells apart."""

import pytest

from spacy_cnm.probing.labels import LAYOUTS, Labels
from spacy_cnm.probing.lookup import agreement, contrasting, disagreeing, look_up
from spacy_cnm.probing.subject import CONTRASTING, DISAGREEING, OOV, TEST, TIERS, make_subject

NAMES = list(LAYOUTS)


@pytest.mark.parametrize(
    ("char", "layout", "parts"),
    [
        ("杲", "top-bottom", "日木"),
        ("林", "left-right", "木"),
        ("森", "triple", "木"),
        ("晶", "triple", "日"),
        ("一", "single", "一"),
        ("x", "single", "x"),
        ("辯", "left-middle-right", "辛言"),
        ("国", "surround", "囗玉"),
    ],
)
def test_look_up(table, char, layout, parts):
    found = look_up([char], table)[char]
    assert NAMES[found.layout] == layout
    if char not in "林森晶":  # 木 and 日 are decomposed further, or not, by the table's rules
        assert found.components == frozenset(parts)
    assert found.strokes is found.order is None


def test_labels_against_the_ids(table):
    labels = {
        "杲": Labels(layout=NAMES.index("top-bottom")),
        "杳": Labels(layout=NAMES.index("left-right")),
        "湖": Labels(layout=NAMES.index("left-right")),
        "巫": Labels(),
    }
    assert disagreeing(labels, table) == ["杳"]
    assert agreement(labels, table) == {
        "all": pytest.approx(2 / 3),
        "top-bottom": 1.0,
        "left-right": 0.5,
    }


def test_contrasting(table):
    """杲 and 杳 have the same parts in another order; 湖 is alone."""
    labels = {"杲": Labels(1, order="25111234"), "杳": Labels(1, order="12342511")}
    assert contrasting(labels | {"湖": Labels(0)}, table) == {"杲", "杳"}
    # The same in all that is asked.
    labels["杳"] = labels["杲"]
    assert contrasting(labels, table) == set()


def test_slices(table, chars):
    labels = {char: known for char, known in look_up(chars, table).items()}
    tiers = {char: 1 + i % 4 for i, char in enumerate(chars)}
    known = set(chars[::2])
    subject = make_subject(labels, tiers, known, table)
    assert set(subject.splits) == {"IID", "long-tail", "compositional"}
    assert len({len(split.train) for split in subject.splits.values()}) == 1
    for name, split in subject.splits.items():
        slices = subject.slices[name]
        assert slices[TEST] == split.test
        assert slices[OOV] == tuple(c for c in split.test if c not in known)
        assert set().union(*(slices.get(tier, ()) for tier in TIERS)) == set(split.test)
        assert all(tiers[c] == 3 for c in slices.get("tier 3", ()))
        assert all(tiers[c] == 4 for c in slices.get("no tier", ()))
        assert set(slices.get(CONTRASTING, ())) <= set(slices[OOV])
        assert DISAGREEING not in slices
    assert set(make_subject(labels, {}, known, table).splits) == {"IID", "compositional"}


def test_a_changed_label_is_another_subject(table, chars):
    labels = look_up(chars, table)
    first, same = (make_subject(labels, {}, set(), table) for _ in range(2))
    assert first.checksum("IID") == same.checksum("IID") != first.checksum("compositional")
    char = first.splits["IID"].train[0]
    other = make_subject(labels | {char: Labels(layout=5)}, {}, set(), table)
    assert other.checksum("IID") != first.checksum("IID")
