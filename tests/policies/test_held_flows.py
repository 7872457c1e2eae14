"""Flows that are brought up to date are those of a walk anew, after any history of events and tags."""

import os
import re
from collections.abc import Iterable
from datetime import date
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, delete, event, select
from tests.store.conftest import new_database, postgres, renamed, run_event, url, written

from headwater.model.time import now
from headwater.policies.flows import Flows
from headwater.policies.tag_file import Breaker, TagFile, tag_name
from headwater.store import Store, open_store, schema
from headwater.store.graph.index import OPTION
from headwater.store.ingest.tags import Tagging, put_tags
from headwater.store.maintenance.backup import empty
from headwater.store.questions.walk import held_flows, tag_blocks, tag_flow, tag_reach
from headwater.store.questions.walk.tag_reach import LinksNear
from headwater.store.questions.walk.tag_walk import Arriving, Flow
from headwater.yaml_map import Place

__all__ = ["new_database", "postgres", "url"]  # fixtures

NAMES = st.sampled_from(["a", "b", "c", "d", "e"])
KINDS = ["IDENTITY", "IDENTITY", "TRANSFORMATION masked", "AGGREGATION", "CONDITIONAL", "FILTER"]
SOURCES = st.builds("{}.{} {}".format, NAMES, st.sampled_from(["x", "y"]), st.sampled_from(KINDS))
FIELDS = st.dictionaries(st.sampled_from(["x", "y", "x", "y", "*"]), st.lists(SOURCES, max_size=2), max_size=3)
RUN = st.fixed_dictionaries(
    {
        "job": st.sampled_from(["j1", "j2", "j3"]),
        "outputs": st.lists(st.tuples(NAMES, FIELDS | st.none()), min_size=1, max_size=2, unique_by=lambda one: one[0]),
        "links": st.lists(st.sampled_from(["t1", "t2"]), max_size=1) | st.just([]),
        "write": st.sampled_from(["", "", "", "ALL_ROWS", "OVERWRITE", "DROP"]),
        "inputs": st.lists(NAMES, max_size=2),
        "minute": st.integers(0, 6),
        "run": st.integers(0, 4),
        "state": st.sampled_from(["START", "COMPLETE", "COMPLETE", "COMPLETE", "FAIL"]),
    }
)
SMALL = st.sampled_from(["a", "b", "c"])
REPLACING = st.fixed_dictionaries(
    {
        "job": st.sampled_from(["j1", "j2", "j3", "j4"]),
        "outputs": st.lists(
            st.tuples(
                SMALL,
                st.dictionaries(
                    st.sampled_from(["x", "x", "y", "*"]),
                    st.lists(st.builds("{}.{} {}".format, SMALL, st.sampled_from("xxy"), st.sampled_from(KINDS[:4]))),
                    min_size=1,
                    max_size=2,
                ),
            ),
            min_size=1,
            max_size=1,
        ),
        "links": st.just([]),
        "write": st.sampled_from(["ALL_ROWS", "ALL_ROWS", "ALL_ROWS @3", "SOME_ROWS", "SOME_ROWS @4 <3", "DROP", ""]),
        "inputs": st.just([]),
        "minute": st.integers(0, 9),
        "run": st.integers(0, 9),
        "state": st.sampled_from(["COMPLETE", "COMPLETE", "COMPLETE", "START", "FAIL"]),
    }
)
"""Few datasets that are replaced over and over, also in the middle of flows, by events that come in any order."""
RENAME = st.fixed_dictionaries({"former": NAMES, "present": st.none() | NAMES, "minute": st.integers(0, 6)})
TAG = st.fixed_dictionaries({"tag": st.sampled_from(["p", "q"]), "on": NAMES, "whole": st.booleans()})
STEP = REPLACING | REPLACING | RUN | RUN | RUN | TAG | TAG | RENAME


def breaker(kind: str, pattern: str) -> Breaker:
    return Breaker(kind, pattern, ("*",), "", "", date.max, Place("tags.yml", 1, 1))


BREAKERS = TagFile(breakers=(breaker("job", "j2"), breaker("column", "c.x"), breaker("function", "f")))
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"influence": True, "guess": False},
    {"file": BREAKERS, "guess": False},
    {"file": BREAKERS, "influence": True},
)


def lineage_event(parts: dict[str, Any]) -> dict[str, Any]:
    if "former" in parts:
        names = renamed(parts["former"], parts["present"])
        return run_event("ddl", names, minute=parts["minute"], run=str(parts))
    outputs = [written(name, fields, parts["links"], parts["write"]) for name, fields in parts["outputs"]]
    more = {name: parts[name] for name in ("minute", "state", "inputs")}
    return run_event(parts["job"], *outputs, run=f"{parts['job']} {parts['run']}", **more)


def change_tag(store: Store, tag: str, on: str, *, whole: bool) -> None:
    """Put a tag on a dataset or on its first column, or take it off where it is there."""
    with store.write() as connection:
        dataset = connection.execute(select(schema.dataset.c.id).where(schema.dataset.c.name == f"/{on}")).scalar()
        field = select(schema.field.c.id).where(schema.field.c.dataset_id == (dataset or 0)).order_by(schema.field.c.id)
        first = 0 if whole else connection.execute(field).scalars().first()
        if dataset is None or first is None:
            return
        tagging = schema.tagging.c
        mine = (tagging.dataset_id == dataset, tagging.field_id == first, tagging.tag == tag)
        if not connection.execute(delete(schema.tagging).where(*mine)).rowcount:
            put_tags(connection, [((dataset, 0), now(), Tagging(first, tag))])


def arrived(flow: Flow) -> dict[Arriving, set[int]]:
    return {kind: set(flow.arrived[kind].now) for kind in Arriving}


def cut(flow: Flow) -> tuple[set[Any], set[int]]:
    """The links that breakers cut, of those into a whole dataset one for all."""
    rows = flow.cut_links()
    return {row for row in rows if row[1] > 0}, {row[1] for row in rows}


def agree(store: Store, *, held_in_blocks: bool = False) -> None:
    """Compare the flows of all tags with those of a walk anew, and look at their paths."""
    with store.read() as connection, store.read() as other:
        anew = other.execution_options(**{OPTION: None})
        for options in OPTIONS:
            for tag in map(tag_name, "pq"):
                right = Flows(anew, **options).of(tag)
                with pytest.MonkeyPatch.context() as patched:
                    if not held_in_blocks:
                        held = Flows(connection, **options).of(tag)
                    patched.setattr(tag_flow, "ROW_BY_ROW", 0)
                    if held_in_blocks:
                        held = Flows(connection, **options).of(tag)
                    in_blocks = Flows(anew, **options).of(tag)
                assert arrived(held) == arrived(in_blocks) == arrived(right), (options, tag)
                assert cut(held) == cut(in_blocks) == cut(right), (options, tag)
                for kind in Arriving:
                    nodes = held.reached(kind)
                    assert sorted(nodes) == sorted(right.reached(kind))
                    paths = held.paths(nodes, kind)
                    for node, links in paths.items():
                        assert links[0][0] in right.arrived[Arriving.VALUE].now
                        assert all(one[1] == next_[0] or one[1] < 0 for one, next_ in pairwise(links))
                        assert links[-1][1] == node or links[-1][1] < 0
                    if kind is Arriving.VALUE:
                        assert {node: len(links) for node, links in paths.items()} == {
                            node: len(links) for node, links in right.paths(nodes, kind).items()
                        }


@pytest.fixture
def store(url: str) -> Any:
    with open_store(url) as opened:
        opened.keep_edges().wait()
        yield opened


@settings(
    max_examples=250 if "EVERY_CASE" in os.environ else 15,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    first=st.lists(RUN | REPLACING, min_size=1, max_size=5),
    steps=st.lists(st.lists(STEP, min_size=1, max_size=2), min_size=1, max_size=6),
    blocks=st.booleans(),
    beside=st.sampled_from([0, 3, 5_000]),
)
def test_they_are_those_of_a_walk_anew(
    store: Store, first: list[Any], steps: list[list[dict[str, Any]]], blocks: bool, beside: int
) -> None:
    """However many numbers of steps are held beside those of all columns."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tag_reach, "MOST_OTHERS", beside)
        follow_and_compare(store, first, steps, blocks=blocks)


def follow_and_compare(store: Store, first: list[Any], steps: list[list[dict[str, Any]]], *, blocks: bool) -> None:
    with store.write() as connection:
        empty(connection)
    store.ingest(map(lineage_event, first))
    change_tag(store, "p", first[0]["outputs"][0][0], whole=True)
    change_tag(store, "q", (first[0]["inputs"] or ["a"])[0], whole=False)
    agree(store, held_in_blocks=blocks)
    for batch in steps:
        store.ingest(lineage_event(one) for one in batch if "tag" not in one)
        for one in (one for one in batch if "tag" in one):
            change_tag(store, **one)
        agree(store, held_in_blocks=blocks)


def test_a_tag_is_followed_and_not_walked_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = [run_event(f"make {name}", written(name, {"x": [f"{before}.x"]})) for before, name in pairwise("abcdefg")]
    store.ingest(chain)
    change_tag(store, "p", "a", whole=True)
    agree(store)
    not_anew(monkeypatch)
    with store.read() as connection:
        assert len(Flows(connection).of(tag_name("p")).reached(Arriving.VALUE)) == 6
    store.ingest(
        [run_event("make d", written("d", {"x": ["z.x"]}), minute=1), run_event("h", written("h", {"y": ["c.x"]}))]
    )
    with store.read() as connection:
        assert len(Flows(connection).of(tag_name("p")).reached(Arriving.VALUE)) == 3


def not_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail where a tag is walked anew, row by row or in blocks."""
    for name in ("flow_from", "reach_in_blocks"):
        monkeypatch.setattr(held_flows, name, lambda *_: pytest.fail("walked anew"))


def filled(name: str, source: str, minute: int, job: str = "") -> dict[str, Any]:
    """An event of a run that replaces all rows of a dataset by others."""
    return run_event(job or f"make {name}", written(name, {"x": [source]}, write="ALL_ROWS"), minute=minute)


def test_links_of_the_past_are_followed_and_not_walked_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.ingest([filled("stage", "people.x", 0), filled("v", "stage.x", 1), filled("stage", "shop.x", 4, "other")])
    change_tag(store, "p", "people", whole=True)
    agree(store)
    events = [
        (filled("far", "shop.x", 5), {"v"}),
        (filled("w", "v.x", 5), {"v", "w"}),
        (filled("v", "stage.x", 6, "again"), {"w"}),  # w has read what v had before
        (filled("stage", "people.x", 2, "late"), {"w"}),
        (filled("u", "stage.x", 3), {"w", "u"}),  # both come late
        (filled("v", "shop.x", 7, "other"), {"w", "u"}),
        (filled("v", "people.x", 8, "third"), {"w", "u", "v"}),
        (filled("w", "v.x", 9), {"w", "u", "v"}),
    ]
    with pytest.MonkeyPatch.context() as patched:
        not_anew(patched)
        for number, (one, expected) in enumerate(events):
            store.ingest([one])
            with store.read() as connection:
                reached = Flows(connection).of(tag_name("p")).reached(Arriving.VALUE)
                owner = (
                    select(schema.dataset.c.name)
                    .join(schema.field, schema.field.c.dataset_id == schema.dataset.c.id)
                    .where(schema.field.c.id.in_(reached))
                )
                assert set(connection.execute(owner).scalars()) == {f"/{name}" for name in expected}, number
    agree(store)


def test_breakers_name_the_jobs_of_the_store_that_took_the_place_of_another(store: Store) -> None:
    """As `headwater db restore` does beneath a server; the last job has the number and name of the last one before."""
    for jobs in ("x", "j2", "z"), ("j2", "x", "z"):
        with store.write() as connection:
            empty(connection)
        store.ingest([run_event(job, written(f"by {job}", {"x": ["a.x"]})) for job in jobs])
        change_tag(store, "p", "a", whole=True)
        agree(store)


def test_columns_with_a_tag_are_the_same_object_until_they_change(store: Store) -> None:
    """To compare hundreds of thousands of them takes longer than to follow an event."""

    def start() -> Any:
        with store.read() as connection:
            flows = Flows(connection)
            flows.of(tag_name("p"))
            return flows.starts[tag_name("p")]

    store.ingest([run_event("make b", written("b", {"x": ["a.x"]}))])
    change_tag(store, "p", "a", whole=True)
    change_tag(store, "p", "b", whole=False)
    before = start()
    store.ingest([run_event("make d", written("d", {"x": ["c.x"]}), minute=1)])
    change_tag(store, "q", "c", whole=True)
    assert start() is before
    store.ingest([run_event("make d", written("d", {"x": ["a.y"]}), minute=2)])
    assert len(start().columns) == len(before.columns) + 1 == 3
    agree(store)
    change_tag(store, "p", "a", whole=True)
    assert len(start().columns) == 1


def test_a_walk_in_blocks_goes_on_over_past_links_from_where_it_was(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of millions of columns a second walk would take as long as the first."""
    walks = []
    reach = tag_blocks.reach_in_blocks

    def counted(*some: Any) -> Any:
        walks.append(1)
        return reach(*some)

    monkeypatch.setattr(tag_blocks, "reach_in_blocks", counted)
    monkeypatch.setattr(tag_flow, "ROW_BY_ROW", 0)
    store.ingest([filled("stage", "people.x", 0), filled("v", "stage.x", 1), filled("stage", "shop.x", 4, "other")])
    store.ingest([filled("w", "v.x", 5), filled("again", "stage.x", 2)])
    change_tag(store, "p", "people", whole=True)
    with store.read() as connection:
        flow = Flows(connection.execution_options(**{OPTION: None})).of(tag_name("p"))
    assert len(flow.reached(Arriving.VALUE)) == 3
    assert len(walks) == 1


def test_tables_that_are_made_anew_by_their_job_lead_to_who_read_them_before(store: Store) -> None:
    """Events of each night come in turn: the stage has another source, the table is the same job's."""
    store.ingest([filled("stage", "people.x", 0), filled("table", "stage.x", 1), filled("mart", "table.x", 2)])
    change_tag(store, "p", "people", whole=True)
    agree(store)
    nights = [
        filled("stage", "shop.x", 3, "other"),
        filled("table", "stage.x", 4),
        filled("late", "mart.x", 5),
        filled("mart", "table.x", 6),
        filled("stage", "people.x", 7),
        filled("table", "stage.x", 8),
    ]
    reached = []
    for one in nights:
        store.ingest([one])
        agree(store)
        with store.read() as connection:
            reached.append(len(Flows(connection).of(tag_name("p")).reached(Arriving.VALUE)))
    assert reached == [2, 1, 2, 1, 4, 4]


def test_a_past_link_into_its_own_input_goes_when_it_held_for_less(store: Store) -> None:
    """Of ``INSERT OVERWRITE t SELECT … FROM t``: that it was read by itself does not hold it."""
    store.ingest([filled("t", "t.x", 0, "j2"), filled("t", "t.x", 5, "next"), filled("t", "shop.x", 7, "other")])
    store.ingest([filled("v", "t.x", 6)])
    change_tag(store, "p", "t", whole=True)
    agree(store)
    for minute, job in ((3, "early"), (1, "earlier"), (6, "between")):
        store.ingest([filled("t", "shop.x", minute, job)])
        agree(store)


def test_work_after_an_event_does_not_grow_with_what_a_tag_reaches(store: Store) -> None:
    """Near what was replaced after it had been read, too: neither statements nor columns nor steps of the database."""
    work = []
    for number, wide in enumerate((3, 60)):
        with store.write() as connection:
            empty(connection)
        store.ingest(
            [
                filled("stage", "people.x", 0),
                filled("v", "stage.x", 1),
                filled("stage", "shop.x", 2, "other"),
                *(filled(f"d{n}", "v.x", 3) for n in range(wide)),
            ]
        )
        change_tag(store, "p", "people", whole=True)
        agree(store)
        store.ingest([filled("w", "stage.x", 4), filled("stage", "bank.x", 5, f"third {number}")])
        with store.read() as connection:
            work.append(work_of(connection, wide + 1))
    few, many = work
    assert many["statements"] <= few["statements"] <= 45
    assert many["columns"] == few["columns"] <= 10
    assert many["steps"] <= 1.1 * few["steps"]


def work_of(connection: Connection, reached: int) -> dict[str, int]:
    """Follow a tag; return what that took: statements, columns whose links were read, and steps in SQLite."""
    counts = dict.fromkeys(("statements", "columns", "steps"), 0)
    load = LinksNear.load

    def counted(links: LinksNear, nodes: Iterable[int]) -> None:
        before = len(links._into)
        load(links, nodes)
        counts["columns"] += len(links._into) - before

    event.listen(connection, "before_cursor_execute", lambda *_: counts.update(statements=counts["statements"] + 1))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(LinksNear, "load", counted)
        not_anew(patched)
        driver = connection.connection.driver_connection
        if connection.dialect.name == "sqlite":
            driver.set_progress_handler(lambda: counts.update(steps=counts["steps"] + 1), 10)
        assert len(Flows(connection).of(tag_name("p")).reached(Arriving.VALUE)) == reached
        if connection.dialect.name == "sqlite":
            driver.set_progress_handler(None, 0)
    return counts


@pytest.mark.parametrize("pattern", ["*.y", "none.*.y"])
def test_no_table_of_columns_is_read_after_an_event(store: Store, pattern: str) -> None:
    """Neither for a pattern of columns, nor for fields within some, nor for those that are new."""
    file = TagFile(breakers=(breaker("column", pattern), breaker("job", "j2")))

    def follow(connection: Connection) -> int:
        flows = Flows(connection, file)
        return sum(len(flows.of(tag).reached(Arriving.VALUE)) for tag in flows.tags)

    store.ingest([run_event("make b", written("b", {"x": ["a.x"], "y": ["a.y"]}))])
    for tag in ("p", "q"):
        change_tag(store, tag, "a", whole=True)
    with store.read() as connection:
        before = follow(connection)
    store.ingest([run_event("make c", written("c", {"x": ["b.x"], "z": ["b.x"]}))])
    statements: list[Any] = []
    with store.read() as connection:
        explain = "EXPLAIN QUERY PLAN"
        if connection.dialect.name == "postgresql":
            connection.exec_driver_sql("SET LOCAL enable_seqscan = off")
            explain = "EXPLAIN"
        event.listen(connection, "before_cursor_execute", lambda *arguments: statements.append(arguments[2:4]))
        assert follow(connection) == before + 4
        states = [one for one, _ in statements if "ORDER BY edge_change.id DESC" in one]
        plans = [
            str(row[-1])
            for one, values in [*statements]
            for row in connection.exec_driver_sql(f"{explain} {one}", values)
        ]
    assert len(states) == 1  # for both tags
    assert any("field_nested" in line for line in plans)
    assert not [line for line in plans if re.search(r"Seq Scan on field\b|SCAN field\b(?!.*field_nested)", line)]
