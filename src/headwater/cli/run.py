"""``headwater run``: a job, unchanged, with its lineage."""

from typing import Annotated

import typer

from headwater.capture.submit import run

_Store = Annotated[str | None, typer.Option(help="The store for the lineage: a file, or a database URL.")]
_Events = Annotated[str | None, typer.Option(help="Append the OpenLineage events to this file, one JSON a line.")]
_Config = Annotated[str | None, typer.Option(help="Send the events as this openlineage.yml says.")]
_Reads = Annotated[bool | None, typer.Option("--reads/--no-reads", help="Also send events of queries that only read.")]
_Quiet = Annotated[bool | None, typer.Option("--quiet/--no-quiet", help="Print no line at the end.")]


def run_command(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    context: typer.Context,
    job: Annotated[str, typer.Argument(help="A Python file, or -m and a module.", metavar="JOB.PY [ARGS]...")],
    store: _Store = None,
    events: _Events = None,
    config: _Config = None,
    reads: _Reads = None,
    quiet: _Quiet = None,
) -> None:
    """Run a PySpark job unchanged, and store the lineage of every column it writes.

    Exit code, input, arguments and tracebacks are the job's own. Options of headwater go before the job's name.
    """
    settings = {"store": store, "events": events, "config": config, "reads": reads, "quiet": quiet}
    run([job, *context.args], settings)
