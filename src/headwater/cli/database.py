"""``headwater db``, ``headwater prune`` and ``headwater forget``: maintenance of a store."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from headwater.cli import options
from headwater.cli.options import StoreOption
from headwater.cli.output import aligned, note, print_lines
from headwater.model.time import SECOND, now
from headwater.store import open_store
from headwater.store.maintenance import backup as backups
from headwater.store.maintenance.forgotten_jobs import forget_job
from headwater.store.maintenance.inspection import StoreInfo, inspect
from headwater.store.maintenance.retention import Pruned, would_prune
from headwater.store.maintenance.retention import prune as prune_store

app = typer.Typer(no_args_is_help=True, help="Maintain a store: upgrade, back up, restore, describe.")

_Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


@app.command()
def upgrade(store: StoreOption = None) -> None:
    """Upgrade the schema to that of this version; servers do so by themselves when they open the store."""
    before = inspect(store)
    open_store(store, create=False).close()
    after = inspect(store)
    if before.current:
        print_lines([f"{after.place} has schema {after.revision}: nothing to do."])
    else:
        print_lines([f"{after.place}: schema {before.revision} -> {after.revision}."])


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.")], store: StoreOption = None, force: _Force = False
) -> None:
    """Write a whole store to one file, while others go on using it."""
    backups.back_up(store, file, force=force)
    print_lines([f"{file}: {file.stat().st_size:,} bytes."])


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="A file that `db backup` wrote.")],
    store: StoreOption = None,
    force: _Force = False,
) -> None:
    """Fill a store from a backup; both may be SQLite or PostgreSQL."""
    backups.restore(file, store, force=force)
    print_lines(_lines(inspect(store)))


@app.command()
def info(store: StoreOption = None) -> None:
    """Print the place of a store, its schema, and how much is in it."""
    print_lines(_lines(inspect(store)))


def prune(
    keep: Annotated[str, typer.Option("--keep", metavar="TIME", help="Keep runs that are younger: 90d, 52w.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print what would be removed.")] = False,
    vacuum: Annotated[bool, typer.Option("--vacuum", help="Return the space to the disk (SQLite).")] = False,
    store: StoreOption = None,
) -> None:
    """Remove old runs, their events and ended edges; nothing that current lineage needs. Servers may run meanwhile."""
    cut = now() - options.seconds(keep) * SECOND
    with open_store(store, create=False) as opened:
        pruned = would_prune(opened, cut) if dry_run else prune_store(opened, cut)
        print_lines([_pruned_line(pruned, "would be removed" if dry_run else "removed", cut)])
        if vacuum and not dry_run and not opened.vacuum():
            note("PostgreSQL returns space by itself: see VACUUM in its documentation.")


def forget(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The whole name; NAMESPACE/NAME where several have it.")],
    store: StoreOption = None,
) -> None:
    """Forget a job that no longer exists, and its parts.

    Lists leave the job out, and its lineage ends now; history stays. A later run brings the job back.
    """
    with open_store(store, create=False) as opened:
        found = forget_job(opened, job)
    print_lines([f"forgotten: {one.namespace}/{one.name}" for one in found])


def _pruned_line(pruned: Pruned, verb: str, cut: int) -> str:
    rows = f"{pruned.runs:,} runs, {pruned.events:,} events, {pruned.edges:,} edges of the past"
    return f"{rows} from before {options.shown(cut)} {verb}"


def _lines(info: StoreInfo) -> list[Text]:
    schema = info.revision if info.current else f"{info.revision}, to be upgraded: headwater db upgrade"
    rows = [("store", info.place), ("kind", info.kind), ("schema", schema), ("size", f"{info.size:,} bytes")]
    rows += [(name.replace("_", " "), f"{count:,}") for name, count in info.rows]
    if info.latest is not None:
        rows.append(("events", f"{options.shown(info.earliest)} to {options.shown(info.latest)}"))
    return aligned([[Text(name, style="dim"), Text(value)] for name, value in rows])
