"""The explicit lineage facets, of a job or of a dataset, are read before columnLineage."""

from typing import Any

import pytest
from tests.store.conftest import Words

from headwater.store import Store
from headwater.store.questions import (
    Bounds,
    Direction,
    coverage,
    impact_of,
    paths_between,
    roots_of,
    walk_from,
)

IDENTITY = [{"type": "DIRECT", "subtype": "IDENTITY"}]
FILTER = [{"type": "INDIRECT", "subtype": "FILTER"}]


def column(dataset: str, field: str, steps: list[dict[str, str]]) -> dict[str, Any]:
    return {"namespace": "file", "name": f"/{dataset}", "type": "DATASET", "field": field, "transformations": steps}


WHOLE = {"namespace": "file", "name": "/raw", "type": "DATASET"}
EXPLICIT = {"inputs": [WHOLE, column("raw", "y", FILTER)], "fields": {"a": {"inputs": [column("raw", "x", IDENTITY)]}}}
EDGES = {"gold.a <- raw.x IDENTITY", "gold.* <- raw.y FILTER"}


def of_job(event: dict[str, Any], lineage: dict[str, Any]) -> None:
    event["job"]["facets"]["lineage"] = {
        "entries": [{"namespace": "file", "name": "/gold", "type": "DATASET", **lineage}]
    }


def of_dataset(event: dict[str, Any], lineage: dict[str, Any]) -> None:
    event["outputs"][0]["facets"]["lineage"] = lineage


@pytest.mark.parametrize("add", [of_job, of_dataset])
@pytest.mark.parametrize("older", [None, {"a": ["raw.old"]}])
def test_explicit_lineage_goes_before_column_lineage(store: Store, words: Words, add: Any, older: Any) -> None:
    event = words.run_event("j", words.written("gold", older))
    add(event, EXPLICIT)
    store.ingest([event])
    assert words.edges(store) == EDGES


def test_lineage_of_datasets_alone_leaves_that_of_columns_to_the_other_facet(store: Store, words: Words) -> None:
    event = words.run_event("j", words.written("gold", {"a": ["raw.x"]}))
    of_job(event, {"inputs": [WHOLE]})
    store.ingest([event])
    assert words.edges(store) == {"gold.a <- raw.x IDENTITY"}


def whole(dataset: str) -> dict[str, Any]:
    return {"namespace": "file", "name": f"/{dataset}", "type": "DATASET"}


OWN_JOB = {"type": "JOB"}
OTHER_JOB = {"type": "JOB", "namespace": "demo", "name": "elsewhere"}


def explicit(words: Words, lineage: dict[str, Any], minute: int = 0, **more: Any) -> dict[str, Any]:
    event: dict[str, Any] = words.run_event("j", words.written("gold", more.pop("older", None)), minute=minute, **more)
    of_job(event, lineage)
    return event


def gaps(store: Store) -> set[str]:
    [one] = [one for one in coverage(store) if one.output and one.output.dataset.name == "/gold"]
    return {one.covered.value, *(f"{gap.kind} {gap.what}" for gap in one.gaps)}


OPAQUE_RAW = {"opaque", "opaque file:/raw"}
SOURCES: dict[str, tuple[dict[str, Any], dict[str, Any], set[str], set[str]]] = {
    "a dataset": ({"inputs": [whole("raw")]}, {}, {"gold.* <- raw.* TRANSFORMATION"}, OPAQUE_RAW),
    "a dataset for a field": (
        {"fields": {"a": {"inputs": [whole("raw"), column("b", "x", IDENTITY)]}}},
        {},
        {"gold.a <- raw.* TRANSFORMATION", "gold.a <- b.x IDENTITY"},
        OPAQUE_RAW,
    ),
    "a dataset with a filter": (
        {"inputs": [whole("raw") | {"transformations": FILTER}]},
        {},
        {"gold.* <- raw.* FILTER"},
        OPAQUE_RAW,
    ),
    "a dataset beside columns of another": (
        {"inputs": [whole("raw")], "fields": {"a": {"inputs": [column("b", "x", IDENTITY)]}}},
        {},
        {"gold.* <- raw.* TRANSFORMATION", "gold.a <- b.x IDENTITY"},
        OPAQUE_RAW,
    ),
    "a dataset that columnLineage does not have": (
        {"inputs": [whole("raw"), whole("b")]},
        {"older": {"a": ["b.x"]}},
        {"gold.* <- raw.* TRANSFORMATION", "gold.a <- b.x IDENTITY"},
        OPAQUE_RAW,
    ),
    "the event's own job": ({"inputs": [OWN_JOB]}, {"inputs": ["raw"]}, {"gold.* <- raw.* TRANSFORMATION"}, OPAQUE_RAW),
    "another job": (
        {"inputs": [OTHER_JOB], "fields": {"a": {"inputs": [column("b", "x", IDENTITY)]}}},
        {},
        {"gold.a <- b.x IDENTITY"},
        {"partial", "facet demo/elsewhere"},
    ),
    "another job alone": ({"inputs": [OTHER_JOB]}, {}, set(), {"none", "facet demo/elsewhere"}),
    "nothing": ({"inputs": []}, {}, set(), {"none"}),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("add", [of_job, of_dataset])
def test_no_source_is_dropped_in_silence(store: Store, words: Words, name: str, add: Any) -> None:
    lineage, more, expected, missing = SOURCES[name]
    event = words.run_event("j", words.written("gold", more.get("older")), inputs=more.get("inputs", ()))
    add(event, lineage)
    store.ingest([event])
    assert (words.edges(store), gaps(store)) == (expected, missing)


def test_an_input_of_the_jobs_own_entry_feeds_all_outputs_of_the_job(store: Store, words: Words) -> None:
    event = words.run_event("j", words.written("gold"), inputs=["raw", "unused"])
    target = {"namespace": "file", "name": "/gold", "type": "DATASET", "inputs": [OWN_JOB]}
    event["job"]["facets"]["lineage"] = {"entries": [{"type": "JOB", "inputs": [whole("raw")]}, target]}
    store.ingest([event])
    assert words.edges(store) == {"gold.* <- raw.* TRANSFORMATION"}


def test_lineage_of_headwaters_own_events_is_whole(store: Store, words: Words) -> None:
    """It lists what `count(*)` reads, of which no value goes in."""
    store.ingest([explicit(words, {"inputs": [whole("raw")]}, run_facets={"headwater_coverage": {"gaps": []}})])
    assert words.edges(store) == set()


ORDERS = [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)]


@pytest.mark.parametrize("order", ORDERS)
def test_every_column_of_the_dataset_goes_in_whenever_it_becomes_known(
    store: Store, words: Words, order: tuple[int, ...]
) -> None:
    events = [
        words.run_event("make", words.written("raw", {"x": ["outside.u"], "y": ["outside.v"]}), minute=0, run="r0"),
        explicit(words, {"inputs": [whole("raw")], "fields": {"a": {"inputs": []}}}, minute=1, run="r1"),
        words.run_event("use", words.written("last", {"z": ["gold.a"]}), minute=2, run="r2"),
    ]
    store.ingest([events[one] for one in order])
    found = roots_of(store, "last.z")
    assert {str(root.column) for root in found.roots} == {"file:/outside.u", "file:/outside.v"}
    assert all(step.transformation.opaque for root in found.roots for step in root.transformations)
    assert {one.dataset.dataset.name for one in impact_of(store, "outside.v").datasets} == {"/raw", "/gold", "/last"}
    walked = walk_from(store, "raw.y", Direction.DOWN)
    assert [str(hop.output or hop.output_dataset) for hop in walked.hops if hop.job.name == "j"] == [
        "file:/raw.*",
        "file:/gold",
    ]
    masked = roots_of(store, "last.z", Bounds(masking=True))
    assert not masked.roots
    [path, *_] = paths_between(store, "outside.u", "last.z").paths
    assert [str(one) for one in path.columns][1:3] == ["file:/raw.x", "file:/raw.*"]


def test_a_dataset_was_read_as_a_whole_until_its_columns_were_named(store: Store, words: Words) -> None:
    store.ingest(
        [
            words.run_event("make", words.written("raw", {"x": ["outside.u"], "y": ["outside.v"]}), minute=0),
            explicit(words, {"fields": {"a": {"inputs": [whole("raw")]}}}, minute=1),
            words.run_event("j", words.written("gold", {"a": ["raw.x"]}), minute=2),
        ]
    )
    then = Bounds(as_of=1_767_225_600_000_000 + 90_000_000)
    assert {str(root.column) for root in roots_of(store, "gold.a", then).roots} == {
        "file:/outside.u",
        "file:/outside.v",
    }
    assert {str(root.column) for root in roots_of(store, "gold.a").roots} == {"file:/outside.u"}
