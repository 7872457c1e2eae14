"""A dry run as rows, as a JSON value, as Markdown for a pull request and as a page of HTML."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from headwater.answers.labels import in_backticks, markdown_text
from headwater.answers.pictures import page
from headwater.answers.transformations import transformations_text
from headwater.dryrun.report import DryRun, Report
from headwater.openlineage.reading.events import read_event
from headwater.openlineage.reading.lineage_facets import EncodedLineage
from headwater.openlineage.writing.events import to_json
from headwater.store.questions import PathTransformation

EDGES = ("column", "input", "transformations")
FINDINGS = ("place", "finding", "in the dry run")
_COMPLETE = "Complete: every line of the job ran, and nothing depended on data."
_OUT_OF_REACH = re.compile(r"\[(PATH_NOT_FOUND|TABLE_OR_VIEW_NOT_FOUND|UNABLE_TO_INFER_SCHEMA)")
"""Conditions by which Spark refuses a source that is not there."""


class JobOutput(NamedTuple):
    """A dataset that a job writes, and the edges of its columns, as texts under `EDGES`."""

    job: str
    dataset: str
    edges: list[tuple[str, str, str]]


def outputs(run: DryRun) -> Iterator[JobOutput]:
    """The datasets that the jobs write, in the order in which they are written."""
    for event in run.events:
        seen = read_event(to_json(event))
        for output in seen.outputs:
            edges = list(_edges(output.lineage)) if output.lineage else []
            yield JobOutput(seen.job.name, str(output.description.dataset), edges)


def _edges(lineage: EncodedLineage) -> Iterator[tuple[str, str, str]]:
    steps: dict[tuple[str, str], list[PathTransformation]] = {}
    for edge in lineage.named():
        key = edge.field or "*", f"{edge.input.dataset}.{edge.input.name}"
        steps.setdefault(key, []).append(PathTransformation(edge.transformation))
    sourceless = [name for name in lineage.fields if all(name != column for column, _ in steps)]
    yield from ((column, source, transformations_text(found)) for (column, source), found in steps.items())
    yield from ((name, "", "") for name in sourceless)


def findings(report: Report) -> list[tuple[str, str, str]]:
    """The findings of a report, as texts under `FINDINGS`; those that end a job first."""
    failure = [(report.failure.place, "the job failed", _advised(report.failure.error))] if report.failure else []
    return [
        *failure,
        *(("", "a statement failed", _advised(text)) for text in report.failed),
        *((one.place, f"{one.call} refused", one.reason) for one in report.refusals),
        *((one.place, f"{one.action} depends on data", one.result) for one in report.answers),
        *((str(one), "never ran", "") for one in report.unexecuted),
    ]


def _advised(error: str) -> str:
    return f"{error} (--schemas or --store can have its columns)" if _OUT_OF_REACH.search(error) else error


def json_document(run: DryRun) -> dict[str, Any]:
    """The declarations of the jobs as OpenLineage JobEvents, and the report."""
    events = [json.loads(to_json(event)) for event in run.events]
    return {"complete": run.report.is_complete, "events": events, "report": asdict(run.report)}


def markdown(run: DryRun) -> Iterator[str]:
    """The lines of a comment on a pull request."""
    for one in outputs(run):
        yield from (f"### `{in_backticks(one.dataset)}`", "", f"written by `{in_backticks(one.job)}`", "")
        yield from _markdown_table(EDGES, one.edges)
    yield from ("### Findings of the dry run", "")
    found = findings(run.report)
    yield from _markdown_table(FINDINGS, found) if found else (_COMPLETE, "")
    yield from _markdown_list("### Gaps of the lineage", run.report.gaps)
    yield from _markdown_list("### Not watched", run.report.unwatched)


def _markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield from (f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}")
    for row in rows:
        yield f"| {' | '.join(map(markdown_text, row))} |"
    yield ""


def _markdown_list(title: str, texts: Sequence[str]) -> Iterator[str]:
    if texts:
        yield from (title, "", *(f"- {markdown_text(text)}" for text in texts), "")


def html(run: DryRun) -> Iterator[str]:
    """The same as a page that needs no other file."""
    yield page("headwater plan", "\n".join(markdown(run)))
