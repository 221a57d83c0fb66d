"""Splits: nothing that is asked about is learned from."""

from itertools import combinations
from pathlib import Path

import pytest

from spacy_cnm.errors import CNMError
from spacy_cnm.probing.labels import Labels, read_labels
from spacy_cnm.probing.splits import (
    Split,
    compositional,
    iid,
    long_tail,
    of_one_size,
    outside,
    read_tiers,
)

CHARS = [chr(0x4E00 + i) for i in range(1000)]
PARTS = "一口日木水火土金山石田目"
#: Each character has two or three parts.
LABELS = {
    char: Labels(components=frozenset(PARTS[i % n] for n in (5, 7, 12)))
    for i, char in enumerate(CHARS)
}


def assert_disjoint(split: Split) -> None:
    parts = [split.train, split.dev, split.test]
    assert all(len(set(part)) == len(part) > 0 for part in parts)
    assert all(not set(a) & set(b) for a, b in combinations(parts, 2))


def test_iid():
    split = iid(CHARS)
    assert_disjoint(split)
    assert [len(split.train), len(split.dev), len(split.test)] == [700, 100, 200]
    assert iid(reversed(CHARS)) == split
    # A character stays where it is when others come: the order is by each one's own hash.
    assert [c for c in iid(CHARS[:500]).test if c in iid(CHARS).train] != list(
        iid(CHARS[:500]).test
    )


def test_long_tail_asks_about_what_is_rare():
    tiers = {char: 1 + i % 3 for i, char in enumerate(CHARS[:900])}
    split = long_tail(CHARS, tiers)
    assert_disjoint(split)
    assert all(tiers[char] <= 2 for char in (*split.train, *split.dev))
    assert set(split.test) == {char for char in CHARS if tiers.get(char, 3) == 3}


def test_compositional_shares_no_pair():
    split = compositional(LABELS, size=20)
    assert_disjoint(split)

    def pairs(chars):
        return {pair for c in chars for pair in combinations(sorted(LABELS[c].components or ()), 2)}

    assert not pairs(split.test) & pairs((*split.train, *split.dev))
    assert len(split.test) == 20


def test_of_one_size():
    a = Split("a", tuple("一二三四"), (), ("九",))
    b = Split("b", tuple("五六"), ("七",), ("八",))
    empty = Split("none", (), (), ())
    assert of_one_size([a, b, empty]) == [Split("a", ("一", "二"), (), ("九",)), b]
    assert of_one_size([empty]) == []


def test_a_character_in_two_parts_is_an_error():
    with pytest.raises(CNMError, match="一 are in two parts"):
        Split("x", ("一", "二"), ("三",), ("一",))


def test_outside():
    assert outside("一䶮二𬭸", {"一", "二", "[UNK]"}) == ("䶮", "𬭸")


def test_tiers(tmp_path: Path):
    path = tmp_path / "tiers.tsv"
    path.write_text("char\tlevel\n一\t1\n赟\t3\n", "utf-8")
    assert read_tiers(path) == {"一": 1, "赟": 3}
    path.write_text("一\t1\n赟\t3\n", "utf-8")
    assert read_tiers(path) == {"一": 1, "赟": 3}
    for row in ("一二\t1", "一", "一\tx"):
        path.write_text(f"char\tlevel\n{row}\n", "utf-8")
        with pytest.raises(CNMError, match="line 2"):
            read_tiers(path)


def test_real_labels(shared: Path):
    labels = read_labels(shared / "corpora" / "probe")
    tiers = read_tiers(shared / "corpora" / "freq" / "tongyong_guifan_2013.tsv")
    for split in (iid(labels), long_tail(labels, tiers), compositional(labels)):
        assert_disjoint(split)
        assert len(split.test) >= 1500
