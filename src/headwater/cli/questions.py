"""The commands that follow lineage: roots, show, impact, path."""

from collections.abc import Iterable
from typing import Annotated

import typer
from rich.text import Text

from headwater.answers import documents, spreadsheets
from headwater.answers.drawings import DRAWINGS, arrows_of
from headwater.answers.spreadsheets import csv_lines
from headwater.cli.options import DepthOption, FormatOption, GuessOption, NestedOption, StoreOption, TypeOption, reading
from headwater.cli.output import Format, json_lines, note, print_lines, tree_lines
from headwater.cli.trees import impact_tree, paths_tree, roots_tree
from headwater.cli.walktree import walk_tree
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
_HELP = "Any ending of the name that only one has."
_ColumnName = Annotated[str, typer.Argument(metavar="DATASET.COLUMN", help=_HELP)]
_Name = Annotated[str, typer.Argument(metavar="DATASET[.COLUMN]", help=_HELP)]


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
    _print(_roots_lines(answer, format_, guess), answer.truncated)


def show(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    name: _Name,
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
    _print(_graph_lines(answer, format_, guess), answer.truncated)


def impact(
    name: _Name,
    guess: GuessOption = False,
    nested: NestedOption = False,
    store: StoreOption = None,
    format_: FormatOption = Format.TREE,
) -> None:
    """List all columns that depend on a column or a dataset, by dataset."""
    with reading(store) as opened:
        if format_ in (Format.MERMAID, Format.DOT):
            graph = walk_from(opened, name, Direction.DOWN, Bounds(guess=guess, nested=nested))
            _print(_graph_lines(graph, format_, guess), graph.truncated)
            return
        answer = impact_of(opened, name, Bounds(guess=guess, nested=nested))
    _print(_impact_lines(answer, format_, guess), answer.truncated)


def path(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    one: Annotated[str, typer.Argument(metavar="A", help="A column: any ending of its name that only one has.")],
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
    _print(_paths_lines(answer, format_, guess), answer.truncated)


def _print(lines: Iterable[Text | str], truncated: tuple[str, ...]) -> None:
    print_lines(lines)
    if truncated:
        note(f"The answer was cut by {' and '.join(_CUTS[limit] for limit in truncated)}.")


def _roots_lines(answer: Roots, format_: Format, guess: bool) -> Iterable[Text | str]:
    match format_:
        case Format.TREE:
            return tree_lines(roots_tree(answer))
        case Format.JSON:
            return json_lines(documents.of_roots(answer))
        case Format.CSV:
            return csv_lines(*spreadsheets.roots_sheet(answer, guess=guess))
        case _:
            return _drawn(answer, format_)


def _graph_lines(answer: Graph, format_: Format, guess: bool) -> Iterable[Text | str]:
    match format_:
        case Format.TREE:
            return tree_lines(walk_tree(answer))
        case Format.JSON:
            return json_lines(documents.of_graph(answer))
        case Format.CSV:
            return csv_lines(*spreadsheets.graph_sheet(answer, guess=guess))
        case _:
            return _drawn(answer, format_)


def _impact_lines(answer: Impact, format_: Format, guess: bool) -> Iterable[Text | str]:
    match format_:
        case Format.JSON:
            return json_lines(documents.of_impact(answer))
        case Format.CSV:
            return csv_lines(*spreadsheets.impact_sheet(answer, guess=guess))
        case _:
            return tree_lines(impact_tree(answer))


def _paths_lines(answer: Paths, format_: Format, guess: bool) -> Iterable[Text | str]:
    match format_:
        case Format.TREE:
            return tree_lines(paths_tree(answer))
        case Format.JSON:
            return json_lines(documents.of_paths(answer))
        case Format.CSV:
            return csv_lines(*spreadsheets.paths_sheet(answer, guess=guess))
        case _:
            return _drawn(answer, format_)


def _drawn(answer: Roots | Graph | Paths, format_: Format) -> Iterable[str]:
    return DRAWINGS[format_.value](arrows_of(answer))
