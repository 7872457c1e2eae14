"""Events become lineage: which of it is current, whatever comes, in whatever order."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.store.conftest import source

from headwater.store import Store
from headwater.store.questions import coverage, datasets, runs
from headwater.store.questions.answers import Bounds
from headwater.store.questions.roots import roots_of


def test_the_latest_successful_run_decides(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"], "b": ["raw.y"]}), minute=1)])
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.z"], "b": ["raw.y"]}), minute=2)])
    assert words.edges(store) == {"gold.a <- raw.z IDENTITY", "gold.b <- raw.y IDENTITY"}


def test_a_late_older_run_does_not_replace_a_newer_one(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.z"]}), minute=2)])
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=1)])
    assert words.edges(store) == {"gold.a <- raw.z IDENTITY"}


def test_a_failed_run_does_not_change_the_current_lineage_and_keeps_its_own(store: Store, words: Any) -> None:
    failed = words.run_event("j", words.written("gold", {"a": ["raw.z"]}), minute=2, state="FAIL")
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=1), failed])
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}
    assert store.events(failed["run"]["runId"]) == [failed]


def test_lineage_of_an_earlier_event_counts_when_the_run_completes(store: Store, words: Any) -> None:
    start = words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=1, state="START", run="r")
    store.ingest([start])
    assert words.edges(store) == set()
    store.ingest([words.run_event("j", minute=2, run="r")])
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}


def test_a_run_without_lineage_leaves_current_lineage(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=1)])
    store.ingest([words.run_event("j", words.written("gold"), minute=2)])
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}
    assert [one.covered.value for one in coverage(store)] == ["none"]


def adding(words: Any, column: str, earlier: Sequence[str] = (), **facets: Any) -> Any:
    """An output to which a run adds rows of a column, after earlier ones of its job that added those of others."""
    output = words.written("gold", {"a": [column]})
    inputs = [source(one) for one in earlier]
    lineage = {"fields": {"A" if inputs else "a": {"inputFields": inputs}}, "dataset": [source("flag.f FILTER")]}
    write = {"replaces": "SOME_ROWS", **({"earlier": lineage} if earlier else {})}
    output["facets"] |= facets
    return {**output, "outputFacets": {"headwater_write": write}}


def test_lineage_of_earlier_writes_of_an_application_counts_too(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", adding(words, "raw.x"), minute=1)])
    store.ingest([words.run_event("j", adding(words, "raw.y", ["raw.x", "raw.z TRANSFORMATION"]), minute=2)])
    now = {"gold.a <- raw.x IDENTITY", "gold.a <- raw.y IDENTITY", "gold.a <- raw.z TRANSFORMATION"}
    assert words.edges(store) == {*now, "gold.* <- flag.f FILTER"}
    store.ingest([words.run_event("j", adding(words, "raw.y"), minute=3)])
    assert words.edges(store) == {"gold.a <- raw.y IDENTITY"}


def test_lineage_of_earlier_writes_counts_beside_explicit_lineage(store: Store, words: Any) -> None:
    explicit = {"fields": {"a": {"inputs": [{"namespace": "file", "name": "/raw", "field": "e"}]}}}
    store.ingest([words.run_event("j", adding(words, "raw.y", ["raw.x"], lineage=explicit))])
    assert {one.partition(" <- ")[2].split()[0] for one in words.edges(store)} == {"raw.e", "raw.x", "flag.f"}


def test_a_table_that_is_made_without_rows_owes_no_lineage(store: Store, words: Any) -> None:
    def made(name: str, how: str) -> Any:
        output = words.written(name)
        output["facets"]["lifecycleStateChange"] = {"lifecycleStateChange": how}
        return output

    store.ingest(
        [
            words.run_event("plain", made("plain", "CREATE")),
            words.run_event("query", made("query", "CREATE"), inputs=["raw"]),
            words.run_event("written", made("written", "OVERWRITE")),
            words.run_event("failed", made("plain", "CREATE"), inputs=["raw"], state="FAIL"),
        ]
    )
    found = {(one.job.name, one.covered.value) for one in coverage(store)}
    assert found == {("plain", "full"), ("query", "none"), ("written", "none")}


def test_two_jobs_that_write_the_same_dataset_both_count(store: Store, words: Any) -> None:
    store.ingest([words.run_event(job, words.written("gold", {"a": [f"{job}.x"]})) for job in ("one", "two")])
    assert words.edges(store) == {"gold.a <- one.x IDENTITY", "gold.a <- two.x IDENTITY"}


def test_the_same_event_twice_changes_nothing(store: Store, words: Any) -> None:
    event = words.run_event("j", words.written("gold", {"a": ["raw.x"]}))
    assert store.ingest([event, event]).known == 1
    before = words.contents(store)
    report = store.ingest([dict(reversed(event.items()))])
    assert (report.added, report.known) == (0, 1)
    assert words.contents(store) == before


def test_past_lineage_is_answered_as_of_its_time(store: Store, words: Any) -> None:
    for minute, name in ((10, "x"), (20, "y"), (30, "y"), (40, "x")):
        store.ingest([words.run_event("j", words.written("gold", {"a": [f"raw.{name}"]}), minute=minute)])
    midnight = 1_767_225_600_000_000
    then = [
        [root.column.name for root in roots_of(store, "gold.a", Bounds(as_of=midnight + minute * 60_000_000)).roots]
        for minute in (5, 15, 35, 45)
    ]
    assert then == [[], ["x"], ["y"], ["x"]]


def test_the_run_before_one_that_failed_after_all_is_current(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=1)])
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.y"]}), minute=2, run="r")])
    store.ingest([words.run_event("j", minute=3, run="r", state="FAIL")])
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}


STREAMING = {"jobType": {"processingType": "STREAMING", "integration": "SPARK", "jobType": "SQL_JOB"}}


def streams(words: Any, minute: int, state: str, name: str) -> Any:
    written = words.written("gold", {"a": [f"raw.{name}"]})
    return words.run_event("j", written, minute=minute, state=state, run="r", job_facets=STREAMING)


@pytest.mark.parametrize("end", ["COMPLETE", "FAIL", "ABORT", None])
def test_lineage_of_a_running_stream_counts_however_it_ends(store: Store, words: Any, end: str | None) -> None:
    store.ingest([streams(words, 10, "START", "x")])
    assert words.edges(store) == set()
    events = [streams(words, 20, "RUNNING", "x"), streams(words, 30, "RUNNING", "y")]
    store.ingest(events + ([streams(words, 40, end, "y")] if end else []))
    assert words.edges(store) == {"gold.a <- raw.y IDENTITY"}
    midnight = 1_767_225_600_000_000
    for minute, columns in ((15, []), (25, ["y"]), (45, ["y"])):
        bounds = Bounds(as_of=midnight + minute * 60_000_000)
        assert [root.column.name for root in roots_of(store, "gold.a", bounds).roots] == columns


def test_lineage_of_running_batch_jobs_counts_once_they_have_succeeded(store: Store, words: Any) -> None:
    store.ingest([words.run_event("j", words.written("gold", {"a": ["raw.x"]}), state="RUNNING", run="r")])
    assert words.edges(store) == set()


def test_one_bad_event_does_not_keep_the_others_out(store: Store, words: Any) -> None:
    good = words.run_event("j", words.written("gold", {"a": ["raw.x"]}))
    report = store.ingest(["{", good, "[]", {"run": {}}, {"eventTime": "yesterday", "job": good["job"]}])
    assert report.added == 1
    assert [one.index for one in report.rejected] == [0, 2, 3, 4]
    assert all("xpected" in one.reason for one in report.rejected)


@pytest.mark.parametrize("facet", ["text", [], {"fields": []}, {"fields": {"a": {"inputFields": [{"name": "x"}]}}}])
def test_a_malformed_facet_costs_the_facet_and_is_reported(store: Store, words: Any, facet: Any) -> None:
    output = words.written("gold", {"a": []}) | {"facets": {"columnLineage": facet}}
    assert store.ingest([words.run_event("j", output)]).added == 1
    assert [(one.covered.value, one.gaps[0].kind) for one in coverage(store)] == [("none", "facet")]


def test_facet_1_0_0_is_read(store: Store, words: Any) -> None:
    origin = {"namespace": "file", "name": "/raw", "field": "x"}
    fields = {
        "same": {"inputFields": [origin], "transformationType": "IDENTITY", "transformationDescription": "as is"},
        "hidden": {"inputFields": [origin], "transformationType": "MASKED"},
        "unsaid": {"inputFields": [origin]},
    }
    output = words.written("gold") | {"facets": {"columnLineage": {"fields": fields}}}
    store.ingest([words.run_event("j", output)])
    assert words.edges(store) == {
        "gold.same <- raw.x IDENTITY",
        "gold.hidden <- raw.x TRANSFORMATION",
        "gold.unsaid <- raw.x TRANSFORMATION",
    }
    assert roots_of(store, "gold.hidden").roots[0].transformations[0].transformation.masking


def test_job_events_and_dataset_events_have_lineage_without_a_run(store: Store, words: Any) -> None:
    about_job = words.run_event("j", words.written("gold", {"a": ["raw.x"]}))
    about_dataset = {"eventTime": "2026-01-01T00:00:00Z", "dataset": words.written("silver", {"b": ["raw.y"]})}
    del about_job["run"], about_job["eventType"]
    assert store.ingest([about_job, about_dataset]).added == 2
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY", "silver.b <- raw.y IDENTITY"}
    assert runs(store) == ()


def test_text_that_a_database_cannot_hold_is_taken_all_the_same(store: Store, words: Any) -> None:
    output = words.written("gold", {"a\0\ud800": ["raw.x"]})
    failed = {"errorMessage": {"message": "nul \0 inside"}}
    assert store.ingest([words.run_event("j", output, run_facets=failed)]).added == 1
    assert words.edges(store) == {"gold.a\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER} <- raw.x IDENTITY"}


def test_names_of_ten_thousand_characters_are_names(store: Store, words: Any) -> None:
    long = "ab" * 5_000
    store.ingest([words.run_event("j", words.written(long, {long: [f"raw.{long}"]}))])
    assert len(datasets(store)) == 2
    assert roots_of(store, f"{long}.{long}").roots[0].column.name == long


def test_state_parent_engine_and_error_of_a_run_are_listed(store: Store, words: Any) -> None:
    parent = {"parent": {"run": {"runId": "app"}, "job": {"namespace": "demo", "name": "app"}}}
    facets = parent | {"processing_engine": {"name": "spark", "version": "4.1.4"}, "errorMessage": {"message": "boom"}}
    store.ingest([words.run_event("j", state="START", run="r", minute=1)])
    store.ingest([words.run_event("j", state="FAIL", run="r", minute=2, run_facets=facets)])
    (run,) = runs(store)
    assert (run.state, run.error, run.engine, run.parent) == ("FAIL", "boom", "spark 4.1.4", "app")
    assert run.started_at is not None
    assert run.ended_at == run.started_at + 60_000_000


def test_events_of_parents_and_children_may_come_in_any_order(store: Store, words: Any) -> None:
    def started(run: int, parent: int) -> Any:
        facet = {"run": {"runId": f"r{parent}"}, "job": {"namespace": "demo", "name": "app"}}
        event = words.run_event("j", minute=run, run_facets={"parent": facet})
        return event | {"run": event["run"] | {"runId": f"r{run}"}}

    chain = [(run, run + 1) for run in range(120)]  # more than are written together, each before the one that starts it
    circle = [(200, 201), (201, 200), (300, 300)]
    store.ingest([started(*one) for one in (*chain, *circle)])
    expected = {(f"r{run}", f"r{parent}") for run, parent in (*chain, *circle)}
    assert {(run.id, run.parent) for run in runs(store, most=200)} == expected
