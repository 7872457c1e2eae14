"""``headwater archive``: tables of lineage from archives of events, with Spark."""

import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from headwater.cli.archive_questions import (
    Conf,
    Format,
    Into,
    Source,
    cycles,
    diff,
    impact,
    paths,
    read_tables,
    roots,
    tags,
)
from headwater.cli.archive_session import session
from headwater.cli.options import StoreOption, reading
from headwater.cli.output import note, print_lines, progress_notes, table
from headwater.store import open_store
from headwater.store.ingest.pipeline import collect_seldom
from headwater.store.maintenance.exporting import export as export_events

if TYPE_CHECKING:
    from headwater.archive import Archive

app = typer.Typer(no_args_is_help=True, help="Tables of lineage from large archives of events, with Spark.")

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}
_REJECTED = 10  # events whose reason is printed


_MIB = 1 << 20


Packing = Literal["gz", "zst"]


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
    """Build the tables of lineage from all events; tables built before stay until that is done."""
    spark = session(conf, source)
    from headwater.archive import build as build_tables

    archive = build_tables(spark, source, into, format=format, roots=roots, progress=note)
    _summary(archive)


@app.command()
def update(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    source: Source,
    into: Into,
    follow: Annotated[
        str | None,
        typer.Option(
            "--follow", metavar="30s|5m|1h", help="Run until interrupted: look for new events every so often."
        ),
    ] = None,
    checkpoints: Annotated[
        str | None,
        typer.Option(
            "--checkpoints",
            metavar="PATH",
            help="The folder for Spark's checkpoints; INTO/_checkpoints without it.",
        ),
    ] = None,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """Update the tables with the events since the last update; the first time, with all."""
    interval = follow and _interval(follow)
    # One that follows lives long, and is worth optimizing
    spark = session(conf, *(() if follow else (source, into) if Path(into).exists() else (source,)))
    from headwater.archive import update as update_tables

    if follow:
        # Let SIGTERM end the stream as Ctrl-C does; and Ctrl-C without PySpark, whose handler calls the JVM
        for one in (signal.SIGINT, signal.SIGTERM):
            signal.signal(one, signal.default_int_handler)
    _summary(update_tables(spark, source, into, format=format, follow=interval, checkpoints=checkpoints, progress=note))


def _interval(typed: str) -> str:
    found = re.fullmatch(r"(\d+)([smh])", typed)
    if found is None:
        raise typer.BadParameter(f"The interval is {typed!r}: expected one such as 30s, 5m or 1h.")
    return f"{found[1]} {_UNITS[found[2]]}"


@app.command()
def load(
    into: Into,
    store: StoreOption = None,
    add: Annotated[bool, typer.Option("--add", help="Load also into a store that holds other lineage.")] = False,
    format: Format = None,
    conf: Conf = None,
) -> None:
    """Load the events of an archive that a store does not have; run it again to continue after an interruption."""
    archive = read_tables(into, format, conf)
    from headwater.archive import load as load_events

    collect_seldom()
    with open_store(store) as opened:
        done = load_events(archive, opened, add=add, progress=progress_notes("event"))
    print_lines([f"events: {done.added} added, {done.known} known already, {len(done.rejected)} rejected"])
    for reason in done.rejected[:_REJECTED]:
        note(reason)
    if done.rejected:
        raise typer.Exit(1)


@app.command()
def export(
    target: Annotated[Path, typer.Argument(metavar="DIR", help="The folder for the files; made when it is missing.")],
    store: StoreOption = None,
    packing: Annotated[Packing, typer.Option(help="The compression of the files.")] = "gz",
    file_size: Annotated[
        int, typer.Option("--file-size", min=1, metavar="MIB", help="The largest size of a file before compression.")
    ] = 256,
) -> None:
    """Write the events of a store to files that `archive build` and others read; the next time only new events."""
    with reading(store) as opened:
        done = export_events(opened, target, packing=packing, size=file_size * _MIB, progress=progress_notes("event"))
    print_lines([f"events: {done.events:,} written, in {done.files:,} files"])


for command in (roots, impact, tags, paths, cycles, diff):
    app.command()(command)


def _summary(archive: "Archive") -> None:
    counts = {name: frame.count() for name, frame in archive.items()}
    print_lines(table(("table", "rows"), [(name, f"{count:,}") for name, count in counts.items()]))
    if counts["quarantine"]:
        note(f"{counts['quarantine']:,} lines are not events: the table quarantine says which, and why.")
