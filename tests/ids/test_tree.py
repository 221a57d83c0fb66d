"""Parser and printer of sequences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_cnm.errors import CNMError
from spacy_cnm.ids import ARITY, OPERATORS, Leaf, Node, depth, leaves, parse_ids, walk

COMPONENTS = "日木言辛立十亠二口㇒⺊𰀆\U000319ff"


def trees(components: str = COMPONENTS) -> st.SearchStrategy:
    def nodes(children: st.SearchStrategy) -> st.SearchStrategy:
        return st.sampled_from(OPERATORS).flatmap(
            lambda operator: st.tuples(*[children] * ARITY[operator]).map(
                lambda parts: Node(operator, parts)
            )
        )

    return st.recursive(st.sampled_from(components).map(Leaf), nodes, max_leaves=30)


@given(trees())
def test_parse_is_the_inverse_of_print(tree):
    assert parse_ids(str(tree)) == tree
    assert str(parse_ids(str(tree))) == str(tree)


@given(st.text(alphabet=OPERATORS + COMPONENTS, max_size=12))
def test_print_is_the_inverse_of_parse_wherever_parse_succeeds(sequence):
    try:
        tree = parse_ids(sequence)
    except CNMError:
        return
    assert str(tree) == sequence
    assert leaves(tree) == tuple(char for char in sequence if char not in OPERATORS)
    assert len(list(walk(tree))) == len(sequence)


def test_operands_keep_their_places():
    tree = parse_ids("⿲⿱立十⿳亠二口辛")
    assert tree == Node(
        "⿲",
        (
            Node("⿱", (Leaf("立"), Leaf("十"))),
            Node("⿳", (Leaf("亠"), Leaf("二"), Leaf("口"))),
            Leaf("辛"),
        ),
    )
    assert depth(tree) == 2
    assert depth(Leaf("辛")) == 0
    assert repr(tree) == "parse_ids('⿲⿱立十⿳亠二口辛')"
    assert tree != parse_ids("⿱立十")
    assert tree != Leaf("立")
    assert len({tree, parse_ids(str(tree))}) == 1


def test_figure_pair_differs_only_in_order():
    """The paper's example: 杲 and 杳 have the same components in different places."""
    bright, dark = parse_ids("⿱日木"), parse_ids("⿱木日")
    assert bright != dark
    assert sorted(leaves(bright)) == sorted(leaves(dark))


@pytest.mark.parametrize(
    ("sequence", "what"),
    [
        ("", "0 trees"),
        ("⿰", "operand of ⿰ is missing"),
        ("⿲日木", "operand of ⿲ is missing"),
        ("日木", "2 trees"),
        ("⿰日木口", "2 trees"),
        ("⿾日", "not a component"),
        ("〾⿰日木", "not a component"),
        ("⿰日 ", "not a component"),
        ("⿰日\0", "not a component"),
        ("⿰日\ud800", "not a component"),
    ],
)
def test_bad_sequences(sequence, what):
    with pytest.raises(CNMError, match=what):
        parse_ids(sequence)


def test_long_sequences_are_cut_in_messages():
    with pytest.raises(CNMError) as caught:
        parse_ids("日" * 100_000)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("build", [lambda: Leaf("日木"), lambda: Leaf("⿰"), lambda: Leaf("")])
def test_bad_leaves(build):
    with pytest.raises(CNMError):
        build()


@pytest.mark.parametrize(("operator", "n"), [("⿰", 3), ("⿲", 2), ("日", 2), ("⿾", 1), ("", 2)])
def test_bad_nodes(operator, n):
    with pytest.raises(CNMError):
        Node(operator, (Leaf("日"),) * n)


@pytest.mark.parametrize("left", [True, False])
def test_a_hundred_thousand_nested_operators(left):
    n = 100_000
    sequence = "⿰" * n + "日" * (n + 1) if left else "⿰日" * n + "日"
    tree = parse_ids(sequence)
    assert str(tree) == sequence
    assert tree == parse_ids(sequence)
    assert hash(tree) == hash(parse_ids(sequence))
    assert depth(tree) == n
    assert len(leaves(tree)) == n + 1
