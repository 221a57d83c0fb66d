"""Characters that stand for others: rare, of the same main component, always the same."""

from spacy_cnm.ids import Node, StructureTable
from spacy_cnm.stress.substitutes import Substitutes

COMMON = set("湖海河江红芳伟明王天国北京上")


def lacks(char: str) -> bool:
    return char not in COMMON


def test_same_main_component(table: StructureTable) -> None:
    substitutes = Substitutes(lacks, table)
    for char, part in (("湖", "氵"), ("海", "氵"), ("芳", "艹"), ("伟", "亻"), ("红", "纟")):
        found = substitutes.find(char, "a")
        assert found is not None
        other, alike = found
        tree = table.tree(other)
        assert alike
        assert other not in COMMON
        assert isinstance(tree, Node)
        assert part in [str(child) for child in tree.children]


def test_a_part_itself_becomes_something_with_it() -> None:
    substitutes = Substitutes(lambda char: True, allowed="䶮珎湖")
    # 䶮 is ⿱龙天: it has 天, which has no parts of its own here.
    assert substitutes.find("龙", "x") == ("䶮", True)
    other = substitutes.find("〇", "x")
    assert other is not None
    assert other[0] in "䶮珎湖"
    assert not other[1]


def test_the_key_decides_and_nothing_else() -> None:
    substitutes = Substitutes(lacks)
    again = Substitutes(lacks)
    found = {key: substitutes.find("湖", key) for key in map(str, range(50))}
    assert found == {key: again.find("湖", key) for key in found}
    assert len(set(found.values())) > 20


def test_never_the_character_itself_and_none_where_none_is_left() -> None:
    assert Substitutes(lambda char: True, allowed="湖").find("湖", "x") is None
    assert Substitutes(lambda char: False).find("湖", "x") is None
    assert Substitutes(lambda char: True, allowed="湖海").find("湖", "x") == ("海", True)
