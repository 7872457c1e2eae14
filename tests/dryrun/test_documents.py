"""A dry run as JSON, Markdown and HTML, without Spark."""

from datetime import UTC, datetime

import pytest

from headwater.dryrun import Answer, DryRun, Failure, Refusal, Report, UnexecutedLines, documents
from headwater.dryrun.report import read_report
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Dependency,
    Engine,
    InputField,
    Job,
    Output,
    Run,
    RunMoment,
    RunState,
    Statement,
    Subtype,
    Transformation,
)
from headwater.openlineage.writing.events import job_event, run_event

REPORT = Report(
    answers=(Answer("job.py:3", "count", "0"),),
    refusals=(Refusal("job.py:4", "open", "it would change a|b.txt"),),
    unexecuted=(UnexecutedLines("job.py", 5, 7),),
    failed=("shop.totals: no such table",),
    failure=Failure("job.py:9", "ValueError: <no>"),
    gaps=("shop.totals: opaque f: unseen",),
    unwatched=("Files were not watched.",),
)


TARGET = Dataset("file", "/lake/totals")


def moment(output: Output, *inputs: Dataset) -> RunMoment:
    statement = Statement(tuple(map(DatasetDescription, inputs)), (output,))
    run = Run("01939a2c-0000-7000-8000-000000000000", Job("default", "shop.totals"))
    return RunMoment(run, RunState.COMPLETE, datetime(2026, 11, 24, tzinfo=UTC), Engine("spark", "4.1.1"), statement)


def written() -> RunMoment:
    source = Dataset("file", "/lake/orders")
    step = Dependency(InputField(source, "amount"), Transformation(Subtype.AGGREGATION))
    lineage = ColumnLineage({"total": frozenset({step}), "n": frozenset()})
    return moment(Output(DatasetDescription(TARGET), lineage), source)


def planned(report: Report) -> DryRun:
    return DryRun((job_event([run_event(written())]),), report)


def test_a_job_that_drops_what_it_wrote_is_declared_with_the_lineage_of_that() -> None:
    """Else others that have read it before would lead nowhere."""
    dropped = moment(Output(DatasetDescription(TARGET, lifecycle="DROP"), ColumnLineage({})))
    run = DryRun((job_event([run_event(written()), run_event(dropped)]),), Report())
    assert list(documents.outputs(run)) == list(documents.outputs(planned(Report())))
    assert next(documents.outputs(run)).edges


def test_a_report_is_the_same_after_a_file() -> None:
    assert read_report(REPORT.to_json()) == REPORT
    assert read_report(Report().to_json()) == Report()


@pytest.mark.parametrize("part", ["answers", "refusals", "unexecuted", "failed", "failure"])
def test_each_finding_makes_a_report_incomplete(part: str) -> None:
    assert not Report(**{part: getattr(REPORT, part)}).is_complete
    assert Report(gaps=REPORT.gaps, unwatched=REPORT.unwatched).is_complete


def test_findings_name_every_place() -> None:
    assert documents.findings(REPORT) == [
        ("job.py:9", "the job failed", "ValueError: <no>"),
        ("", "a statement failed", "shop.totals: no such table"),
        ("job.py:4", "open refused", "it would change a|b.txt"),
        ("job.py:3", "count depends on data", "0"),
        ("job.py:5-7", "never ran", ""),
    ]


def test_a_source_that_is_not_there_has_what_would_help() -> None:
    error = "AnalysisException: [PATH_NOT_FOUND] Path does not exist: file:/lake/orders. SQLSTATE: 42K03"
    assert documents.findings(Report(failure=Failure("job.py:3", error))) == [
        ("job.py:3", "the job failed", f"{error} (--schemas or --store can have its columns)")
    ]


def test_a_column_without_input_has_a_row() -> None:
    (output,) = documents.outputs(planned(REPORT))
    assert output.edges == [("total", "file:/lake/orders.amount", "AGGREGATION"), ("n", "", "")]


def test_the_json_document_holds_job_events() -> None:
    document = documents.json_document(planned(REPORT))
    (event,) = document["events"]
    assert (event["job"]["name"], "run" in event, "eventType" in event) == ("shop.totals", False, False)
    assert event["schemaURL"].endswith("#/$defs/JobEvent")
    assert (document["complete"], document["report"]["failed"]) == (False, REPORT.failed)


def test_markdown_and_html_escape_what_a_job_says() -> None:
    markdown = "\n".join(documents.markdown(planned(REPORT)))
    assert "| total | file:/lake/orders.amount | AGGREGATION |" in markdown
    assert "a\\|b.txt" in markdown
    assert "### Gaps of the lineage\n\n- shop.totals: opaque f: unseen\n" in markdown
    assert "### Not watched\n\n- Files were not watched.\n" in markdown
    html = "\n".join(documents.html(planned(REPORT)))
    assert "ValueError: &lt;no&gt;" in html
    assert "<td>AGGREGATION</td>" in html


def test_names_with_markup_are_shown_as_they_are() -> None:
    odd = "a_b*c|`d` <i>"
    found = planned(Report(answers=(Answer("job.py:1", "collect", odd),)))
    assert r"a\_b\*c\|\`d\` \<i\>" in "\n".join(documents.markdown(found))
    assert "<td>a_b*c|`d` &lt;i&gt;</td>" in "\n".join(documents.html(found))


def test_a_complete_dry_run_says_so() -> None:
    assert "Complete: every line of the job ran" in "\n".join(documents.markdown(planned(Report())))
