"""The ``headwater`` command."""

from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

import headwater
from headwater.cli import (
    archive,
    check,
    database,
    diff,
    export,
    extensions,
    ingest,
    keys,
    lists,
    questions,
    serve,
    tags,
)
from headwater.cli.plan import plan_command
from headwater.cli.run import JOB_ARGUMENTS, run_command
from headwater.errors import HeadwaterError
from headwater.redaction import redact


class _Commands(TyperGroup):
    """Prints headwater's errors on one line; any other exception is a defect and shows its traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except HeadwaterError as fault:
            Console(stderr=True, highlight=False).print(
                f"Error: {redact(str(fault))}", soft_wrap=True, markup=False, style="red"
            )
            raise typer.Exit(1) from fault


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("run", rich_help_panel="Jobs", context_settings=JOB_ARGUMENTS)(run_command)
app.command("plan", rich_help_panel="Jobs", context_settings=JOB_ARGUMENTS)(plan_command)
app.command(rich_help_panel="Jobs")(extensions.extensions)
app.command(rich_help_panel="Questions")(questions.roots)
app.command(rich_help_panel="Questions")(questions.show)
app.command(rich_help_panel="Questions")(questions.impact)
app.command(rich_help_panel="Questions")(questions.path)
app.add_typer(export.app, name="export", rich_help_panel="Questions")
app.command(rich_help_panel="Lists")(lists.datasets)
app.command(rich_help_panel="Lists")(lists.jobs)
app.command(rich_help_panel="Lists")(lists.runs)
app.command(rich_help_panel="Lists")(lists.search)
app.command(rich_help_panel="Lists")(lists.coverage)
app.command(rich_help_panel="Policies")(check.check)
app.command(rich_help_panel="Policies")(diff.diff)
app.add_typer(tags.app, name="tag", rich_help_panel="Policies")
app.command(rich_help_panel="Events")(ingest.ingest)
app.add_typer(archive.app, name="archive", rich_help_panel="Events")
app.command(rich_help_panel="Server")(serve.serve)
app.command(rich_help_panel="Server")(serve.ui)
app.add_typer(keys.app, name="keys", rich_help_panel="Server")
app.add_typer(database.app, name="db", rich_help_panel="Upkeep")
app.command(rich_help_panel="Upkeep")(database.prune)
app.command(rich_help_panel="Upkeep")(database.forget)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"headwater {headwater.__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; exit code 0 is success, 1 an error or a finding of ``coverage --fail``, 2 wrong usage."""
    app(prog_name="headwater")


@app.callback()
def headwater_command(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and end.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Column-level lineage: which input columns made a column, how, and what depends on it."""
