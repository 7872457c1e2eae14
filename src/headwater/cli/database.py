"""``headwater db`` and ``headwater prune``: the upkeep of a store."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from headwater.cli import times
from headwater.cli.options import StoreOption
from headwater.cli.output import aligned, note, print_lines
from headwater.store import open_store
from headwater.store.maintenance import backup as backups
from headwater.store.maintenance.catchup import catch_up
from headwater.store.maintenance.forgotten_jobs import forget_job
from headwater.store.maintenance.inspection import StoreInfo, inspect
from headwater.store.maintenance.retention import Pruned, would_prune
from headwater.store.maintenance.retention import prune as prune_store

app = typer.Typer(no_args_is_help=True, help="The upkeep of a store: upgrade, back up, restore, and what it is.")

_Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


@app.command()
def upgrade(store: StoreOption = None) -> None:
    """Bring the schema to this version's; servers that open the store do so by themselves.

    Then events that an older version took are read again for what it did not keep: facets, tags, descriptions.
    """
    before = inspect(store)
    with open_store(store, create=False) as opened:
        read = catch_up(opened)
    after = inspect(store)
    if read:
        print_lines([f"{read:,} events were read again."])
    if before.current:
        print_lines([f"{after.place} has schema {after.revision}: nothing to do."])
    else:
        print_lines([f"{after.place}: schema {before.revision} -> {after.revision}."])


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")], store: StoreOption = None, force: _Force = False
) -> None:
    """Write all of a store to one file, while others go on using it."""
    backups.back_up(store, file, force=force)
    print_lines([f"{file}: {file.stat().st_size:,} bytes."])


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="What `db backup` wrote.")],
    store: StoreOption = None,
    force: _Force = False,
) -> None:
    """Fill a store from a backup: of either kind, into either kind."""
    backups.restore(file, store, force=force)
    print_lines(_lines(inspect(store)))


@app.command()
def info(store: StoreOption = None) -> None:
    """Say where the store is, of which schema, and how much is in it."""
    print_lines(_lines(inspect(store)))


def prune(
    keep: Annotated[str, typer.Option("--keep", metavar="TIME", help="Keep what is younger: 90d, 52w.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    vacuum: Annotated[bool, typer.Option("--vacuum", help="Give the room back to the disk (SQLite).")] = False,
    store: StoreOption = None,
) -> None:
    """Remove old runs, their events and ended edges; never what current lineage needs. A server may run meanwhile."""
    cut = time.time_ns() // 1000 - times.seconds(keep) * 1_000_000
    with open_store(store, create=False) as opened:
        pruned = would_prune(opened, cut) if dry_run else prune_store(opened, cut)
        print_lines([_told(pruned, "would go" if dry_run else "removed", cut)])
        if vacuum and not dry_run and not opened.vacuum():
            note("PostgreSQL gives room back by itself: see VACUUM in its documentation.")


def forget(
    job: Annotated[str, typer.Argument(metavar="JOB", help="Its whole name; NAMESPACE/NAME where several have it.")],
    store: StoreOption = None,
) -> None:
    """Forget a job that is gone, and the jobs that are parts of it.

    It is in no list any more, and the lineage that it has told ends now; what was so before stays as history. A later
    run brings it back.
    """
    with open_store(store, create=False) as opened:
        found = forget_job(opened, job)
    print_lines([f"forgotten: {one.namespace}/{one.name}" for one in found])


def _told(pruned: Pruned, verb: str, cut: int) -> str:
    rows = f"{pruned.runs:,} runs, {pruned.events:,} events, {pruned.edges:,} edges of the past"
    return f"{rows} from before {times.shown(cut)} {verb}"


def _lines(found: StoreInfo) -> list[Text]:
    schema = found.revision if found.current else f"{found.revision}, to be upgraded: headwater db upgrade"
    rows = [("store", found.place), ("kind", found.kind), ("schema", schema), ("size", f"{found.size:,} bytes")]
    rows += [(name.replace("_", " "), f"{count:,}") for name, count in found.rows]
    if found.latest is not None:
        rows.append(("events", f"{times.shown(found.earliest)} to {times.shown(found.latest)}"))
    return aligned([[Text(name, style="dim"), Text(value)] for name, value in rows])
