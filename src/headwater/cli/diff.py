"""``headwater diff``: what a change does to lineage."""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Literal

import typer

from headwater.cli.options import StoreOption, reading
from headwater.cli.output import note
from headwater.cli.plan import INCOMPLETE, AnswersOption, SchemasOption, TimeoutOption, options_of
from headwater.dryrun import Options
from headwater.dryrun.revisions import PlannedSide, Revision, is_range, job_calls, plan_side, revisions, uncommitted
from headwater.errors import SettingError
from headwater.policies.diff import Change, Side, change_between
from headwater.policies.diff_reports import as_json, html, markdown
from headwater.policies.tag_file import TagFile, read_tag_file
from headwater.store.maintenance.backup import back_up
from headwater.store.questions import moment_of
from headwater.store.sql.location import store_file, store_url

DiffFormat = Literal["markdown", "json", "html"]

_REPORTS = {"markdown": markdown, "json": as_json, "html": html}

_Keep = Annotated[
    Path | None, typer.Option("--keep", metavar="FOLDER", help="Keep the stores of both revisions in this folder.")
]
_Nested = Annotated[
    bool, typer.Option("--nested", help="Compare fields within columns one by one, where both sides know them.")
]


def diff(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    before: Annotated[
        str,
        typer.Argument(
            metavar="BEFORE",
            help="A store; with --at, a time or a run of one store; with --job, revisions: main..HEAD.",
        ),
    ],
    after: Annotated[str | None, typer.Argument(metavar="[AFTER]", help="Another; without it, the store now.")] = None,
    at: Annotated[bool, typer.Option("--at", help="BEFORE and AFTER are times (ISO 8601) or ids of runs.")] = False,
    jobs: Annotated[
        list[str] | None,
        typer.Option("--job", metavar="'JOB ARGS'", help="A job to plan at both revisions; repeat for several."),
    ] = None,
    tags: Annotated[Path | None, typer.Option("--tags", metavar="FILE", help="A file of tags and breakers.")] = None,
    keep: _Keep = None,
    nested: _Nested = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when something changes.")] = False,
    store: StoreOption = None,
    answers: AnswersOption = None,
    schemas: SchemasOption = None,
    timeout: TimeoutOption = 600.0,
    format_: Annotated[DiffFormat, typer.Option("--format", "-f", help="The form of the answer.")] = "markdown",
) -> None:
    """Show how lineage differs between two stores, two times or two runs, or what jobs do at two revisions.

    Columns and edges that came, went or changed, what depends on them and whose it is, and where tags newly arrive.
    Of revisions (main..HEAD) the jobs are planned in worktrees, without data, each side in a copy of the store.
    """
    file, failed = read_tag_file(tags) if tags is not None else TagFile(), False
    compare = partial(change_between, file=file, today=datetime.now(UTC).date(), nested=nested)
    if jobs and (at or after is not None):
        raise typer.BadParameter("Jobs are planned at two revisions: expected one range, as main..HEAD.")
    if jobs:
        with TemporaryDirectory(prefix="headwater-diff-") as name:
            stores = [(keep or Path(name)) / one for one in ("before.db", "after.db")]
            failed, notes = _plan(before, jobs, stores, store, options_of(answers, schemas, timeout))
            change = replace(_change(compare, str(stores[0]), str(stores[1]), None, at=False), notes=notes)
    elif not at and is_range(before) and not Path(before).exists():
        raise SettingError(f"{before} is a range of revisions: name the jobs to plan at both, as --job jobs/daily.py.")
    else:
        change = _change(compare, before, after, store, at=at)
    typer.echo(_REPORTS[format_](change))
    raise typer.Exit(INCOMPLETE if failed else int(exit_code and bool(change)))


def _change(
    compare: Callable[[Side, Side], Change], before: str, after: str | None, url: str | None, *, at: bool
) -> Change:
    with ExitStack() as stack:
        if at:
            own = stack.enter_context(reading(url))
            sides = (
                Side(own, moment_of(own, before)),
                Side(own, moment_of(own, after) if after is not None else None),
            )
        else:
            first, second = (stack.enter_context(reading(one)) for one in (before, after if after is not None else url))
            sides = (Side(first), Side(second))
        return compare(*sides)


def _plan(
    text: str, jobs: list[str], stores: Sequence[Path], base: str | None, options: Options
) -> tuple[bool, tuple[str, ...]]:
    """Plan jobs at two revisions, each into its store; return whether one failed, and what is not known."""
    here = Path.cwd()
    sides = revisions(text, here)
    calls = job_calls(jobs, sides, here)
    if changed := uncommitted(sides[0].root):
        note(f"Not committed: {changed} files. They are left out: {sides[1].name} is planned as it was committed.")
    url = store_url(base)
    file = store_file(url)
    exists = file is None or file.exists()
    note(f"Both sides begin with a copy of {file or 'the store'}." if exists else "Both sides begin without a store.")
    for one in stores:
        one.unlink(missing_ok=True)
        if exists:
            back_up(url, one)
    # A runner that cancels a job sends SIGTERM: the worktree goes then too, as after Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    planned = [plan_side(side, calls, one, options, note) for side, one in zip(sides, stores, strict=True)]
    return any(one.failed for one in planned), tuple(_notes(sides, planned))


def _notes(sides: Sequence[Revision], planned: Sequence[PlannedSide]) -> Iterator[str]:
    """Yield what the dry runs do not know, each once, with the sides on which it is so."""
    for finding in dict.fromkeys(one for side in planned for one in side.findings):
        names = [side.name for side, one in zip(sides, planned, strict=True) if finding in one.findings]
        place, what, result = finding
        yield f"{' and '.join(names)}: {' '.join(filter(None, (place, what)))}{f': {result}' if result else ''}"
