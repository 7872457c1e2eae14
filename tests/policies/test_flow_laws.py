"""Laws of tags on random lineage: what arrives is what a search over all paths finds, in every database."""

import tempfile
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy import select
from tests.policies.conftest import EVENTS
from tests.policies.test_held_flows import RUN, lineage_event
from tests.store.conftest import new_database, new_store, postgres, run_event, url, written

from headwater.policies import masking
from headwater.policies.assignments import add_tag
from headwater.policies.check import check
from headwater.policies.flows import Flows
from headwater.policies.policy_file import read_policy
from headwater.policies.tag_file import read_tag_file, tag_name
from headwater.store import Store, open_store, schema
from headwater.store.questions import Bounds, Direction, EdgeType, names
from headwater.store.questions.walk import tag_flow
from headwater.store.questions.walk.closure import walk
from headwater.store.questions.walk.tag_flow import flow_from
from headwater.store.questions.walk.tag_walk import NO_BARRIERS, Arriving

__all__ = ["new_database", "postgres", "url"]  # fixtures

COLUMNS = [f"d{dataset}.{column}" for dataset in range(4) for column in "ab"]
KINDS = ["IDENTITY", "TRANSFORMATION masked", "AGGREGATION masked", "CONDITIONAL", "CONDITIONAL masked", "AGGREGATION"]
EDGE = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(COLUMNS), st.sampled_from(KINDS))
WHOLE = st.tuples(st.sampled_from(COLUMNS), st.sampled_from(["d0", "d1", "d2", "d3"]), st.just("FILTER"))
Graph = set[tuple[str, str, str]]
Place = tuple[str, Arriving]


def filled(store: Store, graph: Graph) -> None:
    """Ingest a job for each dataset, with the edges into it; each has both of its columns."""
    for dataset in sorted({output.partition(".")[0] for _, output, _ in graph}):
        fields: dict[str, list[str]] = {"a": [], "b": []}
        for source, output, kind in sorted(graph):
            if output.partition(".")[0] == dataset:
                fields.setdefault(output.partition(".")[2] or "*", []).append(f"{source} {kind}")
        store.ingest([run_event(f"make {dataset}", written(dataset, fields))])


def expected(graph: Graph, start: str) -> dict[Arriving, set[str]]:
    """Search all paths: what arrives at each column; one that has the value is not looked at for less."""
    values = closed(graph, {(start, Arriving.VALUE)}, lambda column, arriving: arriving is Arriving.VALUE)
    have = {column for column, _ in values}
    found = closed(graph, values, lambda column, arriving: arriving is not Arriving.VALUE and column not in have)
    by_kind = {kind: {column for column, one in found if one is kind} for kind in Arriving}
    return by_kind | {Arriving.VALUE: by_kind[Arriving.VALUE] - {start}}


def closed(graph: Graph, found: set[Place], counts: Callable[[str, Arriving], bool]) -> set[Place]:
    """The places that edges lead to from some, as long as they count."""
    written_to = {output.partition(".")[0] for _, output, _ in graph}
    while True:
        new = set(found)
        for column, arriving in found:
            for source, output, kind in graph:
                after = step(arriving, kind) if source == column else None
                ends = [output] if "." in output else [f"{output}.{name}" for name in "ab" if output in written_to]
                new |= {(end, after) for end in ends if after is not None and counts(end, after)}
        if new == found:
            return found
        found = new


def step(arriving: Arriving, kind: str) -> Arriving | None:
    """Return what arrives behind an edge; a masked aggregate may be a count, and lets the value through."""
    masked = "masked" in kind and "AGGREGATION" not in kind
    direct = not kind.startswith(("CONDITIONAL", "FILTER"))
    if arriving is Arriving.VALUE:
        return (Arriving.MASKED if masked else Arriving.VALUE) if direct else None if masked else Arriving.INFLUENCE
    if arriving is Arriving.MASKED:
        return Arriving.MASKED if direct else None
    return None if masked and not direct else Arriving.INFLUENCE


IN_MEMORY = st.sampled_from(["never", "in blocks", "from the start", "then"])


@settings(max_examples=45)
@given(st.sets(EDGE | WHOLE, min_size=1, max_size=14) | st.sets(EDGE, min_size=1, max_size=14), IN_MEMORY)
def test_what_arrives_is_what_a_search_over_all_paths_finds(graph: Graph, in_memory: str) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        if in_memory == "from the start":
            store.keep_edges().wait()
        filled(store, graph)
        if in_memory == "then":
            store.keep_edges().wait()
        start = sorted(source for source, _, _ in graph)[0]
        add_tag(store, f"file:/{start}", tag_name("t"))
        with store.read() as connection, pytest.MonkeyPatch.context() as patched:
            if in_memory == "in blocks":
                patched.setattr(tag_flow, "ROW_BY_ROW", 0)
            flows = Flows(connection, influence=True, guess=False)
            paths = list(flows.paths(tag_name("t"), tuple(Arriving)))
        found = {
            kind: {str(one.column).removeprefix("file:/") for one in paths if one.arriving is kind} for kind in Arriving
        }
        assert found == expected(graph, start)
        for one in paths:
            assert str(one.steps[0].input) == f"file:/{start}"


@settings(max_examples=20)
@given(st.sets(EDGE, min_size=4, max_size=20), st.sampled_from(COLUMNS), st.sampled_from(["d0", "d1", "d2", "d3"]))
def test_breakers_cut_the_same_links_in_memory_and_in_the_database(graph: Graph, column: str, dataset: str) -> None:
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        filled(store, graph)
        add_tag(store, f"file:/{sorted(source for source, _, _ in graph)[0]}", tag_name("t"))
        terms = "reason: r, owner: o, expires: 2999-01-01"
        breakers = f"breakers: [{{column: {column}, {terms}}}, {{job: make {dataset}, {terms}}}]"
        Path(folder, "tags.yml").write_text(f"version: 1\n{breakers}\n")
        file = read_tag_file(Path(folder, "tags.yml"))
        found = []
        for _ in range(2):
            with store.read() as connection:
                flow = Flows(connection, file, influence=True, guess=False).of(tag_name("t"))
                arrived = {kind: set(flow.arrived[kind].now) for kind in Arriving}
                paths = {kind: flow.paths(some, kind) for kind, some in arrived.items()}
            # paths of values have the fewest steps, those behind a mask the fewest behind it
            values = arrived[Arriving.VALUE]
            lengths = {
                (kind, one): len([row for row in rows if kind is Arriving.VALUE or row[1] not in values])
                for kind, some in paths.items()
                for one, rows in some.items()
            }
            found.append((arrived, lengths, set(flow.cut_links())))
            store.keep_edges().wait()
        assert found[0] == found[1]


@settings(max_examples=40)
@given(st.lists(RUN, min_size=3, max_size=9), st.booleans())
def test_a_tag_arrives_where_roots_lead_back_to_its_column(runs: list[dict[str, Any]], direct: bool) -> None:
    """After any history of replaced datasets: what a column has read when is the same downward and upward."""
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        store.ingest(map(lineage_event, runs))
        bounds = Bounds(EdgeType.DIRECT if direct else None)
        with store.read() as connection:

            def effect(transformation: int) -> Arriving | None:
                one = names.transformations(connection, [transformation])[transformation]
                if (
                    one.direct
                ):  # nothing flows on from a masked value by influence: it is masked among direct edges only
                    return masking.arriving(one, frozenset()) if direct else Arriving.VALUE
                return None if direct else Arriving.INFLUENCE

            fields = set(connection.execute(select(schema.field.c.id)).scalars())
            above = {one: walk(connection, [one], Direction.UP, bounds).distance.keys() for one in fields}
            for column in fields:
                flow = flow_from(connection, {column}, effect, NO_BARRIERS, bounds)
                found = {node for one in flow.arrived.values() for node in one.now if node > 0}
                assert found - {column} == {one for one in fields if column in above[one]} - {column}
                for kind in Arriving:
                    for links in flow.paths([node for node in flow.reached(kind) if node > 0], kind).values():
                        assert links[0][0] == column
                        assert all(one[1] == next_[0] or one[1] < 0 for one, next_ in pairwise(links))


RULES = """\
version: 1
tags: tags.yml
rules:
  forbid: {forbid: {tags: [pii.*], reach: ["reports/*"], arriving: [value, masked, influence]}}
  owner: {require_owner: {columns: ["lake/customers.*"]}}
  covered: {require_coverage: {datasets: ["*"]}}
  opaque: {forbid_opaque: {tags: [pii.*]}}
  separate: {separate: {writes: [lake/customers], from: ["reports/*"]}}
  inventory: {inventory: {tags: [pii.*]}}
  sql: {sql: {query: "SELECT output_dataset, count(*) AS n FROM edges WHERE masking GROUP BY output_dataset"}}
  tags: {sql: {query: SELECT dataset FROM tags}, severity: note}
"""


def test_rules_find_the_same_in_every_database(url: str, tmp_path: Path) -> None:
    (tmp_path / "tags.yml").write_text("version: 1\ntags: {pii.email: {columns: [landing/people.mail]}}\n")
    (tmp_path / "policy.yml").write_text(RULES)
    with open_store(url) as store:
        store.ingest(EVENTS)
        add_tag(store, "lake/customers.city", tag_name("owner=ann"))
        checked = check(store, read_policy(tmp_path / "policy.yml"), date(2026, 6, 1))
    numbers = {rule.name: sum(one.rule == rule for one in checked.findings) for rule in checked.policy.rules}
    assert numbers == {
        "forbid": 2, "owner": 2, "covered": 0, "opaque": 0, "separate": 0, "inventory": 7, "sql": 1, "tags": 1,
    }  # fmt: skip
