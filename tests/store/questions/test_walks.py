"""Walks against a graph searched by brute force: roots, show, impact, path."""

import tempfile
from itertools import product
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.conftest import new_store

from headwater.model import IDENTITY, Subtype, Transformation, compose
from headwater.store import Store
from headwater.store.questions import (
    Bounds,
    Direction,
    EdgeType,
    Graph,
    Origin,
    datasets_from,
    impact_of,
    paths_between,
    roots_of,
    walk_from,
)

DATASETS = ("a", "b", "c", "d")
COLUMNS = ("x", "y")
SUBTYPES = ("IDENTITY", "AGGREGATION", "CONDITIONAL")


def short(column: Any) -> str:
    return f"{column.dataset.dataset.name[1:]}.{column.name}"


def described(roots: Any) -> dict[str, set[str]]:
    return {
        short(root.column): {
            step.transformation.subtype.value + (" dataset" if step.whole_dataset else "")
            for step in root.transformations
        }
        for root in roots.roots
    }


@pytest.fixture
def shop(store: Store, words: Any) -> Store:
    """Three jobs: raw orders and customers, clean ones, a report."""
    clean = words.written(
        "clean",
        {
            "id": ["orders.id"],
            "total": ["orders.price TRANSFORMATION", "orders.count TRANSFORMATION"],
            "*": ["orders.void FILTER"],
        },
    )
    report = words.written(
        "report",
        {
            "name": ["customers.name"],
            "spent": ["clean.total AGGREGATION"],
            "made_on": [],
            "*": ["clean.id JOIN", "customers.id JOIN", "customers.name GROUP_BY"],
        },
    )
    best = words.written("best", {"spent": ["report.spent IDENTITY", "report.name WINDOW"]})
    store.ingest([words.run_event("clean", clean), words.run_event("report", report), words.run_event("best", best)])
    return store


def test_roots_are_composed_over_all_jobs(shop: Store) -> None:
    assert described(roots_of(shop, "best.spent")) == {
        "orders.price": {"AGGREGATION"},
        "orders.count": {"AGGREGATION"},
        "orders.void": {"FILTER dataset", "WINDOW", "JOIN dataset"},
        "orders.id": {"JOIN dataset", "WINDOW"},
        "customers.id": {"JOIN dataset", "WINDOW"},
        "customers.name": {"GROUP_BY dataset", "WINDOW"},
    }
    price = next(root for root in roots_of(shop, "best.spent").roots if root.column.name == "price")
    assert [job.name for job in price.jobs] == ["clean", "report", "best"]
    assert price.distance == 3


def test_the_path_of_a_root_leads_over_applications_too(store: Store, words: Any) -> None:
    def part(name: str, application: str, made: dict[str, list[str]], dataset: str) -> Any:
        parent = {"run": {"runId": str(uuid4())}, "job": {"namespace": "demo", "name": application}}
        return words.run_event(name, words.written(dataset, made), run_facets={"parent": parent})

    store.ingest(
        [
            part("land.append.a", "land", {"x": ["raw.x"]}, "a"),
            part("land.append.b", "land", {"x": ["a.x"]}, "b"),
            part("task", "dag", {"x": ["b.x"]}, "c"),
        ]
    )
    (root,) = roots_of(store, "c.x").roots
    assert [job.name for job in root.jobs] == ["land.append.a", "land.append.b", "task"]
    assert [job.name for job in root.applications] == ["land", "task"]


def test_direct_roots_leave_out_what_only_influences(shop: Store) -> None:
    direct = roots_of(shop, "best.spent", Bounds(edge_type=EdgeType.DIRECT))
    assert set(described(direct)) == {"orders.price", "orders.count"}
    indirect = roots_of(shop, "best.spent", Bounds(edge_type=EdgeType.INDIRECT))
    assert set(described(indirect)) == {"orders.void", "orders.id", "customers.id", "customers.name"}


@pytest.mark.parametrize("facet", ["a transformation", "none", "explicit lineage"])
def test_a_value_that_comes_to_all_columns_is_a_direct_root(store: Store, words: Any, facet: str) -> None:
    """Such a step was found by who asked for direct ones where any other event, of anybody, had an opaque one."""
    output = words.written("b", {"x": [], "*": ["a.v TRANSFORMATION"]})
    (source,) = output["facets"]["columnLineage"]["dataset"]
    if facet != "a transformation":
        del source["transformations"]
    if facet == "explicit lineage":
        output["facets"]["lineage"] = {"inputs": [source | {"type": "DATASET"}]}
        del output["facets"]["columnLineage"]
    store.ingest([words.run_event("one", output), words.run_event("two", words.written("c", {"z": ["b.x"]}))])
    direct = Bounds(edge_type=EdgeType.DIRECT)
    assert set(described(roots_of(store, "c.z", direct))) == {"a.v"}
    (hop,) = (one for one in walk_from(store, "c.z", Direction.UP, direct).hops if one.output is None)
    assert [one.opaque for one in hop.transformations] == [True]


def test_the_columns_of_a_source_are_roots_themselves(shop: Store) -> None:
    answer = roots_of(shop, "orders.price")
    assert (answer.roots, answer.origin) == ((), Origin.SOURCE)


def test_a_literal_still_depends_on_what_decides_its_rows(shop: Store) -> None:
    assert "customers.id" in described(roots_of(shop, "report.made_on"))


def test_a_literal_and_an_unexplained_output_have_different_evidence(store: Store, words: Any) -> None:
    store.ingest([words.run_event("one", words.written("a", {"x": []})), words.run_event("two", words.written("b"))])
    store.ingest([words.run_event("three", words.written("c", {"x": ["a.x", "b.x", "d.x"]}))])
    origins = {short(root.column): root.origin for root in roots_of(store, "c.x").roots}
    assert origins == {"a.x": Origin.CONSTANT, "b.x": Origin.UNKNOWN, "d.x": Origin.SOURCE}


def test_a_table_made_from_itself_only_is_its_own_root(store: Store, words: Any) -> None:
    store.ingest([words.run_event("merge", words.written("t", {"x": ["t.x"], "y": ["t.y", "s.y"]}))])
    store.ingest(
        [
            words.run_event("there", words.written("p", {"x": ["q.x"]})),
            words.run_event("back", words.written("q", {"x": ["p.x"]})),
        ]
    )
    store.ingest([words.run_event("out", words.written("o", {"x": ["t.x", "t.y", "q.x"]}))])
    assert roots_of(store, "t.x").origin is Origin.CYCLE
    origins = {short(root.column): root.origin for root in roots_of(store, "o.x").roots}
    assert origins == {"t.x": Origin.CYCLE, "s.y": Origin.SOURCE, "p.x": Origin.CYCLE, "q.x": Origin.CYCLE}


def test_impact_groups_what_depends_by_dataset(shop: Store) -> None:
    impact = impact_of(shop, "orders.void")
    assert [(str(one.dataset), one.distance, [job.name for job in one.jobs]) for one in impact.datasets] == [
        ("file:/clean", 1, ["clean"]),
        ("file:/report", 2, ["report"]),
        ("file:/best", 3, ["best"]),
    ]
    assert [one.column.name for one in impact.datasets[1].columns] == ["made_on", "name", "spent"]


def test_a_walk_may_start_at_a_whole_dataset(shop: Store) -> None:
    up = walk_from(shop, "report", Direction.UP)
    assert {short(column) for column, far in up.columns.items() if far == 1} == {
        *("clean.id", "clean.total", "customers.id", "customers.name"),
    }
    assert {str(one.dataset) for one in impact_of(shop, "orders").datasets} == {
        "file:/clean",
        "file:/report",
        "file:/best",
    }


def test_depth_cuts_and_says_so_only_when_there_is_more(shop: Store) -> None:
    assert walk_from(shop, "clean.id", bounds=Bounds(depth=1)).truncated == ()
    cut = walk_from(shop, "best.spent", bounds=Bounds(depth=1))
    assert cut.truncated == ("depth",)
    assert {short(column) for column in cut.columns} == {"best.spent", "report.spent", "report.name"}


def test_a_cut_walk_takes_nothing_for_a_root_that_it_did_not_look_behind(shop: Store) -> None:
    answer = roots_of(shop, "best.spent", Bounds(columns=1))
    assert (answer.roots, answer.truncated) == ((), ("columns",))
    assert roots_of(shop, "best.spent", Bounds(seconds=0)).truncated == ("time",)


def test_paths_come_shortest_first_with_every_step(shop: Store) -> None:
    answer = paths_between(shop, "orders.id", "best.spent")
    steps = [[(hop.output is None, hop.job.name) for (hop,) in path.steps] for path in answer.paths]
    assert steps == [
        [(False, "clean"), (True, "report"), (False, "best")],
        [(False, "clean"), (True, "report"), (False, "best")],
    ]
    assert {short(path.columns[2]) for path in answer.paths} == {"report.spent", "report.name"}


def test_a_path_is_found_from_either_end(shop: Store) -> None:
    answer = paths_between(shop, "best.spent", "orders.price")
    assert (short(answer.source), short(answer.target)) == ("orders.price", "best.spent")
    assert paths_between(shop, "orders.price", "customers.name").paths == ()


def test_paths_are_bounded_where_there_are_very_many(store: Store, words: Any) -> None:
    fields = [f"f{place}" for place in range(8)]
    for level in range(8):
        lineage = {field: [f"l{level}.{other}" for other in fields] for field in fields}
        store.ingest([words.run_event(f"j{level}", words.written(f"l{level + 1}", lineage))])
    answer = paths_between(store, "l0.f0", "l8.f0", most=5)
    assert [len(path.steps) for path in answer.paths] == [8] * 5
    assert len(roots_of(store, "l8.f0").roots) == 8


EDGE = st.tuples(
    st.sampled_from(DATASETS),
    st.sampled_from([*COLUMNS, "*"]),
    st.sampled_from(DATASETS),
    st.sampled_from(COLUMNS),
    st.sampled_from(SUBTYPES),
)


def graph_store(words: Any, folder: str, edges: list[tuple[str, ...]]) -> Store:
    store = new_store(folder)
    for dataset in DATASETS:
        fields: dict[str, list[str]] = {column: [] for column in COLUMNS}
        for output, column, *source, subtype in edges:
            if output == dataset:
                how = "FILTER" if column == "*" else subtype
                fields.setdefault(column, []).append(f"{'.'.join(source)} {how}")
        store.ingest([words.run_event(dataset, words.written(dataset, fields))])
    return store


def composed(edges: list[tuple[str, ...]], start: str) -> dict[str, set[Transformation]]:
    """Every composed transformation from every column to ``start``, to a fixed point."""
    steps = set()
    for output, column, dataset, field, subtype in edges:
        for each in COLUMNS if column == "*" else (column,):
            step = Transformation(Subtype.FILTER if column == "*" else Subtype(subtype))
            steps.add((f"{output}.{each}", f"{dataset}.{field}", step))
    found = {(start, IDENTITY)}
    while True:
        more = {
            (source, compose(outer, step))
            for (node, outer), (output, source, step) in product(found, steps)
            if node == output
        }
        if more <= found:
            break
        found |= more
    composed: dict[str, set[Transformation]] = {}
    for node, step in found:
        composed.setdefault(node, set()).add(step)
    return composed


@settings(max_examples=20)
@given(edges=st.lists(EDGE, max_size=10))
def test_up_and_down_are_the_same_relation_and_paths_compose(words: Any, edges: list[tuple[str, ...]]) -> None:
    columns = [f"{dataset}.{column}" for dataset, column in product(DATASETS, COLUMNS)]
    with tempfile.TemporaryDirectory() as folder, graph_store(words, folder, edges) as store:
        expected = {column: composed(edges, column) for column in columns}
        up = {column: reached(walk_from(store, column, Direction.UP)) for column in columns}
        down = {column: reached(walk_from(store, column, Direction.DOWN)) for column in columns}
        assert up == {column: set(composed) for column, composed in expected.items()}
        assert {(a, b) for a in columns for b in up[a]} == {(a, b) for b in columns for a in down[b]}
        for column in columns:
            for root in roots_of(store, column).roots:
                assert {step.transformation for step in root.transformations} == expected[column][short(root.column)]
            for dataset in impact_of(store, column).datasets:
                for one in dataset.columns:
                    assert {step.transformation for step in one.transformations} == expected[short(one.column)][column]


def reached(graph: Graph) -> set[str]:
    return {short(column) for column in graph.columns}


def test_a_dataset_of_which_no_column_is_known_has_rows(store: Store, words: Any) -> None:
    store.ingest([words.run_event("count", words.written("counted", {"*": ["raw.x FILTER", "raw.y SORT"]}))])
    up, down = walk_from(store, "/counted", Direction.UP), walk_from(store, "raw.x", Direction.DOWN)
    assert {short(column): far for column, far in up.columns.items()} == {"raw.x": 1, "raw.y": 1}
    assert [(hop.output, str(hop.output_dataset)) for hop in down.hops] == [(None, "file:/counted")]
    for name, direction in (("/counted", Direction.UP), ("raw.x", Direction.DOWN)):
        collapsed = datasets_from(store, name, direction).datasets
        far = {str(dataset): far for dataset, far in collapsed.items()}
        assert far == {"file:/raw": int(direction is Direction.UP), "file:/counted": int(direction is Direction.DOWN)}
    (impacted,) = impact_of(store, "raw.x").datasets
    assert (str(impacted.dataset), impacted.columns, impacted.distance) == ("file:/counted", (), 1)
    assert [(step.transformation.subtype.value, step.whole_dataset) for step in impacted.transformations] == [
        ("FILTER", True)
    ]
    assert [job.name for job in impacted.jobs] == ["count"]
