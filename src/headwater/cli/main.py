"""The ``headwater`` command."""

from pkgutil import resolve_name
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup
from typer.main import get_group

import headwater
from headwater.errors import HeadwaterError
from headwater.redaction import redact

# Arguments after the job's name are the job's, also those that look like options of headwater.
_JOB_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}

_COMMANDS = {
    "run": ("Jobs", "run:run_command"),
    "plan": ("Jobs", "plan:plan_command"),
    "extensions": ("Jobs", "extensions:extensions"),
    "roots": ("Questions", "questions:roots"),
    "show": ("Questions", "questions:show"),
    "impact": ("Questions", "questions:impact"),
    "path": ("Questions", "questions:path"),
    "export": ("Questions", "export:app"),
    "datasets": ("Lists", "lists:datasets"),
    "jobs": ("Lists", "lists:jobs"),
    "runs": ("Lists", "lists:runs"),
    "search": ("Lists", "lists:search"),
    "coverage": ("Lists", "lists:coverage"),
    "check": ("Policies", "check:check"),
    "diff": ("Policies", "diff:diff"),
    "tag": ("Policies", "tags:app"),
    "ingest": ("Events", "ingest:ingest"),
    "archive": ("Events", "archive:app"),
    "serve": ("Server", "serve:serve"),
    "ui": ("Server", "serve:ui"),
    "keys": ("Server", "keys:app"),
    "db": ("Upkeep", "database:app"),
    "prune": ("Upkeep", "database:prune"),
    "forget": ("Upkeep", "database:forget"),
}
"""For each command the panel of the help that lists it, and where its function, or its application of several, is."""


class _LazyGroup(TyperGroup):
    """Imports a command when it is asked for, so that none waits for what others need.

    It prints headwater's errors on one line; any other exception is a defect and shows its traceback.
    """

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**{**attributes, "commands": dict.fromkeys(_COMMANDS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in _COMMANDS:
            return None
        panel, place = _COMMANDS[cmd_name]
        found = resolve_name(f"headwater.cli.{place}")
        alone = typer.Typer()
        if isinstance(found, typer.Typer):
            alone.add_typer(found, name=cmd_name, rich_help_panel=panel)
        else:
            arguments = _JOB_ARGUMENTS if cmd_name in {"run", "plan"} else None
            alone.command(cmd_name, rich_help_panel=panel, context_settings=arguments)(found)
        return get_group(alone).commands[cmd_name]

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except HeadwaterError as fault:
            Console(stderr=True, highlight=False).print(
                f"Error: {redact(str(fault))}", soft_wrap=True, markup=False, style="red"
            )
            raise typer.Exit(1) from fault


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:
    if value:
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
