"""Tags on fields within columns, and tags that flow through structs leaf by leaf."""

import tempfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.policies.conftest import Run
from tests.policies.test_flow_laws import step
from tests.store.conftest import ITEMS, nested, new_database, new_store, packed, postgres, run_event, url, written

from headwater.policies.assignments import add_tag, apply_file, remove_tag, tagged_names
from headwater.policies.flows import Flows
from headwater.policies.selectors import Names
from headwater.policies.tag_file import TagFile, read_tag_file, tag_name
from headwater.store import Store, open_store
from headwater.store.questions.walk import held_flows, tag_leaves
from headwater.store.questions.walk.tag_walk import Arriving, Flow

__all__ = ["new_database", "postgres", "url"]  # fixtures

Json = dict[str, Any]


def copied(name: str, source: str, *, facet: bool = True, minute: int = 1) -> Json:
    leaves = {f"items.{leaf}": [f"{source}.items.{leaf}"] for leaf in ("price", "sku", "tax.rate")}
    return run_event(f"make {name}", nested(name, leaves, {"items": ITEMS}, facet=facet), minute=minute)


def taken(source: str, minute: int = 2) -> Json:
    leaves = {"total": [f"{source}.items.price AGGREGATION"], "label": [f"{source}.items.sku"]}
    return run_event("take", nested("gold", leaves), minute=minute)


SHOP = [run_event("pack", packed()), copied("clean", "orders"), taken("clean")]


@pytest.fixture
def shop(path: Path) -> Any:
    with open_store(str(path)) as store:
        store.ingest(SHOP)
        yield store


def arrivals(store: Store, tag: str, file: TagFile | None = None, **more: Any) -> dict[str, str]:
    with store.read() as connection:
        found = Flows(connection, file or TagFile(), **more).paths(tag_name(tag), tuple(Arriving))
        return {f"{one.column.dataset.dataset.name[1:]}.{one.column.name}": one.arriving.value for one in found}


def test_a_tag_comes_out_of_a_struct_where_its_leaf_does(shop: Store) -> None:
    add_tag(shop, "raw.price", tag_name("money"))
    assert arrivals(shop, "money") == dict.fromkeys(["orders.items.price", "clean.items.price", "gold.total"], "value")
    add_tag(shop, "raw.sku", tag_name("code"))
    assert arrivals(shop, "code") == dict.fromkeys(["orders.items.sku", "clean.items.sku", "gold.label"], "masked")


def test_a_step_that_knows_columns_alone_counts_for_all_leaves(shop: Store) -> None:
    add_tag(shop, "raw.price", tag_name("money"))
    shop.ingest([copied("clean", "orders", facet=False, minute=3)])
    assert arrivals(shop, "money") == dict.fromkeys(
        ["orders.items.price", "clean.items", "gold.total", "gold.label"], "value"
    )


def test_a_leaf_has_a_tag_of_its_own(shop: Store, headwater: Run) -> None:
    assert headwater("tag", "add", "orders.items.price", "money").stdout == "money on file:/orders.items.price\n"
    assert arrivals(shop, "money") == {"clean.items.price": "value", "gold.total": "value"}
    assert "file:/orders.items.price  money" in headwater("tag", "list").stdout
    assert "money: on 1 column, arrives at 2 more" in headwater("tag", "flow", "money").stdout
    assert [str(one.on) for one in tagged_names(shop, "orders.items")] == ["file:/orders.items.price"]
    assert not remove_tag(shop, "orders.items", "money")
    assert remove_tag(shop, "orders.items.price", "money")
    assert tagged_names(shop) == []


def test_files_tag_leaves_and_breakers_cut_them(shop: Store, tmp_path: Path) -> None:
    file = tmp_path / "tags.yml"
    file.write_text(
        "version: 1\n"
        "tags: {money: {columns: [orders.items.price]}, all: {columns: ['orders.items*']}}\n"
        "breakers: [{column: clean.items.price, tags: [money], reason: r, owner: o, expires: 2999-01-01}]\n"
    )
    applied = apply_file(shop, read_tag_file(file))
    assert (applied.added, applied.unmatched) == (2, ())
    assert {f"{one.on} {one.tag}" for one in tagged_names(shop)} == {
        "file:/orders.items.price money", "file:/orders.items all",
    }  # fmt: skip
    assert apply_file(shop, read_tag_file(file)).unchanged == 2
    assert arrivals(shop, "money", read_tag_file(file)) == {}
    assert arrivals(shop, "money") == {"clean.items.price": "value", "gold.total": "value"}
    with shop.read() as connection:
        flows = Flows(connection, read_tag_file(file))
        flows.of(tag_name("money"))
        assert flows.unused_breakers() == []


def test_a_policy_selects_leaves(shop: Store, headwater: Run, tmp_path: Path) -> None:
    add_tag(shop, "raw.price", tag_name("money"))
    policy = tmp_path / "policy.yml"

    def found(rule: str) -> str:
        policy.write_text(f"version: 1\nrules: {{r: {{forbid: {{tags: [money], {rule}}}}}}}\n")
        checked = headwater("check", policy, "--format", "json")
        return str(checked.exit_code) + "".join(sorted(set(checked.stdout.split()) & {'"file:/clean.items.price",'}))

    assert found("reach: [clean.items.price]") == found("reach: [clean.items]") == '1"file:/clean.items.price",'
    assert found("reach: [clean.items.sku]") == "0"
    assert found("reach: [clean.*], except: [clean.items.price]") == "0"


def test_facets_of_producers_tag_leaves_in_each_database(url: str) -> None:
    with open_store(url) as store:
        store.ingest(SHOP)
        tagged_by_facets(store)


def tagged_by_facets(shop: Store) -> None:
    output = packed()
    keys = {"items.tax.rate": "tax", "items._element.SKU": "code", "id": "key", "never.seen": "odd"}
    output["facets"]["tags"] = {
        "tags": [{"key": key, "value": "", "source": "crm", "field": name} for name, key in keys.items()]
    }
    shop.ingest([run_event("pack", output, minute=4)])
    assert {str(one.on).removeprefix("file:/orders."): one.tag.tag for one in tagged_names(shop)} == {
        "items.tax.rate": "tax", "items.sku": "code", "id": "key", "never.seen": "odd",
    }  # fmt: skip
    assert arrivals(shop, "code") == {"clean.items.sku": "value", "gold.label": "value"}


DATASETS = ("a", "b", "c")
ATOMS = ("x.p", "x.q", "y")
KINDS = ["TRANSFORMATION", "IDENTITY", "TRANSFORMATION masked", "CONDITIONAL"]
EDGE = st.tuples(
    st.sampled_from(DATASETS),
    st.sampled_from([*ATOMS, "*"]),
    st.sampled_from(DATASETS),
    st.sampled_from([*ATOMS, "x"]),
    st.sampled_from(KINDS),
)
Edge = tuple[str, str, str, str, str]
STARTS = st.tuples(st.sampled_from(DATASETS), st.sampled_from([*ATOMS, "x"]))
Arrived = dict[Arriving, set[str]]


def atoms(dataset: str, field: str) -> set[str]:
    return {f"{dataset}.{one}" for one in ATOMS if one == field or one.startswith(f"{field}.")}


def events(edges: list[Edge], plain: set[str], minute: int = 0) -> list[Json]:
    found = []
    for dataset in DATASETS:
        leaves: dict[str, list[str]] = {one: [] for one in ATOMS}
        for output, field, source, part, kind in edges:
            if output == dataset:
                leaves.setdefault(field, []).append(f"{source}.{part} {'FILTER' if field == '*' else kind}")
        output_facets = nested(dataset, leaves, {"x": "struct<p:int,q:int>"}, facet=dataset not in plain)
        found.append(run_event(dataset, output_facets, minute=minute, run=f"{dataset} {minute}"))
    return found


def expected(edges: list[Edge], plain: set[str], start: set[str]) -> Arrived:
    """Search over all leaves: what arrives at each; a dataset without the facet depends on columns, by columns."""
    steps: set[tuple[str, str, str]] = set()
    for dataset, field, source, part, kind in edges:
        known = dataset not in plain
        of_source = atoms(source, part if known else part[0])
        of_field = {one for one in ATOMS if one == field or (not known and one[0] == field[0])}
        of_output = set(ATOMS) if field == "*" else of_field
        how = "FILTER" if field == "*" else kind
        steps |= {(one, f"{dataset}.{other}", how) for one, other in product(of_source, of_output)}

    def behind(places: set[tuple[str, Arriving]], without: set[str]) -> set[tuple[str, Arriving]]:
        while True:
            new = places | {
                (output, after)
                for node, arriving in places
                for source, output, kind in steps
                if source == node and (after := step(arriving, kind)) is not None and output not in without
                if without or after is Arriving.VALUE
            }
            if new == places:
                return places
            places = new

    values = {node for node, _ in behind({(one, Arriving.VALUE) for one in start}, set())}
    less = behind({(one, Arriving.VALUE) for one in values}, values)
    masked = {node for node, arriving in less if arriving is Arriving.MASKED}
    influenced = {node for node, arriving in less if arriving is Arriving.INFLUENCE} - masked
    return {Arriving.VALUE: values, Arriving.MASKED: masked, Arriving.INFLUENCE: influenced}


def arrived(connection: Any, flow: Flow) -> Arrived:
    """The leaves at which something arrives, less only where not more does."""
    every = Names(connection)
    fields = {id_: f"{every.datasets[dataset].dataset.name}.{name}" for id_, (dataset, name) in every.fields.items()}
    found: Arrived = {}
    for kind in Arriving:
        places = [flow.place(one) for one in flow.arrived[kind].now]
        names = {".".join((fields[column][1:], *path)) for column, path in places}
        found[kind] = {one for name in names for one in atoms(*name.split(".", 1))}.difference(*found.values())
    return found


def agree(store: Store, edges: list[Edge], plain: set[str], start: tuple[str, str], *, held: bool) -> None:
    with store.read() as connection:
        by_leaf = arrived(connection, Flows(connection, influence=True, guess=False).of(tag_name("t")))
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tag_leaves, "MOST", -1)
            anew = connection.execution_options() if not held else connection
            by_column = arrived(connection, Flows(anew, influence=True, guess=False).of(tag_name("u")))
    assert by_leaf == expected(edges, plain, atoms(*start))
    for most in range(1, 4):
        kinds = list(Arriving)[:most]
        assert set().union(*(by_leaf[one] for one in kinds)) <= set().union(*(by_column[one] for one in kinds))


@settings(max_examples=25)
@given(
    edges=st.lists(EDGE, min_size=1, max_size=9),
    later=st.lists(EDGE, max_size=9),
    plain=st.sets(st.sampled_from(DATASETS), max_size=1),
    start=STARTS,
    held=st.booleans(),
)
def test_what_arrives_by_leaf_is_what_a_search_by_brute_force_finds(
    edges: list[Edge], later: list[Edge], plain: set[str], start: tuple[str, str], held: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        if held:
            store.keep_edges().wait()
        store.ingest(events(edges, plain))
        add_tag(store, f"/{'.'.join(start)}", tag_name("t"))
        add_tag(store, f"/{start[0]}.{start[1][0]}", tag_name("u"))
        agree(store, edges, plain, start, held=held)
        store.ingest(events(later, plain, minute=1))
        agree(store, later, plain, start, held=held)


def test_held_leaves_are_followed_anew_only_where_something_came_near(
    shop: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.keep_edges().wait()
    add_tag(shop, "raw.price", tag_name("money"))
    found = arrivals(shop, "money")
    walks = list[int]()
    walk = held_flows.flow_by_leaf
    monkeypatch.setattr(held_flows, "flow_by_leaf", lambda *args: walks.append(1) or walk(*args))
    shop.ingest([run_event("far", written("far", {"x": ["away.x"]}))])
    assert arrivals(shop, "money") == found
    assert not walks
    shop.ingest([taken("orders", minute=5)])
    assert "gold.total" in arrivals(shop, "money")
    assert walks
