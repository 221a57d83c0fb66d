"""The canonical choice: rules one by one, and properties over random files."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import ARITY, OPERATORS, Entry, build_table, depth, parse_ids
from spacy_cnm.ids.canonical import choose_trees
from spacy_cnm.ids.compiler import compile_trees
from spacy_cnm.ids.options import Options
from spacy_cnm.ids.table import StructureTable

from .conftest import BABELSTONE, babelstone


def choose(candidates: dict[str, list[str]], **options) -> dict[str, str]:
    """Chosen sequences by character."""
    entries = [Entry(char, tuple(texts), i) for i, (char, texts) in enumerate(candidates.items())]
    choice = choose_trees(entries, Options(**options))
    table = StructureTable(compile_trees(choice.forest, choice.roots))
    return {char: str(table.tree(char)) for char in table}


# --- rules -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidates", "winner"),
    [
        (["⿰a⿱bc", "⿳abc"], "⿳abc"),  # depth before everything
        (["⿲abc", "⿰a⿱bc"], "⿲abc"),
        (["⿸ab", "⿰ab"], "⿰ab"),  # ⿰ and ⿱ before other operators
        (["⿰⿰ab⿰cd", "⿰a⿰bc"], "⿰a⿰bc"),  # fewer nodes
        (["⿱ab", "⿰ab"], "⿰ab"),  # operators by code point
        (["⿱a⿰bc", "⿰a⿱bc"], "⿱a⿰bc"),  # ... in post-order: ⿰⿱ before ⿱⿰
        (["⿰ba", "⿰ab"], "⿰ba"),  # a tie: first in the file
        (["X", "⿻⿱abc"], "⿻⿱abc"),  # the character itself only where nothing else is left
        (["X"], "X"),
    ],
)
def test_order_of_preference(candidates, winner):
    assert choose({"X": candidates})["X"] == winner


def test_frequent_components_stay_leaves():
    rows = {"Y": ["⿰ab"], "A": ["⿱Yc"], "B": ["⿱Yd"], "Z": ["⿱Ye"]}
    assert choose(rows)["A"] == "⿱Yc"
    assert choose(rows, min_count=4)["A"] == "⿱⿰abc"
    del rows["Z"]
    assert choose(rows)["A"] == "⿱⿰abc"
    assert choose(rows, atomic="Y")["A"] == "⿱Yc"
    assert choose(rows, min_count=1, non_atomic="Y")["A"] == "⿱⿰abc"


def test_a_component_counts_once_per_character_over_all_candidates():
    rows = {"Y": ["⿰ab"], "A": ["⿱YY", "⿰YY"], "B": ["⿱ad", "⿻Yd"]}
    assert choose(rows, min_count=3)["A"] == "⿰⿰ab⿰ab"
    assert choose(rows, min_count=2)["A"] == "⿰YY"


def test_aliases():
    rows = {"X": ["Y"], "Y": ["⿰ab"], "Z": ["q"], "W": ["⿱Zc"]}
    chosen = choose(rows)
    assert chosen["X"] == "⿰ab"
    assert chosen["Z"] == "q"
    assert chosen["W"] == "⿱Zc"  # a tree of depth 0 replaces nothing
    assert choose(rows, atomic="Y")["X"] == "Y"


def test_cycles_end_at_a_leaf():
    assert choose({"A": ["⿱Bc"], "B": ["⿰Ad"]}) == {"A": "⿱Bc", "B": "⿰Ad"}
    # behind the cycle everything is resolved as usual
    rows = {"A": ["⿱Bc"], "B": ["⿰Ad"], "C": ["⿱Ae"], "D": ["⿰Cf"]}
    assert choose(rows)["D"] == "⿰⿱⿱Bcef"
    # a way out of the cycle is taken, although the candidates through it look smaller
    rows = {"A": ["⿱Bc", "⿱a⿱b⿱cd"], "B": ["⿰Ad"]}
    assert choose(rows) == {"A": "⿱a⿱b⿱cd", "B": "⿰⿱a⿱b⿱cdd"}
    assert choose({"A": ["B"], "B": ["A"]}) == {"A": "B", "B": "A"}


def test_too_deep_trees_are_dropped():
    rows = {"A": ["⿱ab"], "B": ["⿱Ac"], "C": ["⿱Bd", "⿱e⿱f⿱g⿱hi"], "D": ["⿱Ce"]}
    assert choose(rows, max_depth=3)["C"] == "⿱⿱⿱abcd"
    assert choose(rows, max_depth=2) == {"A": "⿱ab", "B": "⿱⿱abc"}
    assert choose(rows, max_depth=1) == {"A": "⿱ab"}


def test_self_leaves():
    rows = {"A": ["⿱Yc"], "Y": [], "N": []}
    assert choose(rows) == {"A": "⿱Yc", "Y": "Y"}
    assert choose(rows, self_leaf=False) == {"A": "⿱Yc"}


def test_options_are_checked():
    for wrong in ({"min_count": 0}, {"max_depth": 0}, {"max_depth": 13}, {"atomic": "⿰"}):
        with pytest.raises(CNMError):
            Options(**wrong)
    with pytest.raises(CNMError, match="日 cannot be both"):
        Options(atomic="日木", non_atomic="口日")


# --- the paper's figures ------------------------------------------------------------------------


def test_figure_1(write):
    """辯 in the paper's figure 1: 辛 and 言 are resolved, 立 and the others are not."""
    path = write(babelstone(BABELSTONE))
    options = {"atomic": "立十亠二口", "non_atomic": "辛言"}
    assert str(build_table(path, **options).tree("辯")) == "⿲⿱立十⿳亠二口⿱立十"
    assert str(build_table(path, atomic="辛言").tree("辯")) == "⿲辛言辛"


def test_mirror_pair(small):
    """杲 and 杳 share their components and differ in their trees."""
    table = build_table(small)
    assert str(table.tree("杲")) == "⿱日木"
    assert str(table.tree("杳")) == "⿱木日"
    assert sorted(table.leaves("杲")) == sorted(table.leaves("杳"))
    assert table["杲"] != table["杳"]


# --- properties ---------------------------------------------------------------------------------

CHARACTERS = "ABCDEFGH"
COMPONENTS = CHARACTERS + "abc"


@st.composite
def sequences(draw, parts: str, levels: int = 2) -> str:
    if levels == 0 or draw(st.booleans()):
        return draw(st.sampled_from(parts))
    operator = draw(st.sampled_from("⿰⿱⿲⿻"))
    return operator + "".join(draw(sequences(parts, levels - 1)) for _ in range(ARITY[operator]))


@st.composite
def files(draw, acyclic: bool = False) -> dict[str, list[str]]:
    rows = {}
    for i, char in enumerate(CHARACTERS):
        parts = CHARACTERS[:i] + "abc" if acyclic else COMPONENTS.replace(char, "")
        rows[char] = draw(st.lists(sequences(parts), max_size=3, unique=True))
    return rows


def by_definition(rows: dict[str, list[str]], min_count: int, max_depth: int) -> dict[str, str]:
    """The rules written down as they read, for files without cycles."""
    counts = Counter(
        part
        for texts in rows.values()
        for part in {c for text in texts if len(text) > 1 for c in text if c not in OPERATORS}
    )
    chosen: dict[str, str] = {}

    def resolve(char: str) -> str:
        own = chosen.get(char, char)
        return own if counts[char] < min_count and len(own) > 1 else char

    for char, texts in rows.items():  # a character uses earlier ones only
        full = ["".join(map(resolve, text)) for text in texts]

        def rank(text: str) -> tuple[int, bool, int, str]:
            tree = parse_ids(text)
            order = post_order(tree)
            return depth(tree), bool(set(order) - set("⿰⿱")), len(text), order

        if full:
            chosen[char] = min(full, key=rank)
    return {char: text for char, text in chosen.items() if depth(parse_ids(text)) <= max_depth}


def post_order(tree) -> str:
    children = getattr(tree, "children", ())
    return "".join(map(post_order, children)) + getattr(tree, "operator", "")


@given(files(acyclic=True), st.integers(1, 5), st.integers(1, 6))
def test_the_choice_agrees_with_its_definition(rows, min_count, max_depth):
    options = {"min_count": min_count, "max_depth": max_depth, "self_leaf": False}
    chosen = choose(rows, **options)
    expected = by_definition(rows, min_count, max_depth)
    assert {char: ranked(text) for char, text in chosen.items()} == {
        char: ranked(text) for char, text in expected.items()
    }


def ranked(text: str) -> tuple[int, int, str]:
    tree = parse_ids(text)
    return depth(tree), len(text), post_order(tree)


@given(files(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_choice_does_not_depend_on_order(rows, min_count, random):
    """Order of entries never matters; order of candidates only for candidates of equal rank."""
    shuffled = {char: list(rows[char]) for char in random.sample(CHARACTERS, len(CHARACTERS))}
    assert choose(shuffled, min_count=min_count) == choose(rows, min_count=min_count)
    for texts in shuffled.values():
        random.shuffle(texts)
    if all(len({ranked(text) for text in texts}) == len(texts) for texts in rows.values()):
        # with everything atomic the ranks are those of the candidates as they stand in the file
        assert choose(shuffled, atomic=COMPONENTS) == choose(rows, atomic=COMPONENTS)


@settings(max_examples=200)
@given(files(), st.integers(1, 5), st.integers(1, 6), st.booleans())
def test_chosen_trees_are_sound(rows, min_count, max_depth, self_leaf):
    entries = [Entry(char, tuple(texts), i) for i, (char, texts) in enumerate(rows.items())]
    choice = choose_trees(entries, Options(min_count, max_depth, self_leaf))
    table = StructureTable(compile_trees(choice.forest, choice.roots))
    assert table.arrays.fault() == ""
    assert set(table) == set(choice.roots)
    assert set(table).isdisjoint(choice.too_deep - choice.self_leaves)
    for char in table:
        assert depth(table.tree(char)) <= max_depth
        assert set(table.leaves(char)) <= set(table.components)
    used = {leaf for char in table for leaf in table.leaves(char)}
    assert used == set(table.components)
    with_candidates = {char for char, texts in rows.items() if texts}
    assert with_candidates <= set(table) | choice.too_deep
    if self_leaf:
        assert used & set(rows) <= set(table)
