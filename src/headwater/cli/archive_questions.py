"""``headwater archive roots`` and others: questions over the tables of an archive by Spark, and their options."""

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwater.cli.archive_session import session
from headwater.cli.output import note, print_lines, table
from headwater.policies.tag_file import read_tag_file

if TYPE_CHECKING:
    from headwater.archive import Archive


TableFormat = Literal["delta", "iceberg", "parquet"]

Into = Annotated[
    str,
    typer.Option("--into", metavar="PATH|CATALOG.NAMESPACE", help="The tables: a folder, or a namespace of Iceberg."),
]
Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DIR|PATTERN|kafka://HOST:PORT/TOPIC",
        help="Lines of JSON, also .gz and .zst, or Parquet; on any file system of Hadoop.",
    ),
]
Format = Annotated[
    TableFormat | None,
    typer.Option("--format", help="The format of the tables; else the present one, else Delta where Spark has it."),
]
Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; repeat for more.")
]


def read_tables(into: str, format: TableFormat | None, conf: list[str] | None) -> "Archive":
    """Return the tables of an archive."""
    spark = session(conf, into)
    from headwater.archive import read

    return read(spark, into, format=format)


if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]
_PRINTED = 1_000
_Name = Annotated[
    str, typer.Argument(metavar="DATASET[.COLUMN]", help="The name, or an ending of it that no other dataset has.")
]
_At = Annotated[
    datetime | None,
    typer.Option(
        "--at", "--as-of", metavar="TIME", help="The lineage of a moment, in UTC; now without it.", formats=_TIMES
    ),
]
_Write = Annotated[
    str | None, typer.Option("--write", metavar="PATH", help="Write the answer there as Parquet, however long it is.")
]


def roots(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    into: Into,
    name: Annotated[str, typer.Argument(metavar="[DATASET[.COLUMN]]", help="As for the other commands.")] = "",
    every: Annotated[bool, typer.Option("--all", help="The roots of every column.")] = False,
    at: _At = None,
    write: _Write = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """List the root input columns of a column, of the columns of a dataset, or of every column."""
    from headwater.archive import column_roots, find_fields, roots

    if bool(name) is every:
        raise typer.BadParameter("Expected either DATASET[.COLUMN] or --all.")
    archive = read_tables(into, format, conf)
    found = (
        roots(archive, find_fields(archive, name), at and _utc(at)) if name else column_roots(archive, at and _utc(at))
    )
    _answer(found, write)


def impact(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    name: _Name,
    into: Into,
    at: _At = None,
    write: _Write = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """List every column that depends on a column, or on the columns of a dataset."""
    from headwater.archive import find_fields, impact

    archive = read_tables(into, format, conf)
    _answer(impact(archive, find_fields(archive, name), at and _utc(at)), write)


def tags(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A file of tags, with breakers, as for `headwater tag`.")
    ],
    into: Into,
    influence: Annotated[bool, typer.Option("--influence", help="Also over INDIRECT edges, shown apart.")] = False,
    at: _At = None,
    write: _Write = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """List the columns at which the tags of a file arrive: by value, masked, or by influence."""
    from headwater.archive import file_flow

    declared = read_tag_file(file)
    archive = read_tables(into, format, conf)
    _answer(file_flow(archive, declared, influence=influence, at=at and _utc(at)), write)


def paths(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    one: Annotated[str, typer.Argument(metavar="FROM", help="A column: its name, or an ending that no other has.")],
    other: Annotated[str, typer.Argument(metavar="TO", help="Another column.")],
    into: Into,
    at: _At = None,
    write: _Write = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """Show a shortest path between two columns, in the direction of the data: the edges of each step."""
    from headwater.archive import find_fields, paths

    archive = read_tables(into, format, conf)
    _answer(paths(archive, find_fields(archive, one), find_fields(archive, other), at and _utc(at)), write)


def cycles(
    into: Into,
    at: _At = None,
    write: _Write = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """List the columns that are made from one another, by components."""
    from headwater.archive import cycles

    _answer(cycles(read_tables(into, format, conf), at and _utc(at)), write)


def diff(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    since: Annotated[datetime, typer.Argument(metavar="TIME", help="The earlier moment, in UTC.", formats=_TIMES)],
    into: Into,
    at: _At = None,
    write: _Write = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """List the edges that were added and removed between a moment and now, or that of --at."""
    from headwater.archive import changes

    _answer(changes(read_tables(into, format, conf), _utc(since), at and _utc(at)), write)


def _answer(rows: "DataFrame", write: str | None) -> None:
    """Print the first thousand rows, or write all of them."""
    if write is not None:
        rows.write.parquet(write)
        note(f"The answer is in {write}.")
        return
    found = rows.take(_PRINTED + 1)
    print_lines(table(rows.columns, [[_cell(value) for value in row] for row in found[:_PRINTED]]))
    if len(found) > _PRINTED:
        note(f"There are more rows than the {_PRINTED:,} printed: --write PATH writes all.")


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
