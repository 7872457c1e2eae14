"""A streaming query is one run, from its start to its end, however many batches it has."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.capture.conftest import short_name

from ..sources.watched import EVENTS, Application
from .conftest import PASSWORD

pytestmark = pytest.mark.spark

Streaming = Callable[[str], Application]
Event = Mapping[str, Any]


def runs(watched: Application, query: str) -> dict[str, list[Event]]:
    """The events of each run of a query, by the id of the run."""
    found: dict[str, list[Event]] = {}
    for event in watched.events:
        if event["job"]["name"] == f"streams.{query}":
            found.setdefault(event["run"]["runId"], []).append(event)
    return found


def states(events: list[Event]) -> list[str]:
    return [event["eventType"] for event in events]


def test_many_batches_send_their_lineage_once_and_a_restart_is_another_run(streaming: Streaming) -> None:
    found = runs(streaming("streams"), "again")
    folder = next(streaming("streams").folder.glob("data_*/runs"))
    assert list(found) == folder.read_text().split()
    assert [states(events) for events in found.values()] == [["START", "RUNNING", "COMPLETE"]] * 2


def test_a_run_is_a_stream_below_the_application(streaming: Streaming) -> None:
    application = streaming("streams").events[0]
    for event in next(iter(runs(streaming("streams"), "again").values())):
        assert event["job"]["facets"]["jobType"]["processingType"] == "STREAMING"
        assert event["run"]["facets"]["parent"]["run"]["runId"] == application["run"]["runId"]


def test_a_new_target_of_a_batch_is_sent_when_that_batch_ends(streaming: Streaming) -> None:
    (events,) = runs(streaming("streams"), "elsewhere").values()
    assert states(events) == ["START", "RUNNING", "RUNNING", "COMPLETE"]
    assert [len(event["outputs"]) for event in events] == [0, 2, 3, 3]


def test_a_query_that_dies_has_failed_with_its_lineage_and_the_reason(streaming: Streaming) -> None:
    (events,) = runs(streaming("streams"), "failing").values()
    assert states(events) == ["START", "RUNNING", "FAIL"]
    assert "no more of it" in events[-1]["run"]["facets"]["errorMessage"]["message"]
    assert [output["name"].rpartition("/")[2] for output in events[-1]["outputs"]] == ["out"]


def test_a_write_in_a_thread_of_the_function_is_the_querys(streaming: Streaming) -> None:
    (events,) = runs(streaming("streams"), "threads").values()
    assert sorted(output["name"].rpartition("/")[2] for output in events[-1]["outputs"]) == ["amount", "id"]


def test_the_fields_of_a_struct_are_followed_through_a_batch_and_a_checkpoint_of_it(streaming: Streaming) -> None:
    (events,) = runs(streaming("streams"), "parts").values()
    found = {output["name"].rpartition("/")[2]: output["facets"] for output in events[-1]["outputs"]}
    nested = {name: facets["headwater_nestedLineage"] for name, facets in found.items()}
    made = {
        name: {field: {one["field"] for one in lineage["inputFields"]} for field, lineage in facet["fields"].items()}
        for name, facet in nested.items()
    }
    assert made["parts"] == {"code": {"item.code"}, "kept.code": {"item.code"}, "kept.price": {"item.price"}}
    assert made["checked"] == {"price": {"item.price"}, "code": {"item.code"}}
    assert {one["field"] for one in nested["checked"]["dataset"]} == {"item.price"}


def test_a_query_that_is_stopped_has_completed_and_one_that_is_left_is_aborted(streaming: Streaming) -> None:
    ((stopped,), (left,)) = (runs(streaming("streams"), name).values() for name in ("stopped", "left"))
    assert states(stopped) == ["START", "RUNNING", "COMPLETE"]
    assert states(left) == ["START", "RUNNING", "ABORT"]
    assert left[-1]["outputs"] == left[-2]["outputs"]


def test_queries_without_a_name_are_called_by_what_they_write(streaming: Streaming) -> None:
    jobs = {short_name(event) for event in streaming("streams").events}
    assert {
        "streams.stream.sessions",
        "streams.foreach.shared.customers",
        "streams.foreach_batch.shared.orders",
    } <= jobs


def test_events_of_streams_follow_the_specification(streaming: Streaming, check: Callable[[Event], None]) -> None:
    for event in streaming("streams").events:
        check(event)


def test_no_event_and_no_line_of_the_log_has_the_password_of_the_broker(streaming: Streaming) -> None:
    watched = streaming("kafka")
    assert PASSWORD not in (watched.folder / EVENTS).read_text()
    assert [line for line in watched.printed.splitlines() if PASSWORD in line and "headwater" in line.lower()] == []
    assert json.loads((watched.folder / "plan.json").read_text())["scope"]["password"] == PASSWORD


def test_a_query_without_batches_is_running_as_soon_as_it_writes(streaming: Streaming) -> None:
    (events,) = runs(streaming("streams"), "continuous").values()
    assert states(events) == ["START", "RUNNING", "COMPLETE"]
