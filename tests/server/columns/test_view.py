"""The view is the walk both ways, with all that the page shows of columns and edges."""

from collections.abc import Callable
from typing import Any

import pytest
from fastapi.testclient import TestClient
from tests.cli.conftest import EVENTS
from tests.server.columns.answers import Json, rows_of
from tests.server.columns.conftest import LINEAGE
from tests.store.conftest import run_event, written

Ask = Callable[..., Json]


def edges(view: Json) -> set[str]:
    """Edges as ``"silver/flights.delay <- landing/flights.dep_delay TRANSFORMATION by clean"``."""
    columns, names = rows_of(view["columns"]), view["datasets"]["name"]

    def short(dataset: int, field: str) -> str:
        return f"{names[dataset].removeprefix('/data/')}.{field}"

    def output(place: int) -> str:
        return short(-1 - place, "*") if place < 0 else short(columns[place]["dataset"], columns[place]["field"])

    return {
        f"{output(edge['output'])} <- {output(edge['input'])} "
        f"{view['transformations']['subtype'][edge['transformation']]} by {view['jobs']['name'][edge['job']]}"
        for edge in rows_of(view["edges"])
    }


def column(view: Json, field: str) -> Json:
    (found,) = [one for one in rows_of(view["columns"]) if one["field"] == field]
    return found


def test_a_view_has_both_sides_of_its_focus_and_every_edge(ask: Ask) -> None:
    view = ask("view", column="silver/flights.delay")
    assert edges(view) == {
        "silver/flights.delay <- landing/flights.dep_delay TRANSFORMATION by clean",
        "silver/flights.* <- landing/flights.cancelled FILTER by clean",
        "gold/delays.avg_delay <- silver/flights.delay AGGREGATION by gold",
    }
    focus = rows_of(view["columns"])[view["focus"]["column"]]
    assert (focus["field"], focus["up"], focus["down"]) == ("delay", 0, 0)
    assert view["datasets"]["name"][view["focus"]["dataset"]] == "/data/silver/flights"
    assert (column(view, "dep_delay")["up"], column(view, "dep_delay")["down"]) == (1, None)
    assert (column(view, "avg_delay")["up"], column(view, "avg_delay")["down"]) == (None, 1)
    assert (view["asOf"], view["truncated"], view["depth"]) == (None, [], {"up": None, "down": None})


def test_each_side_has_its_own_depth_and_says_where_more_is(ask: Ask) -> None:
    view = ask("view", column="avg_delay", type="DIRECT", up=1, down=0)
    assert edges(view) == {"gold/delays.avg_delay <- silver/flights.delay AGGREGATION by gold"}
    assert (column(view, "delay")["moreUp"], column(view, "delay")["moreDown"]) == (1, 0)
    assert column(view, "avg_delay")["moreUp"] == 0
    assert (view["depth"], view["truncated"]) == ({"up": 1, "down": 0}, ["depth"])
    alone = ask("view", column="silver/flights.delay", type="DIRECT", up=0, down=0)
    assert edges(alone) == set()
    assert (column(alone, "delay")["moreUp"], column(alone, "delay")["moreDown"]) == (1, 1)


def test_the_depth_of_both_sides_is_that_of_each_without_its_own(ask: Ask) -> None:
    both = ask("view", column="silver/flights.delay", depth=1, up=0)
    assert both["depth"] == {"up": 0, "down": 1}
    assert edges(both) == {"gold/delays.avg_delay <- silver/flights.delay AGGREGATION by gold"}


def test_inputs_of_a_use_that_the_focus_is_not_made_of_are_more_and_no_edges(served: TestClient) -> None:
    event = run_event("job", written("out", {"y": ["in.x", "other.z"]}))
    assert served.post(LINEAGE, json=event).status_code == 201
    view = served.get("/api/v2/view?column=in.x").json()
    assert [one["field"] for one in rows_of(view["columns"])] == ["x", "y"]
    assert (column(view, "y")["moreUp"], column(view, "x")["moreDown"]) == (1, 0)


def test_a_view_of_a_dataset_has_all_of_its_columns_as_its_focus(served: TestClient) -> None:
    assert served.post(LINEAGE, json=EVENTS).status_code == 201
    view = served.get("/api/v2/view?namespace=file&dataset=/data/silver/flights").json()
    assert view["focus"]["column"] == -1
    place = view["focus"]["dataset"]
    inside = {one["field"] for one in rows_of(view["columns"]) if one["dataset"] == place and one["up"] == 0}
    assert inside == {"carrier", "tail", "delay"}
    assert rows_of(view["datasets"])[place]["width"] == 3


def test_a_dataset_without_a_known_column_is_a_view_too(served: TestClient) -> None:
    event = run_event("job", written("bare", {}))
    assert served.post(LINEAGE, json=event).status_code == 201
    view = served.get("/api/v2/view?namespace=file&dataset=/bare").json()
    assert (view["focus"]["column"], view["columns"]["id"], len(view["datasets"]["id"])) == (-1, [], 1)


def test_types_come_from_schemas_and_are_null_without_one(served: TestClient) -> None:
    output = written("out", {"y": ["in.x"]})
    output["facets"]["schema"] = {"fields": [{"name": "y", "type": "decimal(10,2)"}, {"name": "n", "type": "int"}]}
    assert served.post(LINEAGE, json=run_event("job", output)).status_code == 201
    view = served.get("/api/v2/view?column=out.y").json()
    assert (column(view, "y")["dataType"], column(view, "x")["dataType"]) == ("decimal(10,2)", None)
    widths = {one["name"]: one["width"] for one in rows_of(view["datasets"])}
    assert widths == {"/out": 2, "/in": 1}


def test_descriptions_and_marks_of_edges_are_in_the_view(served: TestClient) -> None:
    output = written("out", {"y": ["in.x"]})
    output["facets"]["columnLineage"]["fields"]["y"]["inputFields"][0]["transformations"] = [
        {"type": "DIRECT", "subtype": "TRANSFORMATION", "masking": True, "description": "sha2(x, 256)"}
    ]
    assert served.post(LINEAGE, json=run_event("job", output)).status_code == 201
    view = served.get("/api/v2/view?column=out.y").json()
    (kind,) = rows_of(view["transformations"])
    assert (kind["masking"], view["descriptions"][kind["description"]]) == (True, "sha2(x, 256)")


def test_an_edge_that_is_possibly_replaced_says_since_when_and_by_which_run(served: TestClient) -> None:
    first = run_event("first", written("out", {"y": ["in.x"]}), minute=1)
    later = run_event("later", written("out", {"y": ["other.x"]}), minute=2)
    later["outputs"][0]["facets"]["lifecycleStateChange"] = {"lifecycleStateChange": "OVERWRITE"}
    assert served.post(LINEAGE, json=[first, later]).status_code == 201
    view = served.get("/api/v2/view?column=out.y").json()
    marks = {
        view["jobs"]["name"][edge["job"]]: [view["stale"]["since"][edge["stale"]], edge["stale"]][edge["stale"] < 0]
        for edge in rows_of(view["edges"])
    }
    assert marks["later"] == -1
    assert marks["first"].endswith("00:02:00Z")
    assert view["jobs"]["name"][view["stale"]["job"][0]] == "later"


def test_a_view_of_another_moment_says_which(ask: Ask) -> None:
    assert (
        ask("view", column="silver/flights.delay", as_of="2026-01-01T00:00:30+00:00")["asOf"] == "2026-01-01T00:00:30Z"
    )


@pytest.mark.parametrize("wrong", [{"up": -1}, {"sideways": 2}, {"form": "compact"}])
def test_parameters_that_mean_nothing_are_refused(flights: TestClient, wrong: dict[str, Any]) -> None:
    assert flights.get("/api/v2/view", params={"column": "avg_delay"} | wrong).status_code == 422


def test_a_step_says_when_it_was_first_and_last_seen(served: TestClient) -> None:
    for minute, source in ((1, "in.x"), (2, "in.x"), (3, "in.z")):
        output = written("out", {"y": [source, "other.a"], "*": ["in.k FILTER"]})
        event = run_event("job", output, minute=minute, run=str(minute))
        assert served.post(LINEAGE, json=event).status_code == 201
    view = served.get("/api/v2/view?column=out.y").json()
    (job,) = view["jobs"]["id"]
    ids = dict(zip(view["columns"]["field"], view["columns"]["id"], strict=True))
    whole = dict(zip(view["datasets"]["name"], view["datasets"]["id"], strict=True))["/out"]

    def seen(source: int, end: int) -> tuple[str, str, bool]:
        step = served.get("/api/v2/step", params={"input": source, "output": end, "job": job}).json()
        return step["firstSeen"][14:16], step["lastSeen"][14:16], step["run"] == event["run"]["runId"]

    assert seen(ids["a"], ids["y"]) == ("01", "03", True)
    assert seen(ids["k"], -whole) == ("01", "03", True)
    (gone,) = [one["id"] for one in served.get("/api/v2/columns?q=x").json()["columns"] if one["field"] == "x"]
    assert seen(gone, ids["y"]) == ("01", "03", False)
    nothing = served.get("/api/v2/step", params={"input": ids["y"], "output": ids["a"], "job": job})
    assert nothing.status_code == 404
    beyond = {"input": ids["y"], "output": 99075398337807888941056, "job": job}
    assert served.get("/api/v2/step", params=beyond).status_code == 422
