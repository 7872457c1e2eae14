"""The commands that follow lineage: roots, show, impact, path."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from headwater.answers import documents, spreadsheets
from headwater.answers.documents import Document
from headwater.answers.drawings import DRAWINGS, arrows_of
from headwater.answers.spreadsheets import Sheet, csv_lines
from headwater.cli.options import (
    NAME_HELP,
    DepthOption,
    FormatOption,
    GuessOption,
    NameArgument,
    NestedOption,
    StoreOption,
    TypeOption,
    reading,
)
from headwater.cli.output import Branch, Format, json_lines, note, print_lines, tree_lines
from headwater.cli.trees import impact_tree, paths_tree, roots_tree, walk_tree
from headwater.store.questions import (
    UNBOUNDED,
    Bounds,
    Direction,
    Graph,
    Impact,
    Paths,
    Roots,
    impact_of,
    paths_between,
    roots_of,
    walk_from,
)

_CUTS = {
    "depth": "--depth",
    "columns": f"the limit of {UNBOUNDED.columns:,} columns",
    "time": f"the limit of {UNBOUNDED.seconds:g} seconds",
    "paths": "the limit on paths to try",
    "nested": "the limit on events that are read for fields within columns",
}
Answer = Roots | Graph | Impact | Paths
_FORMS: dict[type, tuple[Callable[[Any], Branch], Callable[[Any], Document], Callable[..., Sheet]]] = {
    Roots: (roots_tree, documents.of_roots, spreadsheets.roots_sheet),
    Graph: (walk_tree, documents.of_graph, spreadsheets.graph_sheet),
    Impact: (impact_tree, documents.of_impact, spreadsheets.impact_sheet),
    Paths: (paths_tree, documents.of_paths, spreadsheets.paths_sheet),
}
"""The tree, the document and the sheet of each answer."""

_ColumnName = Annotated[str, typer.Argument(metavar="DATASET.COLUMN", help=NAME_HELP)]


def roots(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    column: _ColumnName,
    type_: TypeOption = None,
    guess: GuessOption = False,
    nested: NestedOption = False,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """List the root input columns of a column, and how each takes part."""
    with reading(store) as opened:
        answer = roots_of(opened, column, Bounds(edge_type=type_, guess=guess, nested=nested))
    _print(answer, format_, guess)


def show(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    name: NameArgument,
    up: Annotated[bool, typer.Option("--up/--down", help="Towards its sources, or towards its dependents.")] = True,
    depth: DepthOption = None,
    type_: TypeOption = None,
    guess: GuessOption = False,
    nested: NestedOption = False,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """Show step by step the columns before or after a column, or the columns of a dataset."""
    direction = Direction.UP if up else Direction.DOWN
    with reading(store) as opened:
        answer = walk_from(
            opened, name, direction, Bounds(edge_type=type_, depth=depth, guess=guess, nested=nested), ends=True
        )
    _print(answer, format_, guess)


def impact(
    name: NameArgument,
    guess: GuessOption = False,
    nested: NestedOption = False,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """List all columns that depend on a column or a dataset, by dataset."""
    with reading(store) as opened:
        drawn = format_ in (Format.MERMAID, Format.DOT)
        bounds = Bounds(guess=guess, nested=nested)
        answer = walk_from(opened, name, Direction.DOWN, bounds) if drawn else impact_of(opened, name, bounds)
    _print(answer, format_, guess)


def path(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    one: Annotated[str, typer.Argument(metavar="A", help="A column: its name, or an ending that no other has.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Another column.")],
    most: Annotated[int, typer.Option("--most", min=1, metavar="N", help="The largest number of paths.")] = 10,
    guess: GuessOption = False,
    nested: NestedOption = False,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """Show the paths between two columns, the shortest first, with the transformation and job of every step."""
    with reading(store) as opened:
        answer = paths_between(opened, one, other, most=most, bounds=Bounds(guess=guess, nested=nested))
    _print(answer, format_, guess)


def _print(answer: Answer, format_: Format, guess: bool) -> None:
    tree, document, sheet = _FORMS[type(answer)]
    match format_:
        case Format.TREE:
            print_lines(tree_lines(tree(answer)))
        case Format.JSON:
            print_lines(json_lines(document(answer)))
        case Format.CSV:
            print_lines(csv_lines(*sheet(answer, guess=guess)))
        case _:
            print_lines(DRAWINGS[format_.value](arrows_of(answer)))  # type: ignore[arg-type]
    if answer.truncated:
        note(f"The answer was cut by {' and '.join(_CUTS[limit] for limit in answer.truncated)}.")
