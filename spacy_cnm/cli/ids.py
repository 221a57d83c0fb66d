"""`spacy-cnm ids`: build, show and count tables of canonical trees."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spacy_cnm.errors import CNMError, Errors
from spacy_cnm.files import atomic_path, check_outputs

if TYPE_CHECKING:
    from spacy_cnm.ids import StructureTable

app = typer.Typer(help="Tables of character structure.", no_args_is_help=True)

Table = Annotated[
    Path | None, typer.Option("--table", "-t", help="Table file; default: the shipped table.")
]


@app.command()
def build(
    source: Annotated[Path, typer.Argument(help="BabelStone IDS.TXT, or a CHISE / cjkvi file.")],
    out: Annotated[Path, typer.Argument(help="Table file to write.")],
    format: Annotated[str, typer.Option(help="auto, babelstone or chise.")] = "auto",
    lenient: Annotated[
        bool, typer.Option("--lenient", help="Leave damaged lines out and report them.")
    ] = False,
    min_count: Annotated[
        int, typer.Option(help="A component in at least so many characters stays a leaf.")
    ] = 3,
    max_depth: Annotated[int, typer.Option(help="Drop trees with more levels.")] = 6,
    self_leaf: Annotated[
        bool, typer.Option(help="Make components without a tree their own leaf.")
    ] = True,
    atomic: Annotated[str, typer.Option(help="Characters that stay leaves.")] = "",
    non_atomic: Annotated[str, typer.Option(help="Characters that are resolved.")] = "",
) -> None:
    """Build a table from a file of sequences."""
    from spacy_cnm.ids import build_table
    from spacy_cnm.ids.statistics import describe

    check_outputs([source], files=[out])
    table = build_table(
        source,
        format=format,
        min_count=min_count,
        max_depth=max_depth,
        self_leaf=self_leaf,
        atomic=atomic,
        non_atomic=non_atomic,
        lenient=lenient,
    )
    table.save(out)
    typer.echo(describe(table))


@app.command()
def show(
    characters: Annotated[str, typer.Argument(help="One or more characters.")],
    table: Table = None,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the tree of a single character into this file.")
    ] = None,
    context: Annotated[
        str | None,
        typer.Option(
            help="Draw its place in BERT too: a short text with the character, which is taken to "
            "be outside of BERT's vocabulary."
        ),
    ] = None,
) -> None:
    """Print the sequence and the tree of characters."""
    from spacy_cnm.ids.svg import draw_svg
    from spacy_cnm.ids.svg_fusion import draw_fusion_svg
    from spacy_cnm.ids.text import code_point, draw_text

    if not characters:
        raise CNMError(Errors.E423)
    if svg is not None:
        check_outputs([table] if table else [], files=[svg])
    loaded = _load(table)
    if svg is not None and len(characters) != 1:
        raise CNMError(Errors.E016.format(n=len(characters)))
    if svg is None and context is not None:
        raise CNMError(Errors.E019)
    trees = [(char, loaded.tree(char)) for char in characters]
    if svg is not None:
        char, tree = trees[0]
        picture = draw_svg(char, tree) if context is None else draw_fusion_svg(char, tree, context)
        with atomic_path(svg) as temporary:
            temporary.write_text(picture, encoding="utf-8")
    blocks = [f"{char}  {code_point(char)}  {tree}\n\n{draw_text(tree)}" for char, tree in trees]
    typer.echo("\n\n".join(blocks))


@app.command()
def stats(table: Table = None) -> None:
    """Print the counts of a table."""
    from spacy_cnm.ids.statistics import describe

    typer.echo(describe(_load(table)))


def _load(path: Path | None) -> "StructureTable":
    from spacy_cnm.ids import StructureTable

    return StructureTable.default() if path is None else StructureTable.load(path)
