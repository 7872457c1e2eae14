"""``headwater archive``: archives of events into tables of lineage, with Spark."""

import re
import signal
from typing import TYPE_CHECKING, Annotated

import typer

from headwater.cli.archive_options import Conf, Format, Into, Source, read_tables, session
from headwater.cli.archive_questions import cycles, diff, impact, paths, roots
from headwater.cli.exporting import export
from headwater.cli.options import StoreOption
from headwater.cli.output import note, print_lines, table
from headwater.cli.steps import from_time_to_time
from headwater.store import open_store
from headwater.store.ingest.garbage import collect_seldom

if TYPE_CHECKING:
    from headwater.archive import Archive

app = typer.Typer(no_args_is_help=True, help="Archives of events, too large for one machine, into tables; with Spark.")

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}
_REJECTED = 10  # events of which it is said why


@app.command()
def build(
    source: Source,
    into: Into,
    roots: Annotated[
        bool, typer.Option("--roots", help="Also write column_roots: each column with its roots.")
    ] = False,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """Make the tables of lineage of all events; what was built there before stays until that is done."""
    spark = session(conf)
    from headwater.archive import build as build_tables

    archive = build_tables(spark, source, into, format=format and format.value, roots=roots, tell=note)
    _summary(archive)


@app.command()
def update(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    source: Source,
    into: Into,
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
    format: Format = None,
    conf: Conf = None,
) -> None:
    """Take in what is new since the last update; the first time, all there is."""
    interval = follow and _interval(follow)
    spark = session(conf)
    from headwater.archive import update as update_tables

    form = format and format.value
    if follow:
        _end_by_signals()
    _summary(update_tables(spark, source, into, format=form, follow=interval, checkpoints=checkpoints, tell=note))


def _end_by_signals() -> None:
    """Has SIGTERM end what follows a source as Ctrl-C does; and Ctrl-C without PySpark, whose handler calls the JVM."""
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, signal.default_int_handler)


def _interval(typed: str) -> str:
    found = re.fullmatch(r"(\d+)([smh])", typed)
    if found is None:
        raise typer.BadParameter(f"{typed!r} is no interval: expected such as 30s, 5m or 1h.")
    return f"{found[1]} {_UNITS[found[2]]}"


@app.command()
def load(
    into: Into,
    store: StoreOption = None,
    add: Annotated[bool, typer.Option("--add", help="Also into a store that holds other lineage.")] = False,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """Tell a store all events of an archive that it does not have; what was interrupted goes on when it runs again."""
    archive = read_tables(into, format, conf)
    from headwater.archive import load as load_events

    collect_seldom()
    with open_store(store) as opened:
        done = load_events(archive, opened, add=add, progress=from_time_to_time("event"))
    print_lines([f"events: {done.added} added, {done.known} known already, {len(done.rejected)} rejected"])
    for reason in done.rejected[:_REJECTED]:
        note(reason)
    if done.rejected:
        raise typer.Exit(1)


for command in (export, roots, impact, paths, cycles, diff):
    app.command()(command)


def _summary(archive: "Archive") -> None:
    counts = {name: frame.count() for name, frame in archive.items()}
    print_lines(table(("table", "rows"), [(name, f"{count:,}") for name, count in counts.items()]))
    if counts["quarantine"]:
        note(f"{counts['quarantine']:,} lines are no events: the table quarantine says which, and why.")
