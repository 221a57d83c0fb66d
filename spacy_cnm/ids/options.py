"""Options of the canonical choice."""

from dataclasses import asdict, dataclass

from spacy_cnm.errors import CNMError, Errors

from .tree import is_component, shorten

#: Deepest `max_depth` on offer. A full ternary tree of this depth has 800,000 nodes.
DEEPEST = 12


@dataclass(frozen=True)
class Options:
    """Thresholds and exceptions of the canonical choice (docs/ids.md).

    min_count (int): a component in the candidates of at least so many characters stays a leaf.
    max_depth (int): a tree with more levels of operators is dropped, 1 to `DEEPEST`.
    self_leaf (bool): a character without a tree that is a leaf elsewhere becomes its own leaf; off,
        it maps to the unknown row as in the paper.
    atomic (str): characters that stay leaves whatever their count.
    non_atomic (str): characters that are resolved whatever their count.
    """

    min_count: int = 3
    max_depth: int = 6
    self_leaf: bool = True
    atomic: str = ""
    non_atomic: str = ""

    def __post_init__(self) -> None:
        if self.min_count < 1:
            raise CNMError(Errors.E007.format(name="min_count", value=self.min_count, low=1))
        if not 1 <= self.max_depth <= DEEPEST:
            raise CNMError(Errors.E008.format(value=self.max_depth, high=DEEPEST))
        for char in self.atomic + self.non_atomic:
            if not is_component(char):
                raise CNMError(Errors.E001.format(text=shorten(char)))
        if both := set(self.atomic) & set(self.non_atomic):
            raise CNMError(Errors.E009.format(chars="".join(sorted(both))))

    def as_dict(self) -> dict[str, object]:
        """Plain data for JSON; the sets of characters without repeats, sorted."""
        plain = asdict(self)
        for name in ("atomic", "non_atomic"):
            plain[name] = "".join(sorted(set(plain[name])))
        return plain
