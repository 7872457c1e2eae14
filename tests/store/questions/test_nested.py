"""Walks over fields within columns: by hand, and against a search by brute force over all leaves."""

import tempfile
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.store.conftest import ITEMS, nested, new_store, packed

from headwater.store import Store
from headwater.store.questions import (
    Bounds,
    Direction,
    EdgeType,
    Evidence,
    ExactName,
    Graph,
    compact_from,
    impact_of,
    paths_between,
    roots_of,
    view_of,
    walk_from,
)

Leaves = dict[str, list[str]]


def short(column: Any) -> str:
    return f"{column.dataset.dataset.name[1:]}.{column.name}"


def names(graph: Graph) -> set[str]:
    return {short(column) for column in graph.columns}


def found(answer: Any) -> dict[str, set[str]]:
    return {
        short(root.column): {step.transformation.subtype.value for step in root.transformations}
        for root in answer.roots
    }


@pytest.fixture
def shop(store: Store, words: Any) -> Store:
    """Three jobs: one packs fields into an array of structs, one copies that, one takes them out."""
    copied = {f"items.{leaf}": [f"orders.items.{leaf}"] for leaf in ("price", "sku", "tax.rate")}
    copy = nested("clean", copied | {"*": ["orders.id FILTER"]}, {"items": ITEMS})
    gold = nested(
        "gold",
        {
            "total": ["clean.items.price AGGREGATION"],
            "label": ["clean.items.sku"],
            "*": ["clean.items.tax.rate FILTER"],
        },
    )
    rates = nested("rates", {"tax.rate": ["tariff.rate"]}, {"tax": "struct<rate:double>"})
    events = [
        words.run_event(one, output)
        for one, output in [("rates", rates), ("pack", packed()), ("copy", copy), ("gold", gold)]
    ]
    assert store.ingest(events).rejected == ()
    return store


def test_a_leaf_is_followed_where_a_column_would_lead_everywhere(shop: Store) -> None:
    assert found(roots_of(shop, "orders.items.price")) == {"raw.price": {"IDENTITY"}}
    assert found(roots_of(shop, "clean.items.tax.rate")) == {
        "tariff.rate": {"IDENTITY"},
        "raw.country": {"JOIN"},
        "raw.id": {"FILTER"},
    }
    assert set(found(roots_of(shop, "clean.items"))) == {"raw.price", "raw.sku", "tariff.rate", "raw.country", "raw.id"}


def test_a_column_made_of_leaves_is_followed_by_leaf_on_request(shop: Store) -> None:
    columns = {"raw.price", "raw.sku", "tariff.rate", "raw.country", "raw.id"}
    assert set(found(roots_of(shop, "gold.total"))) == columns
    # Its rows are filtered by the rate, hence those.
    assert found(roots_of(shop, "gold.total", Bounds(nested=True))) == {
        "raw.price": {"AGGREGATION"},
        "tariff.rate": {"FILTER"},
        "raw.country": {"FILTER"},
        "raw.id": {"FILTER"},
    }
    direct = Bounds(nested=True, edge_type=EdgeType.DIRECT)
    assert found(roots_of(shop, "gold.label", direct)) == {"raw.sku": {"TRANSFORMATION"}}


def test_the_impact_of_a_leaf_is_of_that_leaf(shop: Store) -> None:
    def impacted(name: str) -> set[str]:
        return {short(one.column) for dataset in impact_of(shop, name).datasets for one in dataset.columns}

    assert impacted("orders.items.price") == {"clean.items.price", "gold.total"}
    assert impacted("orders.items.sku") == {"clean.items.sku", "gold.label"}
    assert impacted("orders.items.tax") == {"clean.items.tax.rate", "gold.total", "gold.label"}
    assert impacted("raw.sku") == {"orders.items", "clean.items", "gold.total", "gold.label"}


def test_masking_is_that_of_the_leaf(shop: Store) -> None:
    masked = Bounds(masking=False, nested=True)
    assert "raw.sku" not in names(walk_from(shop, "gold.label", bounds=masked))
    (root,) = roots_of(shop, "orders.items.sku").roots
    assert [step.transformation.masking for step in root.transformations] == [True]
    (root,) = roots_of(shop, "orders.items.price").roots
    assert [step.transformation.masking for step in root.transformations] == [False]


def test_a_path_says_the_leaves(shop: Store) -> None:
    (path,) = paths_between(shop, "raw.price", "gold.total", bounds=Bounds(nested=True)).paths
    assert [short(one) for one in path.columns] == [
        "raw.price",
        "orders.items.price",
        "clean.items.price",
        "gold.total",
    ]
    assert paths_between(shop, "orders.items.sku", "clean.items.price").paths == ()
    (path,) = paths_between(shop, "orders.items", "clean.items.sku").paths
    assert [short(one) for one in path.columns] == ["orders.items.sku", "clean.items.sku"]


def test_a_leaf_has_a_name_a_type_and_a_column(shop: Store) -> None:
    start = walk_from(shop, ExactName("file", "/orders", "ITEMS.tax.Rate")).start
    assert (start.name, start.path, start.type) == ("items.tax.rate", ("items", "tax", "rate"), "double")  # type: ignore[union-attr]
    graph = compact_from(shop, "orders.items.tax.rate", Direction.BOTH)
    assert {graph.fields[one] for one in graph.closure.distance} == {
        "items.tax.rate",
        "tax.rate",
        "rate",
        "country",
        "total",
        "label",
    }


def test_a_view_has_leaves_beside_columns_and_says_where_more_is(shop: Store) -> None:
    view = view_of(shop, "clean.items.price", up=1, down=0)
    fields = view.graph.fields
    assert set(fields.values()) == {"items.price", "id"}
    types = {fields[one]: type_ for one, type_ in view.types.items() if fields[one] != "id"}
    assert types == {"items.price": "double"}
    more = {direction: {short_of(view, one) for one in some} for direction, some in view.more.items()}
    assert more[Direction.UP] == {"/orders.items.price", "/orders.id"}
    assert more[Direction.DOWN] == {"/clean.items.price"}


def short_of(view: Any, node: int) -> str:
    closure = view.graph.closure
    return f"{view.graph.datasets[closure.dataset_of[node]].dataset.name}.{view.graph.fields[node]}"


def test_a_job_that_knows_columns_alone_is_followed_by_columns(store: Store, words: Any) -> None:
    jar = nested(
        "clean",
        {"items.price": ["orders.items.price"], "items.sku": ["orders.items.sku"]},
        {"items": ITEMS},
        facet=False,
    )
    gold = nested("gold", {"total": ["clean.items.price"]})
    store.ingest([words.run_event(one, output) for one, output in [("pack", packed()), ("jar", jar), ("gold", gold)]])
    behind = names(walk_from(store, "gold.total", bounds=Bounds(nested=True)))
    assert {"clean.items.price", "orders.items", "raw.price", "raw.sku"} <= behind


def test_fields_within_that_were_renamed_are_followed_by_the_column(store: Store, words: Any) -> None:
    store.ingest([words.run_event("pack", packed())])
    later = ITEMS.replace("price", "cost")
    described = words.written("orders", {"items": []})
    described["facets"]["schema"]["fields"][0]["type"] = later
    del described["facets"]["columnLineage"]
    store.ingest([words.run_event("alter", described, minute=5)])
    assert set(found(roots_of(store, "orders.items.cost"))) == {"raw.price"}
    assert set(found(roots_of(store, "orders.items.sku"))) >= {"raw.sku"}


def test_a_leaf_that_the_event_does_not_have_is_a_literal_where_the_column_had_it(store: Store, words: Any) -> None:
    output = nested("orders", {"items.price": [], "items.sku": ["raw.sku"]}, {"items": ITEMS})
    del output["facets"]["headwater_nestedLineage"]["fields"]["items.price"]
    store.ingest([words.run_event("pack", output)])
    answer = roots_of(store, "orders.items.price")
    assert (answer.roots, answer.evidence) == ((), Evidence.LITERAL)


def test_renamed_columns_and_datasets_are_the_same_by_their_old_names(store: Store, words: Any) -> None:
    gold = nested("gold", {"total": ["orders.items.price"]})
    renamed = words.renamed("orders", "sales", {"items": "lines"})
    store.ingest([words.run_event("pack", packed()), words.run_event("gold", gold, minute=1)])
    store.ingest([words.run_event("rename", renamed, minute=2)])
    assert set(found(roots_of(store, "sales.lines.price"))) == {"raw.price"}
    assert set(found(roots_of(store, "gold.total", Bounds(nested=True)))) == {"raw.price"}


def test_the_run_of_now_counts_and_that_of_a_moment_then(store: Store, words: Any) -> None:
    swapped = {"items.price": ["raw.list_price"], "items.sku": ["raw.price"], "items.tax.rate": []}
    later = nested("orders", swapped, {"items": ITEMS})
    store.ingest([words.run_event("pack", packed()), words.run_event("pack", later, minute=9)])
    assert set(found(roots_of(store, "orders.items.price"))) == {"raw.list_price"}
    before = Bounds(as_of=1_767_225_900_000_000)  # five minutes after the first
    assert set(found(roots_of(store, "orders.items.price", before))) == {"raw.price"}


def test_what_earlier_runs_have_left_is_known_by_columns(store: Store, words: Any) -> None:
    output = packed()
    earlier = words.written("orders", {"items": ["old.items", "raw.sku"]})["facets"]["columnLineage"]
    output["outputFacets"] = {"headwater_write": {"replaces": "SOME_ROWS", "earlier": earlier}}
    old = nested("old", {"items.price": ["oldest.p"], "items.sku": ["oldest.s"]}, {"items": ITEMS})
    store.ingest([words.run_event("old", old), words.run_event("pack", output, minute=1)])
    assert set(found(roots_of(store, "orders.items.price"))) >= {"raw.price", "raw.sku", "oldest.p"}


def test_quoted_parts_maps_and_fields_made_of_themselves(store: Store, words: Any) -> None:
    types = {"m": "map<string,struct<a.b:int>>", "rec": ""}
    leaves = {"m.key": ["raw.k"], "m.value.`a.b`": ["raw.v"], "rec": ["odd.rec.x"]}
    output = nested("odd", leaves, types)
    assert store.ingest([words.run_event("odd", output)]).rejected == ()
    assert set(found(roots_of(store, "odd.m.`a.b`"))) == {"raw.v"}
    assert set(found(roots_of(store, "odd.m.key"))) == {"raw.k"}
    assert "odd.rec" in names(walk_from(store, "odd.rec", bounds=Bounds(nested=True)))


def test_a_facet_that_is_none_leaves_the_columns(store: Store, words: Any) -> None:
    output = packed()
    output["facets"]["headwater_nestedLineage"]["fields"]["items.price"] = {"inputFields": [{"field": "x"}]}
    store.ingest([words.run_event("pack", output)])
    assert {"raw.price", "raw.sku"} <= set(found(roots_of(store, "orders.items.price")))


DATASETS = ("a", "b", "c")
ATOMS = ("x.p", "x.q", "y")
INPUTS = ("x.p", "x.q", "x", "y")
Edge = tuple[str, str, str, str]
EDGE = st.tuples(
    st.sampled_from(DATASETS), st.sampled_from([*ATOMS, "*"]), st.sampled_from(DATASETS), st.sampled_from(INPUTS)
)


def atoms(dataset: str, field: str) -> set[str]:
    return {f"{dataset}.{one}" for one in ATOMS if one == field or one.startswith(f"{field}.")}


def behind(edges: list[Edge], plain: set[str]) -> dict[str, set[str]]:
    """All atoms upstream of each: of a dataset without the facet its columns depend on columns."""
    steps: dict[str, set[str]] = {f"{dataset}.{one}": set() for dataset, one in product(DATASETS, ATOMS)}
    for dataset, field, source, part in edges:
        by_columns = dataset in plain
        of_source = atoms(source, part.split(".")[0] if by_columns else part)
        outputs = {"*": set(ATOMS)}.get(field) or {
            one for one in ATOMS if one == field or (by_columns and one[0] == field[0])
        }
        for one in outputs:
            steps[f"{dataset}.{one}"] |= of_source
    reached = {one: {one} for one in steps}
    for _ in steps:
        reached = {one: some.union(*(steps[other] for other in some)) for one, some in reached.items()}
    return reached


def check_graph(store: Store, words: Any, edges: list[Edge], plain: set[str]) -> None:
    for dataset in DATASETS:
        leaves: Leaves = {one: [] for one in ATOMS}
        for output, field, source, part in edges:
            if output == dataset:
                how = "FILTER" if field == "*" else "TRANSFORMATION"
                leaves.setdefault(field, []).append(f"{source}.{part} {how}")
        types = {"x": "struct<p:int,q:int>"}
        output = nested(dataset, leaves, types, facet=dataset not in plain)
        assert store.ingest([words.run_event(dataset, output)]).rejected == ()
    expected = behind(edges, plain)
    up = {one: leaves_of(walk_from(store, f"/{one}", Direction.UP, Bounds(nested=True))) for one in expected}
    down = {one: leaves_of(walk_from(store, f"/{one}", Direction.DOWN, Bounds(nested=True))) for one in expected}
    assert up == expected
    assert {(a, b) for a in up for b in up[a]} == {(a, b) for b in down for a in down[b]}
    for one in expected:
        column = ".".join(one.split(".")[:2])
        for direction in (Direction.UP, Direction.DOWN):
            leaves_found = names(walk_from(store, f"/{one}", direction, Bounds(nested=True)))
            assert {".".join(name.split(".")[:2]) for name in leaves_found} <= names(
                walk_from(store, f"/{column}", direction)
            )


def leaves_of(graph: Graph) -> set[str]:
    return set().union(*(atoms(*short(column).split(".", 1)) for column in graph.columns))


@settings(max_examples=25)
@given(edges=st.lists(EDGE, max_size=9), plain=st.sets(st.sampled_from(DATASETS), max_size=1))
def test_leaves_are_those_that_a_search_by_brute_force_finds(words: Any, edges: list[Edge], plain: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        check_graph(store, words, edges, plain)


def test_the_same_in_each_database(store: Store, words: Any) -> None:
    edges = [
        ("b", "x.p", "a", "x.q"),
        ("b", "x.q", "a", "y"),
        ("b", "*", "a", "x.p"),
        ("c", "y", "b", "x"),
        ("c", "x.p", "b", "x.p"),
        ("a", "x.q", "c", "x.p"),
    ]
    check_graph(store, words, edges, set())
