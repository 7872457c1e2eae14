"""``headwater check``: a policy against the lineage of a store."""

from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from headwater.cli.options import StoreOption, reading
from headwater.cli.output import note
from headwater.errors import HeadwaterError, PolicyError
from headwater.policies import findings
from headwater.policies.check import CheckResult
from headwater.policies.check import check as check_policy
from headwater.policies.policy_file import packs, read_policy
from headwater.policies.reports import REPORTS
from headwater.redaction import redact

_FINDINGS, _POLICY, _STORE = 1, 2, 3
"""The exit codes beside 0."""


ReportFormat = Literal["table", "json", "sarif", "junit", "github"]


def check(  # noqa: PLR0913, PLR0917 - one parameter for each option of the command
    policy: Annotated[Path | None, typer.Argument(metavar="POLICY", help="A file: see docs/policies.md.")] = None,
    format_: Annotated[ReportFormat, typer.Option("--format", "-f", help="The form of the findings.")] = "table",
    against: Annotated[
        str | None, typer.Option("--against", metavar="URL", help="A store whose findings do not count here.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", metavar="FILE", help="A file of findings that do not count.")
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option("--write-baseline", metavar="FILE", help="Write what is found as the baseline.")
    ] = None,
    list_packs: Annotated[bool, typer.Option("--packs", help="List the packs that a policy can include.")] = False,
    store: StoreOption = None,
) -> None:
    """Check a policy: where tags must not be, who owns columns, what lineage must be known.

    The exit code is 0 when no finding counts, 1 when one does, 2 when the policy cannot be read, 3 when a store cannot.
    """
    if list_packs:
        typer.echo("\n".join(packs()))
        return
    if policy is None:
        raise typer.BadParameter("Which policy? Expected a file; --packs lists the packs that one can include.")
    try:
        checked = _checked(policy, store, against, baseline)
    except HeadwaterError as fault:
        typer.echo(f"Error: {redact(str(fault))}", err=True)
        raise typer.Exit(_POLICY if isinstance(fault, PolicyError) else _STORE) from fault
    if write_baseline is not None:
        note(f"{findings.write_baseline(write_baseline, checked.findings)} findings written to {write_baseline}.")
        return
    typer.echo(REPORTS[format_](checked))
    for one in checked.notes:
        note(one)
    raise typer.Exit(_FINDINGS if checked.failed else 0)


def _checked(policy: Path, store: str | None, against: str | None, baseline: Path | None) -> CheckResult:
    rules = read_policy(policy)
    known = findings.read_baseline(baseline) if baseline is not None else frozenset[str]()
    with ExitStack() as stack:
        opened = stack.enter_context(reading(store))
        other = stack.enter_context(reading(against)) if against is not None else None
        return check_policy(opened, rules, datetime.now(UTC).date(), against=other, baseline=known)
