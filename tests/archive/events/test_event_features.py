"""Archives in which one rare thing alone occurs, or none, against the store: plans leave out what does not occur."""

from pathlib import Path
from typing import Any

import pytest

from tests.archive.conftest import Build
from tests.archive.test_archive_laws import agree, of_store
from tests.store.conftest import new_store, renamed, run_event, written

pytestmark = pytest.mark.spark
Events = list[dict[str, Any]]


def read_by(*events: dict[str, Any]) -> Events:
    """Events of one output ``out``, after one that makes its source and before those that read it."""
    first = run_event("first", written("src", {"x": ["raw.x"], "y": ["raw.y"]}), run="first")
    last = [
        run_event("last", written("end", {"z": ["out.x"]}), minute=minute, run=f"last {minute}") for minute in (4, 8)
    ]
    return [first, *events, *last]


def out(write: str = "", column: str = "x", source: str = "src.x", symlinks: tuple[str, ...] = ()) -> dict[str, Any]:
    return written("out", {column: [source]}, symlinks, write)


def twice(write: str, again: str, other: str = "job") -> Events:
    return read_by(
        run_event("job", out(write), minute=1, run="1"),
        run_event(other, out(again, source="src.y"), minute=5, run="2"),
    )


def with_schema(column: str) -> dict[str, Any]:
    """An output without lineage, whose schema has a column."""
    described = written("out")
    return {**described, "facets": {"schema": {"fields": [{"name": column, "type": "string"}]}}}


PARENT = {"parent": {"run": {"runId": "9"}, "job": {"namespace": "demo", "name": "application"}}}
WORLDS: dict[str, Events] = {
    "nothing": twice("", ""),
    "a parent": read_by(run_event("job", out(), run="1", run_facets=PARENT)),
    "all rows": twice("", "ALL_ROWS", "other"),
    "perhaps all rows": twice("", "OVERWRITE", "other"),
    "rows of another version": twice("", "SOME_ROWS <?", "other"),
    "upper case in a schema": read_by(run_event("job", with_schema("X"), run="1")),
    "upper case in what is written": read_by(run_event("job", out(column="X"), run="1")),
    "upper case in what is read": read_by(run_event("job", out(source="src.X"), run="1")),
    "upper case in what all of it depends on": read_by(
        run_event("job", written("out", {"*": ["src.X FILTER"]}), run="1")
    ),
    "twins": read_by(run_event("job", written("out", {"x": ["src.x"], "X": ["src.y"]}), run="1")),
    "another name": read_by(run_event("job", out(symlinks=("db.out",)), run="1")),
    "a dataset with a new name": [*twice("", ""), run_event("ddl", renamed("out", "new"), minute=6, run="3")],
    "a column with a new name": [
        *twice("", ""),
        run_event("ddl", renamed("out", "out", {"x": "w"}), minute=6, run="3"),
    ],
}


@pytest.mark.parametrize("occurs", WORLDS)
def test_archives_with_one_rare_thing_have_the_rows_of_the_store(built: Build, tmp_path: Path, occurs: str) -> None:
    world = WORLDS[occurs]
    with new_store(tmp_path) as store:
        store.ingest(world)
        agree(of_store(store), built(world), [world])
