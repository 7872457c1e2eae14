"""``headwater plan``: the lineage that a job would have, without its data."""

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from headwater.cli.options import reading
from headwater.cli.output import json_lines, note, print_lines, table
from headwater.dryrun import DryRun, Options, documents, dry_run
from headwater.dryrun.schemas import Schema, read_schemas, stored_schemas
from headwater.errors import SettingError
from headwater.openlineage.writing.events import to_json
from headwater.store import open_store
from headwater.store.catalog import schemas as stored
from headwater.store.sql.location import store_file, store_url

INCOMPLETE = 3


class PlanFormat(str, Enum):
    """A format of the lineage and the report."""

    TABLE = "table"
    JSON = "json"
    MARKDOWN = "markdown"
    HTML = "html"


def plan_command(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    job: Annotated[
        Path,
        typer.Argument(help="A Python file, a notebook, an SQL file or a folder of those.", metavar="JOB [ARGS]..."),
    ],
    store: Annotated[str | None, typer.Option(help="Also store the lineage here: a file, or a database URL.")] = None,
    answers: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Results of actions by their place, as YAML: job.py:12: 3.")
    ] = None,
    schemas: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Columns of tables and paths that are out of reach, as YAML.")
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", help="End a job that takes longer.")] = 600.0,
    format_: Annotated[PlanFormat, typer.Option("--format", "-f", help="The format.")] = PlanFormat.TABLE,
) -> None:
    """Show the lineage that a PySpark job would have: it runs on Spark without rows, and changes nothing.

    Exit code 0: every line of the job ran and nothing depended on data. 3: not so; the report names each place.
    1: the job failed.
    """
    known = {**_stored(store), **(read_schemas(schemas) if schemas else {})}
    found = dry_run(job, context.args, Options(_answers(answers), timeout, known))
    if store is not None:
        with open_store(store) as opened:
            opened.ingest(to_json(event) for event in found.events)
    _print(found, format_)
    if not found.report.is_complete:
        raise typer.Exit(1 if found.report.failure else INCOMPLETE)


def _stored(store: str | None) -> dict[str, Schema]:
    """The schemas of a store that is there already."""
    if store is None or not ((file := store_file(store_url(store))) is None or file.exists()):
        return {}
    with reading(store) as opened, opened.read() as connection:
        return stored_schemas(stored.schemas(connection))


def _answers(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        values = yaml.safe_load(file.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise SettingError(f"The answers in {file} cannot be read: {error}.") from error
    if not isinstance(values, dict):
        raise SettingError(f"The answers in {file} are no mapping; expected lines as: job.py:12: 3.")
    return values


def _print(run: DryRun, format_: PlanFormat) -> None:
    if format_ is PlanFormat.JSON:
        print_lines(json_lines(documents.json_document(run)))
    elif format_ is PlanFormat.TABLE:
        _print_tables(run)
    else:
        print_lines(documents.markdown(run) if format_ is PlanFormat.MARKDOWN else documents.html(run))


def _print_tables(run: DryRun) -> None:
    for output in documents.outputs(run):
        print_lines([f"{output.dataset}  written by {output.job}", *table(documents.EDGES, output.edges), ""])
    found = documents.findings(run.report)
    if found:
        print_lines(table(documents.FINDINGS, found))
    for gap in run.report.gaps:
        note(gap)
