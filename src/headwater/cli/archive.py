"""``headwater archive``: archives of events into tables of lineage, with Spark."""

import re
from datetime import UTC, datetime
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from headwater.cli.exporting import export
from headwater.cli.options import StoreOption
from headwater.cli.output import note, print_lines, table
from headwater.cli.steps import from_time_to_time
from headwater.errors import ArchiveError
from headwater.store import open_store
from headwater.store.garbage import collect_seldom

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from headwater.archive import Archive

app = typer.Typer(no_args_is_help=True, help="Archives of events, too large for one machine, into tables; with Spark.")
app.command()(export)


class TableFormat(str, Enum):
    """What the tables are written as."""

    DELTA = "delta"
    ICEBERG = "iceberg"
    PARQUET = "parquet"


_Into = Annotated[
    str, typer.Option("--into", metavar="PATH|CATALOG.NAMESPACE", help="Where the tables are: a folder, or in Iceberg.")
]
_Source = Annotated[
    str,
    typer.Argument(
        metavar="FILE|DIR|PATTERN|kafka://HOST:PORT/TOPIC",
        help="Lines of JSON, also .gz and .zst, or Parquet; on any file system of Hadoop.",
    ),
]
_Format = Annotated[
    TableFormat | None,
    typer.Option("--format", help="What the tables are; otherwise as before, otherwise Delta where Spark has it."),
]
_Conf = Annotated[
    list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark; may be given repeatedly.")
]


_TIMES = ["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ"]
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}
_PRINTED = 1_000
_REJECTED = 10  # events of which it is said why
_Name = Annotated[
    str, typer.Argument(metavar="DATASET[.COLUMN]", help="Any ending of the name that fits only one dataset.")
]
_At = Annotated[
    datetime | None,
    typer.Option("--at", metavar="TIME", help="As of a moment, in UTC; now without it.", formats=_TIMES),
]
_Write = Annotated[
    str | None, typer.Option("--write", metavar="PATH", help="Write the answer there as Parquet, however long it is.")
]


@app.command()
def build(
    source: _Source,
    into: _Into,
    roots: Annotated[
        bool, typer.Option("--roots", help="Also write column_roots: each column with its roots.")
    ] = False,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """Make the tables of lineage of all events; what was built there before stays until that is done."""
    spark = _spark(conf)
    from headwater.archive import build as build_tables

    archive = build_tables(spark, source, into, format=format and format.value, roots=roots, tell=note)
    _summary(archive)


@app.command()
def update(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    source: _Source,
    into: _Into,
    follow: Annotated[
        str | None,
        typer.Option("--follow", metavar="30s|5m|1h", help="Go on until interrupted; look for what is new so often."),
    ] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            "--checkpoints",
            metavar="PATH",
            help="Where Spark remembers what it has seen; INTO/_checkpoints without it.",
        ),
    ] = None,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """Take in what is new since the last update; the first time, all there is."""
    interval = follow and _interval(follow)
    spark = _spark(conf)
    from headwater.archive import update as update_tables

    form = format and format.value
    _summary(update_tables(spark, source, into, format=form, follow=interval, checkpoints=checkpoints, tell=note))


def _interval(typed: str) -> str:
    found = re.fullmatch(r"(\d+)([smh])", typed)
    if found is None:
        raise typer.BadParameter(f"{typed!r} is no interval: expected such as 30s, 5m or 1h.")
    return f"{found[1]} {_UNITS[found[2]]}"


@app.command()
def roots(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    into: _Into,
    name: Annotated[str, typer.Argument(metavar="[DATASET[.COLUMN]]", help="As for the other commands.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Of every column, each with its roots.")] = False,
    at: _At = None,
    write: _Write = None,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """Which root input columns make a column, or the columns of a dataset; or each column of all."""
    from headwater.archive import column_roots, find_fields, roots

    if bool(name) is every:
        raise typer.BadParameter("Expected either DATASET[.COLUMN] or --all.")
    archive = _read(into, format, conf)
    if every:
        _answer(column_roots(archive, at and _utc(at)), write)
        return
    _answer(roots(archive, find_fields(archive, name), at and _utc(at)), write)


@app.command()
def impact(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    name: _Name,
    into: _Into,
    at: _At = None,
    write: _Write = None,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """Every column that depends on a column, or on the columns of a dataset."""
    from headwater.archive import find_fields, impact

    archive = _read(into, format, conf)
    _answer(impact(archive, find_fields(archive, name), at and _utc(at)), write)


@app.command()
def paths(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    one: Annotated[str, typer.Argument(metavar="FROM", help="A column, by any ending of its name that fits only one.")],
    other: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    into: _Into,
    at: _At = None,
    write: _Write = None,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """A shortest path from a column to another, or back when nothing flows that way: the edges of each step."""
    from headwater.archive import find_fields, paths

    archive = _read(into, format, conf)
    _answer(paths(archive, find_fields(archive, one), find_fields(archive, other), at and _utc(at)), write)


@app.command()
def cycles(
    into: _Into,
    at: _At = None,
    write: _Write = None,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """The columns that are made of one another, each with the circles that it is in as one component."""
    from headwater.archive import cycles

    _answer(cycles(_read(into, format, conf), at and _utc(at)), write)


@app.command()
def diff(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    since: Annotated[datetime, typer.Argument(metavar="TIME", help="The one moment, in UTC.", formats=_TIMES)],
    into: _Into,
    at: _At = None,
    write: _Write = None,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """The edges that came and went between two moments; the other one is now, or that of --at."""
    from headwater.archive import changes

    _answer(changes(_read(into, format, conf), _utc(since), at and _utc(at)), write)


@app.command()
def load(
    into: _Into,
    store: StoreOption = None,
    add: Annotated[bool, typer.Option("--add", help="Also into a store that holds other lineage.")] = False,
    format: _Format = None,
    conf: _Conf = None,
) -> None:
    """Tell a store all events of an archive that it does not have; what was interrupted goes on when it runs again."""
    archive = _read(into, format, conf)
    from headwater.archive import load as load_events

    collect_seldom()
    with open_store(store) as opened:
        done = load_events(archive, opened, add=add, progress=from_time_to_time("event"))
    print_lines([f"events: {done.added} added, {done.known} known already, {len(done.rejected)} rejected"])
    for reason in done.rejected[:_REJECTED]:
        note(reason)
    if done.rejected:
        raise typer.Exit(1)


def _read(into: str, format: TableFormat | None, conf: list[str] | None) -> "Archive":
    spark = _spark(conf)
    from headwater.archive import read

    return read(spark, into, format=format and format.value)


def _answer(rows: "DataFrame", write: str | None) -> None:
    """Prints the rows, the first thousand of them; or writes all of them."""
    if write is not None:
        rows.write.parquet(write)
        note(f"The answer is in {write}.")
        return
    found = rows.take(_PRINTED + 1)
    print_lines(table(rows.columns, [[_cell(value) for value in row] for row in found[:_PRINTED]]))
    if len(found) > _PRINTED:
        note(f"There is more: {_PRINTED:,} rows are printed. --write PATH gives all.")


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else ""
    return "" if value is None else str(value)


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _summary(archive: "Archive") -> None:
    counts = {name: frame.count() for name, frame in archive.items()}
    print_lines(table(("table", "rows"), [(name, f"{count:,}") for name, count in counts.items()]))
    if counts["quarantine"]:
        note(f"{counts['quarantine']:,} lines are no events: the table quarantine says which, and why.")


def _spark(conf: list[str] | None) -> Any:
    """The session of this process: that of spark-submit, or one of its own."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ArchiveError(
            "PySpark is not installed: expected Spark 3.5 or later. pip install 'pyspark' 'headwater[archive]'."
        ) from None
    builder = SparkSession.builder.appName("headwater archive")
    for setting in conf or ():
        key, separator, value = setting.partition("=")
        if not separator:
            raise typer.BadParameter(f"{setting!r} is no setting: expected KEY=VALUE.")
        builder = builder.config(key, value)
    return builder.getOrCreate()
