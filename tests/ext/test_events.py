"""Facets of runs and jobs, filters of events, and transports."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openlineage.client.transport import Config, Transport
from tests.ext.extensions import extended, extension, plan_of, running

from headwater.ext import RunMoment
from headwater.ext.additions import extended_event
from headwater.ext.transports import transport_targets
from headwater.model import Job, Run, RunState
from headwater.openlineage.delivery import Delivery
from headwater.openlineage.writing.events import run_event, to_json

RUN = Run("018f7a1c-3f5e-7c80-8a5e-6f1e2d3c4b5a", Job("default", "shop.write.out"))


def moment(state: RunState = RunState.COMPLETE) -> RunMoment:
    return RunMoment(RUN, state, datetime(2026, 1, 2, tzinfo=UTC), statement=extended(plan_of("udf", "python")))


def event(*extensions: Any, state: RunState = RunState.COMPLETE) -> dict[str, Any] | None:
    """The event of a run as extensions leave it; None when it is kept back."""
    known = moment(state)
    found = extended_event(run_event(known), known, running(*extensions))
    return json.loads(to_json(found)) if found else None


def of_cluster(known: RunMoment) -> dict[str, Any]:
    return {"shop_cluster": {"nodes": 7, "state": known.state.value}}


def of_team(known: RunMoment) -> dict[str, Any]:
    return {"ownership": {"owners": [{"name": "sales"}], "_schemaURL": "https://example.com/1.json"}}


def test_facets_of_runs_and_jobs_stand_beside_those_of_headwater() -> None:
    plain, found = event(), event(extension(run_facets=(of_cluster,), job_facets=(of_team,)))
    assert plain is not None
    assert found is not None
    base = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/"
    assert found["run"]["facets"].pop("shop_cluster") == {
        "nodes": 7,
        "state": "COMPLETE",
        "_producer": "urn:headwater:extension:shop",
        "_schemaURL": f"{base}RunFacet",
    }
    assert found["job"]["facets"].pop("ownership") == {
        "owners": [{"name": "sales"}],
        "_producer": "urn:headwater:extension:shop",
        "_schemaURL": "https://example.com/1.json",
    }
    assert found == plain


def filtered(keeps: Callable[[dict[str, Any]], Any]) -> dict[str, Any] | None:
    return event(extension(event_filters=(keeps,)))


def without_inputs(one: dict[str, Any]) -> dict[str, Any]:
    one["inputs"] = []
    return one


def test_a_filter_keeps_an_event_or_keeps_it_back_or_changes_it() -> None:
    plain = event()
    assert plain is not None
    assert filtered(lambda one: True) == plain
    assert filtered(lambda one: one["job"]["name"] != RUN.job.name) is None
    assert filtered(without_inputs) == plain | {"inputs": []}
    assert filtered(lambda one: one) == plain


@pytest.mark.parametrize(
    "answer",
    [None, 1, "yes", {}, {"eventTime": "now"}, {"run": 1}, [], {"a": {1, 2}}],
    ids=["nothing", "number", "text", "empty", "no-run", "wrong-run", "list", "set"],
)
def test_an_answer_that_is_no_event_leaves_the_event_as_it_is(answer: Any) -> None:
    assert filtered(lambda one: answer) == event()


def test_filters_follow_each_other() -> None:
    seen: list[int] = []
    counting = extension("counting", event_filters=(lambda one: seen.append(len(one["inputs"])) or True,))
    event(extension(event_filters=(without_inputs,)), counting)
    assert seen == [0]


class Posted(Transport):
    """A transport of the OpenLineage client that remembers what it is given."""

    kind = "posted"
    config_class = Config

    def __init__(self) -> None:
        self.events: list[Any] = []

    def emit(self, event: Any) -> None:
        self.events.append(event)


def deliver(folder: Path, *extensions: Any, seconds: float = 10.0) -> Delivery:
    delivery = Delivery(transport_targets(running(*extensions), seconds), folder / "spool")
    delivery.deliver(run_event(moment()))
    assert delivery.wait(30)
    return delivery


def test_transports_get_the_events(tmp_path: Path) -> None:
    lines: list[str] = []
    posted = Posted()
    delivery = deliver(tmp_path, extension(transports={"lines": lines.append, "client": posted}))
    assert json.loads(lines[0])["run"]["runId"] == RUN.id == posted.events[0].run.runId
    assert {name: counts.delivered for name, counts in delivery.counts.items()} == {"shop+lines": 1, "shop+client": 1}


def test_what_a_transport_cannot_take_waits_for_the_next_run(tmp_path: Path) -> None:
    def away(line: str) -> None:
        raise ConnectionError

    lines: list[str] = []
    waiting = deliver(tmp_path, extension(transports={"hub": away}))
    assert waiting.counts["shop+hub"].waiting == 1
    waiting.close()
    deliver(tmp_path, extension(transports={"hub": lines.append}))
    assert len(lines) == 2


def test_each_transport_has_a_spool_of_its_own(tmp_path: Path) -> None:
    def away(line: str) -> None:
        raise ConnectionError

    for name, transport in (("a-b", "c"), ("a", "b-c"), ("a.b", "c"), ("a_b", "c")):
        delivery = deliver(tmp_path, extension(name, transports={transport: away}))
        assert [counts.waiting for counts in delivery.counts.values()] == [1]
        delivery.close()


def test_a_transport_that_hangs_is_left_alone_from_then_on(tmp_path: Path) -> None:
    def hang(line: str) -> None:
        while True:
            pass

    lines: list[str] = []
    shop = extension(transports={"hub": hang, "lines": lines.append})
    delivery = Delivery(transport_targets(running(shop), 0.2), tmp_path, rest=0.0)
    for _ in range(3):
        delivery.deliver(run_event(moment()))
    delivery.close()
    assert len(lines) == 3
    assert delivery.counts["shop+hub"].waiting == 3
