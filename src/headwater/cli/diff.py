"""``headwater diff``: what a change does to lineage."""

from contextlib import ExitStack
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from headwater.cli.options import StoreOption, reading
from headwater.policies.diff import Change, Side, change_between
from headwater.policies.diff_reports import as_json, markdown
from headwater.policies.tag_file import TagFile, read_tag_file
from headwater.store.questions import moment_of


class DiffFormat(str, Enum):
    """The form of a difference."""

    MARKDOWN = "markdown"
    JSON = "json"


def diff(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A store; with --at, a time or a run of one store.")],
    after: Annotated[str | None, typer.Argument(metavar="[AFTER]", help="Another; without it, the store now.")] = None,
    at: Annotated[bool, typer.Option("--at", help="BEFORE and AFTER are times (ISO 8601) or ids of runs.")] = False,
    tags: Annotated[Path | None, typer.Option("--tags", metavar="FILE", help="A file of tags and breakers.")] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Exit with 1 when something changes.")] = False,
    store: StoreOption = None,
    format_: Annotated[DiffFormat, typer.Option("--format", "-f", help="Its form.")] = DiffFormat.MARKDOWN,
) -> None:
    """Show how lineage differs between two stores, two times or two runs.

    Columns and edges that came, went or changed, what depends on them and whose it is, and where tags newly arrive.
    """
    file = read_tag_file(tags) if tags is not None else TagFile()
    change = _change(before, after, file, store, at=at)
    typer.echo(as_json(change) if format_ is DiffFormat.JSON else markdown(change))
    if exit_code and change:
        raise typer.Exit(1)


def _change(before: str, after: str | None, file: TagFile, url: str | None, *, at: bool) -> Change:
    today = datetime.now(UTC).date()
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
        return change_between(*sides, file, today)
