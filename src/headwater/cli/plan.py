"""``headwater plan``: the lineage that a job would have, without its data.

What reads lineage is imported when it is needed, while the job's JVM starts.
"""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal

import typer

from headwater.cli.output import json_lines, note, print_lines, table
from headwater.dryrun import DryRun, Options, dry_run
from headwater.dryrun.schemas import read_schemas
from headwater.dryrun.sources import job_words
from headwater.yaml_map import read_yaml

INCOMPLETE = 3


AnswersOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Results of actions by their place, as YAML: job.py:12: 3.")
]
SchemasOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Columns of tables and paths that are out of reach, as YAML.")
]
TimeoutOption = Annotated[float, typer.Option(metavar="SECONDS", help="End a job that takes longer.")]


PlanFormat = Literal["table", "json", "markdown", "html"]


def plan_command(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    job: Annotated[
        Path | None,
        typer.Argument(help="A Python file, a notebook, an SQL file or a folder of those.", metavar="[JOB [ARGS]...]"),
    ] = None,
    jobs: Annotated[
        list[str] | None,
        typer.Option("--job", metavar="'JOB ARGS'", help="A job; repeat for more, which are planned after it."),
    ] = None,
    store: Annotated[str | None, typer.Option(help="Also store the lineage here: a file, or a database URL.")] = None,
    answers: AnswersOption = None,
    schemas: SchemasOption = None,
    timeout: TimeoutOption = 600.0,
    format_: Annotated[PlanFormat, typer.Option("--format", "-f", help="The format.")] = "table",
) -> None:
    """Show the lineage that PySpark jobs would have: they run on Spark without rows, and change nothing.

    Exit code 0: every line of the job ran, and nothing depended on data. 3: otherwise; the report names each place.
    1: a job failed.
    """
    chosen = options_of(answers, schemas, timeout)
    if (job is None) is not bool(jobs):
        raise typer.BadParameter("Expected a job, or several as --job 'JOB ARGS'.")
    if job is not None and store is None:
        found = dry_run(job, context.args, chosen)
    else:
        found = _several([[str(job), *context.args]] if job is not None else map(job_words, jobs or ()), store, chosen)
    _print(found, format_)
    if not found.report.is_complete:
        raise typer.Exit(1 if found.report.failure else INCOMPLETE)


def _several(jobs: Iterable[list[str]], store: str | None, options: Options) -> DryRun:
    """Plan jobs one after the other into a store, without one into one that is gone afterwards."""
    from headwater.dryrun.declarations import combined
    from headwater.dryrun.planner import planner

    with (
        TemporaryDirectory(prefix="headwater-plan-") as folder,
        planner(store or str(Path(folder, "plan.db")), options) as planning,
    ):
        return combined([planning.plan(Path(name), words) for name, *words in jobs])


def options_of(answers: Path | None, schemas: Path | None, timeout: float) -> Options:
    """Return the options of a dry run from those of a command.

    Raises:
        SettingError: a file cannot be read.
    """
    return Options(_answers(answers), timeout, read_schemas(schemas) if schemas else {})


def _answers(file: Path | None) -> dict[str, Any]:
    if file is None:
        return {}
    whole = read_yaml(file)
    return {place.text: whole.value(place.text) for place in whole.names()}


def _print(run: DryRun, format_: PlanFormat) -> None:
    from headwater.dryrun import documents

    if format_ == "json":
        print_lines(json_lines(documents.json_document(run)))
    elif format_ == "table":
        _print_tables(run)
    else:
        print_lines(documents.markdown(run) if format_ == "markdown" else documents.html(run))


def _print_tables(run: DryRun) -> None:
    from headwater.dryrun import documents

    for output in documents.outputs(run):
        print_lines([f"{output.dataset}  written by {output.job}", *table(documents.EDGES, output.edges), ""])
    found = documents.findings(run.report)
    if found:
        print_lines(table(documents.FINDINGS, found))
    for text in (*run.report.gaps, *run.report.unwatched):
        note(text)
