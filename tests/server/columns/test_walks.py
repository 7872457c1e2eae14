"""Upstream and downstream over HTTP: forms, filters, pages, other times."""

import tempfile
from collections.abc import Callable
from typing import Any
from uuid import NAMESPACE_OID, uuid5
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.server.columns.answers import Json, reached, short, spelled_out, steps, unordered
from tests.server.columns.conftest import LINEAGE
from tests.store.conftest import new_file, run_event, written

from headwater.server import ServerSettings, create_app

Ask = Callable[..., Json]


def test_upstream_is_every_column_before_and_every_step(ask: Ask) -> None:
    answer = ask("upstream", column="avg_delay")
    assert reached(answer) == {
        "delays.avg_delay": 0,
        "flights.carrier": 2,
        "flights.delay": 1,
        "flights.cancelled": 2,
        "flights.dep_delay": 2,
    }
    assert steps(answer["hops"]) == {
        "delays.avg_delay <- flights.delay AGGREGATION by gold",
        "delays.* <- flights.carrier GROUP_BY by gold",
        "flights.delay <- flights.dep_delay TRANSFORMATION by clean",
        "flights.carrier <- flights.carrier IDENTITY by clean",
        "flights.* <- flights.cancelled FILTER by clean",
    }
    assert (answer["truncated"], answer["next"]) == ([], None)


def test_downstream_of_a_raw_source_column(ask: Ask) -> None:
    answer = ask("downstream", namespace="file", dataset="/data/landing/flights", field="dep_delay")
    assert reached(answer) == {"flights.dep_delay": 0, "flights.delay": 1, "delays.avg_delay": 2}


def test_both_directions_are_the_two_walks_with_both_distances(ask: Ask) -> None:
    start = {"column": "silver/flights.delay"}
    up, down, both = (ask(route, **start) for route in ("upstream", "downstream", "lineage"))
    assert both["direction"] == "both"
    assert steps(both["hops"]) == steps(up["hops"]) | steps(down["hops"])
    sides = {short(one) + one["name"][6]: (one["up"], one["down"], one["distance"]) for one in both["columns"]}
    assert sides == {
        "flights.delays": (0, 0, 0),
        "flights.dep_delayl": (1, None, 1),
        "flights.cancelledl": (1, None, 1),
        "delays.avg_delayg": (None, 1, 1),
    }
    assert ask("lineage", **start, direction="up") == up
    assert ask("lineage", **start, direction="down") == down


def test_both_directions_in_every_form(flights: TestClient, ask: Ask) -> None:
    start = {"column": "silver/flights.delay"}
    both = ask("lineage", **start)
    assert unordered(spelled_out(ask("lineage", **start, form="compact"))) == unordered(both)
    ids = ask("lineage", **start, form="ids")["columns"]
    assert sorted(zip(ids["up"], ids["down"], strict=True), key=repr) == sorted(
        ((one["up"], one["down"]) for one in both["columns"]), key=repr
    )
    collapsed = ask("lineage", **start, collapse="dataset")["datasets"]
    assert {one["name"]: (one["up"], one["down"]) for one in collapsed} == {
        "/data/landing/flights": (1, None),
        "/data/silver/flights": (0, 0),
        "/data/gold/delays": (None, 1),
    }
    for form in ("csv", "mermaid", "dot", "graphml"):
        text = flights.get("/api/v2/lineage", params={**start, "format": form}).text
        assert all(word in text for word in ("dep_delay", "cancelled", "avg_delay"))
        assert "tailnum" not in text


def test_a_cycle_is_on_both_sides(client: TestClient) -> None:
    there, back = run_event("there", written("a", {"x": ["b.x"]})), run_event("back", written("b", {"x": ["a.x"]}))
    client.post(LINEAGE, json=[there, back, run_event("out", written("c", {"x": ["b.x"]}))])
    both = client.get("/api/v2/lineage?column=a.x").json()
    assert {short(one): (one["up"], one["down"]) for one in both["columns"]} == {
        "a.x": (0, 0),
        "b.x": (1, 1),
        "c.x": (None, 2),
    }
    assert len(both["hops"]) == 3
    paged = [client.get("/api/v2/lineage?column=a.x&limit=1").json()]
    while paged[-1]["next"] is not None:
        paged.append(client.get(f"/api/v2/lineage?column=a.x&limit=1&cursor={paged[-1]['next']}").json())
    assert len(paged) == 3
    assert [one for page in paged for one in page["columns"]] == both["columns"]
    assert sum(len(page["hops"]) for page in paged) == 3


def test_both_directions_of_a_dataset_without_columns(client: TestClient) -> None:
    client.post(LINEAGE, json=run_event("count", written("counted", {"*": ["raw.x FILTER"]})))
    for start, sides in (
        ("/counted", {"/counted": (0, 0), "/raw": (1, None)}),
        ("/raw", {"/raw": (0, 0), "/counted": (None, 1)}),
    ):
        answer = client.get(f"/api/v2/lineage?namespace=file&dataset={start}&collapse=dataset").json()
        assert {one["name"]: (one["up"], one["down"]) for one in answer["datasets"]} == sides


def test_a_name_is_exact_or_an_ending_not_both_and_not_none(flights: TestClient) -> None:
    for question, status, words in (
        ("column=nothing_of_that", 404, "No dataset or column"),
        ("column=flights", 409, "Type more"),
        ("namespace=file&dataset=/data/gold/delays&field=no", 404, "has no column 'no'"),
        ("namespace=file&dataset=/no", 404, "No dataset of the store"),
        ("column=a&dataset=b", 400, "either column="),
        ("", 400, "either column="),
        ("colum=avg_delay", 422, "colum"),
    ):
        answer = flights.get(f"/api/v2/upstream?{question}")
        assert (answer.status_code, words in answer.json()["message"]) == (status, True), answer.text


def test_a_symlink_may_name_the_whole_dataset(ask: Ask) -> None:
    answer = ask("upstream", namespace="hive", dataset="gold.delays", depth=1)
    assert {column for column, far in reached(answer).items() if far == 1} == {"flights.carrier", "flights.delay"}


@pytest.mark.parametrize(
    ("filters", "columns"),
    [
        ({"subtype": ["AGGREGATION"]}, {"delays.avg_delay", "flights.delay"}),
        ({"subtype": ["AGGREGATION", "TRANSFORMATION"]}, {"delays.avg_delay", "flights.delay", "flights.dep_delay"}),
        ({"type": "DIRECT"}, {"delays.avg_delay", "flights.delay", "flights.dep_delay"}),
        ({"job": "gold"}, {"delays.avg_delay", "flights.delay", "flights.carrier"}),
        ({"job": "demo/gold"}, {"delays.avg_delay", "flights.delay", "flights.carrier"}),
        ({"within": "s3://*"}, {"delays.avg_delay"}),
        ({"masking": True}, {"delays.avg_delay"}),
    ],
    ids=lambda value: "" if isinstance(value, set) else str(value),
)
def test_an_edge_that_is_filtered_out_is_not_walked(ask: Ask, filters: Json, columns: set[str]) -> None:
    for form in ("readable", "compact"):
        answer = ask("upstream", column="avg_delay", form=form, **filters)
        graph = answer if form == "readable" else spelled_out(answer)
        assert set(reached(graph)) == columns


def test_masking_edges_can_be_followed_or_left_out(ask: Ask) -> None:
    assert set(reached(ask("downstream", column="tailnum", masking=True))) == {"flights.tailnum", "flights.tail"}
    assert set(reached(ask("downstream", column="tailnum", masking=False))) == {"flights.tailnum"}


def test_limits_cut_say_so_and_can_be_lowered_but_not_raised(ask: Ask, tmp_path: Any) -> None:
    assert ask("upstream", column="avg_delay", depth=1)["truncated"] == ["depth"]
    assert ask("upstream", column="avg_delay", columns=1)["truncated"] == ["columns"]
    settings = ServerSettings(f"sqlite:///{tmp_path}/low.db", depth_limit=1)
    with TestClient(create_app(settings)) as client:
        client.post(
            LINEAGE, json=[run_event("a", written("b", {"x": ["a.x"]})), run_event("b", written("c", {"x": ["b.x"]}))]
        )
        answer = client.get("/api/v2/upstream?column=c.x&depth=9")
        assert (answer.json()["truncated"], answer.headers["headwater-truncated"]) == (["depth"], "depth")


def test_pages_together_are_the_whole_and_name_nothing_unread(ask: Ask) -> None:
    for form in ("readable", "compact"):
        whole = ask("upstream", column="delays", form=form)
        columns, hops, cursor = [], [], None
        while True:
            page = ask("upstream", column="delays", form=form, limit=2, **({"cursor": cursor} if cursor else {}))
            cursor = page["next"]
            if form == "readable":
                columns += page["columns"]
                hops += page["hops"]
                assert {short(hop["input"]) for hop in page["hops"]} <= set(map(short, columns))
            else:
                columns += page["columns"]["id"]
                hops += zip(*page["edges"].values(), strict=True)
            if cursor is None:
                break
        if form == "readable":
            assert (columns, unordered(hops)) == (whole["columns"], unordered(whole["hops"]))
        else:
            assert columns == whole["columns"]["id"]
            assert sorted(hops) == sorted(zip(*whole["edges"].values(), strict=True))


def test_a_strange_cursor_is_refused(flights: TestClient) -> None:
    for cursor in ("x", "WyJhIl0", "e30", "%F0%9F"):
        assert flights.get(f"/api/v2/upstream?column=avg_delay&limit=1&cursor={cursor}").status_code == 400


def test_ids_alone(ask: Ask) -> None:
    ids = ask("upstream", column="avg_delay", form="ids")
    assert ids["columns"] == {
        name: ask("upstream", column="avg_delay", form="compact")["columns"][name] for name in ("id", "distance")
    }


def test_columns_of_a_dataset_taken_together(ask: Ask) -> None:
    answer = ask("upstream", column="avg_delay", collapse="dataset")
    assert [(one["name"], one["distance"]) for one in answer["datasets"]] == [
        ("/data/gold/delays", 0),
        ("/data/silver/flights", 1),
        ("/data/landing/flights", 2),
    ]
    assert [(hop["input"]["name"], hop["output"]["name"], hop["edges"]) for hop in answer["hops"]] == [
        ("/data/landing/flights", "/data/silver/flights", 3),
        ("/data/silver/flights", "/data/gold/delays", 2),
    ]


def test_exports(flights: TestClient) -> None:
    for collapse in ("", "&collapse=dataset"):
        forms = {
            form: flights.get(f"/api/v2/downstream?column=dep_delay&format={form}{collapse}")
            for form in ("csv", "mermaid", "dot", "graphml")
        }
        assert forms["csv"].text.startswith("input_namespace,input_dataset,")
        assert forms["mermaid"].text.startswith("flowchart LR\n")
        assert forms["dot"].text.startswith("digraph lineage {\n")
        graph = ElementTree.fromstring(forms["graphml"].text)
        arrows = graph.findall(".//{*}edge")
        assert len(arrows) == 2
        assert {one.get("source") for one in arrows} <= {one.get("id") for one in graph.findall(".//{*}node")}
    assert forms["graphml"].headers["content-type"] == "application/graphml+xml"
    assert flights.get("/api/v2/downstream?column=dep_delay&format=csv&limit=1").status_code == 400


def test_odd_names_are_well_formed_graphml(client: TestClient) -> None:
    assert (
        client.post(
            LINEAGE, json=run_event("j", written("<&\"'>\x01", {"a]]>\x02": ["s.<x> TRANSFORMATION"]}))
        ).status_code
        == 201
    )
    answer = client.get("/api/v2/downstream?namespace=file&dataset=/s&format=graphml")
    texts = [one.text for one in ElementTree.fromstring(answer.text).findall(".//{*}data")]
    assert "/<&\"'>\ufffd" in texts


def test_another_time_by_time_or_by_run(served: TestClient) -> None:
    events = [
        run_event("job", written("gold", {"a": [f"raw.{column}"]}), minute=minute, run=f"run {minute}")
        for minute, column in enumerate("xyz")
    ]
    assert served.post(LINEAGE, json=events).status_code == 201

    def before(**parameters: str) -> set[str]:
        answer = served.get("/api/v2/upstream", params={"column": "gold.a", **parameters})
        return set(reached(answer.json())) - {"gold.a"}

    assert before() == {"raw.z"}
    assert before(as_of="2026-01-01T00:01:30Z") == {"raw.y"}
    assert before(as_of="2026-01-01T01:00:30+01:00") == {"raw.x"}
    assert before(as_of=str(uuid5(NAMESPACE_OID, "run 1"))) == {"raw.y"}
    for as_of, status in (("yesterday", 400), ("00000000-0000-0000-0000-000000000000", 404)):
        assert served.get("/api/v2/upstream", params={"column": "gold.a", "as_of": as_of}).status_code == status


def test_the_same_from_either_kind_of_database(served: TestClient) -> None:
    served.post(LINEAGE, json=[run_event("b", written("b", {"x": ["a.x", "a.y FILTER"], "*": ["a.z JOIN"]}))])
    for form in ("readable", "compact", "ids"):
        for filters in ("", "&subtype=IDENTITY&job=b&masking=false&within=f*", "&type=INDIRECT", "&type=DIRECT"):
            assert served.get(f"/api/v2/upstream?column=b.x&form={form}{filters}").status_code == 200
    compact = spelled_out(served.get("/api/v2/upstream?column=b.x&form=compact").json())
    assert reached(compact) == {"b.x": 0, "a.x": 1, "a.y": 1, "a.z": 1}


DATASETS, COLUMNS = "abc", "xy"
FILTERS = st.sampled_from(["", "&type=DIRECT", "&type=INDIRECT", "&masking=false"])
EDGE = st.tuples(
    st.sampled_from(DATASETS),
    st.sampled_from([*COLUMNS, "*"]),
    st.sampled_from(DATASETS),
    st.sampled_from(COLUMNS),
    st.sampled_from(["IDENTITY", "AGGREGATION masked", "FILTER"]),
)


@settings(max_examples=12)
@given(edges=st.lists(EDGE, max_size=8), filters=FILTERS)
@example(
    edges=[("a", "x", "a", "x", "IDENTITY"), ("a", "x", "a", "y", "IDENTITY"), ("b", "x", "a", "x", "FILTER")],
    filters="&type=INDIRECT",
)
def test_both_forms_agree_and_each_path_leads_back(edges: list[tuple[str, ...]], filters: str) -> None:
    outputs = {name: {column: [] for column in COLUMNS} for name in DATASETS}  # type: ignore[var-annotated]
    for output, column, source, field, how in edges:
        words = f"{source}.{field} {'FILTER' if column == '*' else how}"
        outputs[output].setdefault(column, []).append(words)
    with (
        tempfile.TemporaryDirectory() as folder,
        TestClient(create_app(ServerSettings(f"sqlite:///{new_file(folder)}"))) as client,
    ):
        client.post(LINEAGE, json=[run_event(name, written(name, fields)) for name, fields in outputs.items()])

        def ask(question: str, column: str) -> Json:
            answer: Json = client.get(f"/api/v2/{question}&column={column}{filters}").json()
            return answer

        for column in (f"{name}.{field}" for name in DATASETS for field in COLUMNS):
            for route in ("upstream", "downstream"):
                readable = ask(f"{route}?form=readable", column)
                assert unordered(spelled_out(ask(f"{route}?form=compact", column))) == unordered(readable)
            back = {
                other: reached(ask("upstream?form=readable", other))
                for other in reached(ask("downstream?form=readable", column))
            }
            for other, upstream in back.items():
                # A path may be INDIRECT by a later step only: then it is its end that leads back, over this column.
                ends = back.values() if filters == "&type=INDIRECT" else [upstream]
                assert any(column in end and other in end for end in ends)


def test_both_apis_lead_through_files_that_are_read_in_another_format(served: TestClient) -> None:
    events = [
        run_event("write", written("mid", {"_c0": ["raw.id"]})),
        run_event("read", written("out", {"a": ["mid.value"]})),
    ]
    for one in events:
        served.post("/api/v1/lineage", json=one).raise_for_status()
    query = {"namespace": "file", "dataset": "/out", "field": "a"}
    answer = served.get("/api/v2/upstream", params=query).json()
    assert reached(answer) == {"out.a": 0, "mid.value": 1, "mid._c0": 2, "raw.id": 3}
    graph = served.get("/api/v1/column-lineage", params={"nodeId": "datasetField:file:/out:a"}).json()["graph"]
    assert {node["id"].rpartition("file:")[2] for node in graph} == {"/out:a", "/mid:value", "/mid:_c0", "/raw:id"}
