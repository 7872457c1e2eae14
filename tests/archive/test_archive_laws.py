"""An archive has what a store has: both are made of the same events, and compared row by row."""

import json
import os
import random
import re
import tempfile
from collections import Counter
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text

from headwater.archive import Archive, find_fields
from headwater.store import Store, schema
from headwater.store.questions.hops import overwrites
from headwater.store.read_model.fields import ended_fields
from tests.store.conftest import Words, new_store, renamed, run_event, written
from tests.store.ingest.test_pipeline_laws import CHANGE, EVENT, OF_STREAM, SAME_EACH_TIME, change, event

from .conftest import Both, Build, reads_whole

pytestmark = pytest.mark.spark

WORLD = st.tuples(
    st.lists(EVENT | OF_STREAM, min_size=1, max_size=8), st.lists(CHANGE, max_size=4), st.integers(0, 1000)
)
STREAMS = {"jobType": {"processingType": "STREAMING"}}
EDGE = (
    "SELECT j.namespace, j.name, d.namespace, d.name, {field}, s.namespace, s.name, i.name, w.type, w.subtype, "
    "w.masking, w.opaque, e.valid_from, {until} FROM {table} e {join} JOIN field i ON i.id = e.input_field "
    "JOIN dataset s ON s.id = i.dataset_id JOIN transformation w ON w.id = e.transformation_id "
    "JOIN job j ON j.id = e.job_id"
)
FIELDS = ("o.name", "JOIN field o ON o.id = e.output_field JOIN dataset d ON d.id = o.dataset_id")
DATASETS = ("NULL", "JOIN dataset d ON d.id = e.output_dataset")
QUESTIONS = {
    "runs": "SELECT r.uuid, j.name, nullif(r.state, ''), nullif(r.state_at, 0), r.started_at FROM run r "
    "JOIN job j ON j.id = r.job_id",
    "jobs": "SELECT namespace, name, first_at, last_at FROM job WHERE name != ''",
    "coverage": "SELECT r.uuid, g.kind, g.what, g.why, g.output FROM gap g JOIN run r ON r.id = g.run_id",
    "events": "SELECT lower(hex(e.digest)), e.at, e.type, r.uuid FROM event e JOIN run r ON r.id = e.run_id",
    "datasets": "SELECT namespace, name, lifecycle, first_at, last_at FROM dataset",
    "replacements": "SELECT d.namespace, d.name, r.uuid, j.name, m.at, m.certain, m.has_schema, m.restores, "
    "(SELECT max(CASE WHEN e.state = 'RUNNING' OR e.state_at > m.at THEN m.at ELSE e.state_at END) FROM lineage l "
    "JOIN lineage b ON b.job_id = l.job_id AND b.output_id = l.output_id AND b.at < l.at JOIN run e ON e.id = b.run_id "
    "WHERE l.run_id = m.run_id AND l.output_id = m.dataset_id) FROM replacement m "
    "JOIN dataset d ON d.id = m.dataset_id JOIN run r ON r.id = m.run_id JOIN job j ON j.id = r.job_id",
    "fields": "SELECT d.namespace, d.name, f.name, nullif(f.type, ''), f.ordinal FROM field f "
    "JOIN dataset d ON d.id = f.dataset_id",
}
COLUMNS = {
    "runs": ("run", "job_name", "state", "state_at", "started_at"),
    "jobs": ("namespace", "name", "first_at", "last_at"),
    "coverage": ("run", "kind", "what", "why", "output"),
    "events": ("digest", "at", "state", "run"),
    "datasets": ("namespace", "name", "lifecycle", "first_at", "last_at"),
    "replacements": (
        *("namespace", "dataset", "run", "job_name", "at", "certain", "has_schema", "restores", "before_at"),
    ),
    "fields": ("namespace", "dataset", "name", "type", "ordinal"),
}
TO = ("job_namespace", "job_name", "output_namespace", "output_dataset")
FROM = ("input_namespace", "input_dataset", "input_field", "type", "subtype", "masking", "opaque")
SPAN = ("valid_from", "valid_to")
COLUMNS["column_edges"] = (*TO, "output_field", *FROM, *SPAN)
COLUMNS["dataset_edges"] = (*TO, "NULL", *FROM, *SPAN)


def of_store(store: Store) -> dict[str, list[str]]:
    """The rows of a store, by names, with times in microseconds."""
    questions = dict(QUESTIONS)
    for name, table, (field, join) in (("column_edges", "edge", FIELDS), ("dataset_edges", "dataset_edge", DATASETS)):
        parts = [(table, "NULL"), (f"{table}_history", "e.valid_to")]
        both = [EDGE.format(field=field, join=join, table=one, until=until) for one, until in parts]
        questions[name] = " UNION ALL ".join(both)
    with store.read() as connection:
        if connection.dialect.name == "postgresql":
            questions["events"] = questions["events"].replace("lower(hex(e.digest))", "encode(e.digest, 'hex')")
        return {
            name: sorted(shown(row) for row in connection.execute(text(question)))
            for name, question in questions.items()
        }


def of_archive(archive: Archive, name: str) -> list[str]:
    """The same of an archive."""
    types = dict(archive[name].dtypes)
    columns = [f"unix_micros({one})" if types.get(one) == "timestamp" else one for one in COLUMNS[name]]
    return sorted(shown(row) for row in archive[name].selectExpr(*columns).collect())


def shown(row: Any) -> str:
    return str(tuple(int(value) if isinstance(value, bool) else value for value in row))


def moved(events: list[dict[str, Any]], world: int) -> list[dict[str, Any]]:
    """The events in a world of their own: with namespaces and runs that no other has."""
    text = re.sub(r'("namespace": "[^"]+)"', rf'\g<1>{world}"', json.dumps(events))
    return list(json.loads(re.sub(r'("runId": "[^"]+)"', rf'\g<1>-{world}"', text)))


def parent(run: str) -> dict[str, Any]:
    return {"run": {"runId": run}, "job": {"namespace": "demo", "name": "application"}}


def under_its_other_name() -> dict[str, Any]:
    output = written("a", {"x": ["raw.z"]})
    return run_event("j2", {**output, "namespace": "hive", "name": "db.a"}, minute=4, run="other")


BY_HAND: list[list[dict[str, Any]]] = [
    # At one moment a table gets another name, and a column of what had its name until then is renamed.
    [
        run_event("ddl", renamed("b", "a"), minute=1, run="1"),
        run_event("ddl", renamed("b", "b", {"x": "y"}), minute=1, run="2"),
    ],
    # Two columns get one name at one moment, and one column gets two.
    [
        run_event("make", written("a", {"x": ["raw.x"], "y": ["raw.y"]}), minute=0, run="1"),
        run_event("ddl", renamed("a", "a", {"y": "Z", "x": "z"}), minute=1, run="2"),
        run_event("ddl", renamed("a", "a", {"X": "w"}), minute=1, run="3"),
        run_event("use", written("b", {"c": ["a.z", "a.w", "a.x", "a.y"]}), minute=2, run="4"),
    ],
    # A name ends while the other one goes on, and both are names of one dataset again.
    [
        run_event("make", written("a", {"x": ["raw.x"]}, ["db.a"]), minute=0, run="1"),
        run_event("ddl", renamed("a", None), minute=2, run="2"),
        run_event("make", written("a", {"x": ["raw.y"]}, ["db.a"]), minute=3, run="3"),
    ],
    # Two names of one output, in runs of one job, and in one event.
    [
        run_event("j2", written("a", {"x": ["raw.x"]}, ["db.a"]), minute=1, run="1"),
        under_its_other_name(),
        run_event("j2", written("a", {"x": ["raw.z"]}), minute=5, run="2"),
        run_event("j3", written("a", {"x": ["raw.x"]}), *under_its_other_name()["outputs"], minute=6, run="3"),
    ],
    # Each night another job writes the whole table; the day after it is emptied, and one goes on as before.
    [
        run_event(
            "night 23", written("out", {"v": ["raw.email"], "old": ["raw.x"]}, (), "ALL_ROWS"), minute=0, run="1"
        ),
        run_event("night 24", written("out", {"v": ["raw.name"]}, (), "ALL_ROWS"), minute=1, run="2"),
        run_event("empty", written("out", None, (), "TRUNCATE"), minute=3, run="3"),
        run_event("night 24", written("out", {"v": ["raw.name"]}, (), "SOME_ROWS"), minute=5, run="4"),
    ],
    # A version is restored, then the one that this had replaced, then one that nobody knows; the last is late.
    [
        run_event("app.back", written("back", {"v": ["raw.email"]}, (), "ALL_ROWS @0"), minute=0, run="1"),
        run_event("app.back", written("back", {"v": ["raw.name"]}, (), "ALL_ROWS @1"), minute=1, run="2"),
        run_event("app.restore.back", written("back", {"v": ["back.v"]}, (), "SOME_ROWS @2 <0"), minute=4, run="4"),
        run_event("app.back", written("back", {"v": ["raw.town"]}, (), "SOME_ROWS @3"), minute=5, run="5"),
        run_event("app.restore.back", written("back", {"v": ["back.v"]}, (), "SOME_ROWS @4 <1"), minute=6, run="6"),
        run_event("app.restore.back", written("back", {"v": ["back.v"]}, (), "SOME_ROWS @5 <2"), minute=7, run="7"),
        run_event("other.restore.back", written("back", {"v": ["back.v"]}, (), "SOME_ROWS <?"), minute=8, run="8"),
        run_event("late", written("back", {"v": ["raw.x"]}, (), "SOME_ROWS"), minute=3, run="3"),
    ],
    # A stream writes on after a job has overwritten its table, another one has ended before; and one is in doubt.
    [
        run_event("on", written("a", {"x": ["raw.x"]}), minute=0, run="1", state="RUNNING", job_facets=STREAMS),
        run_event("off", written("a", {"x": ["raw.y"]}), minute=0, run="2", state="RUNNING", job_facets=STREAMS),
        run_event("off", written("a", {"x": ["raw.y"]}), minute=1, run="2", job_facets=STREAMS),
        run_event("late", written("a", {"x": ["raw.z"]}, (), "CREATE"), minute=2, run="3", state="START"),
        run_event("late", minute=4, run="3"),
        *(
            run_event(f"jar {at}", written("a", {"x": ["raw.z"]}, (), "OVERWRITE"), minute=at, run=f"{at}")
            for at in (5, 6)
        ),
    ],
    # What feeds a renamed column, before and after; and the parent of a run.
    [
        run_event("make", written("a", {"x": ["raw.x"], "y": ["raw.y"]}), minute=0, run="1"),
        run_event("read", written("c", {"z": ["a.x"]}), minute=1, run="2"),
        run_event("ddl", renamed("a", "a", {"x": "y", "y": "x"}), minute=2, run="3"),
        run_event("read", written("c", {"z": ["a.x"]}), minute=3, run="4", run_facets={"parent": parent("9")}),
    ],
    # A source is emptied after it was read, and what was made of it is replaced and read in its turn.
    [
        run_event("fill", written("filled", {"x": ["raw.email"], "*": ["raw.day FILTER"]}, (), "ALL_ROWS"), run="1"),
        run_event("copy", written("copied", {"x": ["filled.x"]}, (), "ALL_ROWS"), minute=1, run="2"),
        run_event("copy on", written("final", {"x": ["copied.x"]}, (), "ALL_ROWS"), minute=2, run="3"),
        run_event("empty", written("filled", None, (), "ALL_ROWS"), minute=3, run="4"),
        run_event("other", written("copied", {"x": ["shop.name"]}, (), "ALL_ROWS"), minute=4, run="5"),
        run_event("other", written("copied", {"x": ["final.x"]}, (), "ALL_ROWS"), minute=5, run="6"),
    ],
    # Sources of which no column is named, beside columns of others, and before these become known.
    [
        reads_whole(run_event("whole", written("b"), minute=1, run="1"), "a", "c"),
        reads_whole(run_event("whole", written("b", {"x": ["a.x"]}), minute=3, run="2"), "a", "c"),
        run_event("make", written("a", {"x": ["raw.x"], "y": ["raw.y"]}, ["db.a"]), minute=2, run="3"),
        reads_whole(run_event("fails", written("c"), minute=4, run="4", state="FAIL"), "b"),
    ],
    # Of two runs of a job that end together the latter restores a version that nobody knows, when nothing was there.
    [
        run_event("j1", written("empty", {"v": ["raw.x"]}, (), "SOME_ROWS"), minute=2, run="4"),
        run_event("j1", written("empty", None, (), "SOME_ROWS <?"), minute=2, run="5"),
    ],
]
STAGES: list[list[dict[str, Any]]] = [
    # A stage is filled each night by another run, and read in between: by all, some or none of them, and as a whole.
    [
        *(
            run_event(
                f"fill {day}", written("stage", {"x": [f"source{day}.a"]}, (), "ALL_ROWS"), minute=day, run=f"f{day}"
            )
            for day in (1, 3, 5, 7)
        ),
        *(
            run_event("append", written("all", {"y": ["stage.x"]}, (), "SOME_ROWS"), minute=day, run=f"a{day}")
            for day in (2, 4, 6, 8)
        ),
        run_event("once", written("first", {"y": ["stage.x"]}, (), "ALL_ROWS"), minute=2, run="1"),
        run_event("later", written("third", {"y": ["stage.x FILTER"]}, (), "ALL_ROWS"), minute=6, run="2"),
        run_event("both", written("two", {"z": ["first.y", "third.y"]}, (), "ALL_ROWS"), minute=7, run="3"),
        run_event("anew", written("last", {"y": ["stage.x"]}, (), "ALL_ROWS"), minute=8, run="4"),
        reads_whole(run_event("whole", written("wide", {"y": []}, (), "ALL_ROWS"), minute=4, run="5"), "stage"),
        run_event("self", written("stage", {"x": ["stage.x", "stage.y"]}, (), "ALL_ROWS"), minute=9, run="6"),
    ],
    # A table is made anew of a stage each night, by one job with the same lineage, and read in between.
    [
        *(
            run_event(f"fill {at}", written("fed", {"x": [f"source{one}.a"]}, (), "ALL_ROWS"), minute=at, run=f"f{at}")
            for at, one in ((1, 8), (4, 9), (7, 0))
        ),
        *(
            run_event("nightly", written("table", {"x": ["fed.x"]}, (), "ALL_ROWS"), minute=day, run=f"n{day}")
            for day in (2, 5, 8)
        ),
        run_event("once", written("mart", {"x": ["table.x"]}, (), "ALL_ROWS"), minute=3, run="1"),
        *(
            run_event("append", written("added", {"x": ["table.x"]}, (), "SOME_ROWS"), minute=day, run=f"a{day}")
            for day in (3, 6)
        ),
    ],
]
"""Worlds of which questions know the answers: no half of them is left for later."""


def worlds(how_many: int) -> list[list[dict[str, Any]]]:
    """Sequences of events, each in a world of its own: Spark's start is paid once for all of them.

    They are the same each time; ``make test-every`` has others each time.
    """
    found: list[list[dict[str, Any]]] = []

    @settings(
        max_examples=how_many,
        phases=[Phase.generate],
        database=None,
        derandomize=SAME_EACH_TIME,
    )
    @given(world=WORLD)
    def collect(world: Any) -> None:
        parts, changes, seed = world
        events = [*(event(Words, one) for one in parts), *(change(Words, one) for one in changes)]
        chance = random.Random(seed)
        mixed = [*events, *chance.choices(events, k=1)]
        chance.shuffle(mixed)
        found.append(moved(mixed, len(found)))

    collect()
    return [*found, *(moved(one, len(found) + at) for at, one in enumerate([*BY_HAND, *STAGES]))]


def test_the_archive_has_the_rows_of_the_store(both: Both) -> None:
    """Reruns, failures, late and repeated events, streams, replacements, other names and changes of names, at once."""
    agree(of_store(both.store), both.archive, both.worlds)


@pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a build of many more worlds: half a minute")
def test_it_has_them_for_many_more_worlds(built: Build) -> None:
    many = worlds(400)
    events = [one for world in many for one in world]
    with tempfile.TemporaryDirectory() as folder, new_store(folder) as store:
        store.ingest(events)
        agree(of_store(store), built(events), many)


def agree(expected: dict[str, list[str]], archive: Archive, worlds: list[list[dict[str, Any]]]) -> None:
    """An archive has the rows of a store, both of them of the events of worlds."""
    for name, rows in reversed(expected.items()):
        missing, more = Counter(rows), Counter(of_archive(archive, name))
        missing, more = missing - more, more - missing
        if missing or more:
            row = min(missing or more)
            number = re.search(r"'(?:file|demo|hive)(\d+)'", row)
            of_world = json.dumps(worlds[int(number[1])], indent=1) if number else ""
            pytest.fail(f"{name}: {len(missing)} missing, {len(more)} more, {row}\n{of_world}")


PAIRS = (
    "SELECT e.job_id, f.dataset_id FROM edge e JOIN field f ON f.id = e.output_field "
    "UNION SELECT job_id, output_dataset FROM dataset_edge"
)


def test_edges_that_may_have_been_replaced_name_the_run_that_the_store_names(both: Both) -> None:
    with both.store.read() as connection:
        found = overwrites(connection, {(row[0], row[1]) for row in connection.execute(text(PAIRS))})
        jobs = {row.id: (row.namespace, row.name) for row in connection.execute(select(schema.job))}
        datasets = {row.id: (row.namespace, row.name) for row in connection.execute(select(schema.dataset))}
    expected = {(*jobs[job], *datasets[dataset], one.run, one.at) for (job, dataset), one in found.items()}
    of = ("job_namespace", "job_name", "output_namespace", "output_dataset", "possibly_replaced_by")
    edges = [
        both.archive[name]
        .where("possibly_replaced_by IS NOT NULL")
        .selectExpr(*of, "unix_micros(possibly_replaced_at)")
        for name in ("column_edges", "dataset_edges")
    ]
    assert {tuple(row) for row in edges[0].union(edges[1]).collect()} == expected
    assert len(expected) > 1


def test_a_field_that_a_replacement_left_out_is_no_column_of_its_dataset_any_more(both: Both) -> None:
    field, dataset = schema.field.c, schema.dataset.c
    shown = select(
        field.id, field.dataset_id, field.ordinal, dataset.namespace, dataset.name, field.name.label("field")
    )
    with both.store.read() as connection:
        rows = connection.execute(shown.join(schema.dataset, dataset.id == field.dataset_id)).all()
        ended = ended_fields(connection, rows)
    written = both.archive.column_edges.where("current").selectExpr("output_field_id AS field_id")
    found = both.archive.fields.where("left_out").join(written, "field_id", "left_anti").collect()
    assert sorted((row.namespace, row.dataset, row.name) for row in found) == sorted(
        (row.namespace, row.name, row.field) for row in rows if row.id in ended
    )
    assert len(found) > 2
    assert [row.name for row in find_fields(both.archive, "out").collect()] == ["v"]
    assert [row.name for row in find_fields(both.archive, "out.old").collect()] == ["old"]


def test_a_run_is_counted_in_the_span_of_its_lineage(both: Both) -> None:
    """Runs with the same lineage are one span with their number, and the first and the last of them."""
    events = both.archive.events.where("job_name = 'c'").orderBy("at").collect()
    first, second, third, fourth = (row.run for row in events)
    found = both.archive.column_edges.where("output_dataset = '/counted'").orderBy("valid_from")
    rows = [(row.input_dataset, row.runs, row.first_run, row.last_run, row.current) for row in found.collect()]
    assert rows == [("/a", 2, first, second, False), ("/b", 1, third, third, False), ("/a", 1, fourth, fourth, True)]
