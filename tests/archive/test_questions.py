"""Questions over the tables of an archive have the answers that the store gives to the same ones."""

import json
import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import text
from typer.testing import CliRunner

from headwater.archive import Archive, build, changes, find_fields, impact, roots
from headwater.cli.main import app
from headwater.errors import AmbiguousName, UnknownName
from headwater.store import Store, open_store
from headwater.store.questions import Bounds, Direction, roots_of
from headwater.store.questions.answers import Origin
from headwater.store.questions.closure import reach
from headwater.store.questions.exact import Exact
from tests.store.conftest import told, written
from tests.store.test_ingest_laws import empty_store

from .test_archive_laws import worlds

pytestmark = pytest.mark.spark

FIELDS = "SELECT f.id, d.namespace, d.name, f.name FROM field f JOIN dataset d ON d.id = f.dataset_id"
MOMENT = datetime(2026, 1, 1, 0, 4, tzinfo=UTC)
Named = tuple[str, str, str]


class Both(NamedTuple):
    """A store and an archive that were told the same, where that is; the fields of the store by id."""

    store: Store
    archive: Archive
    into: str
    fields: dict[int, Named]


def loop(*names: str) -> dict[str, Any]:
    """An event by which fields of ``names`` are made of one another in a circle."""
    before = dict(zip(names, [names[-1], *names], strict=False))
    return told("loop", *(written(name, {"x": [f"{before[name]}.x"]}) for name in names), run=f"loop {names[0]}")


EVENTS = [
    *(loop(*names) for names in (["self"], ["l1", "l2", "l3"], ["m2", "m1", "m3"])),
    told("k", written("k", {"x": ["l2.x", "self.x"]}), run="k"),
    told("m", written("m1", {"x": ["raw.m"]}), run="m"),
    told("gold", written("gold/z", {"x": ["raw/b.x"], "y": ["raw/b.y"]}), minute=1, run="1"),
    told("gold", written("gold/z", {"x": ["raw/c.x"], "y": ["raw/b.y"]}), minute=9, run="2"),
    told("other", written("other/z", {"x": ["raw/b.x"]}), run="3"),
]


@pytest.fixture(scope="module")
def both(spark: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("questions")
    events = [*(one for world in worlds(15) for one in world), *EVENTS]
    (folder / "events.ndjson").write_text("\n".join(map(json.dumps, events)))
    into = str(folder / "lineage")
    archive = build(spark, str(folder / "events.ndjson"), into, format="parquet")
    (folder / "lineage.db").write_bytes(empty_store())
    with open_store(str(folder / "lineage.db")) as store:
        store.ingest(events)
        with store.read() as connection:
            fields = {row[0]: tuple(row[1:]) for row in connection.execute(text(FIELDS))}
        yield Both(store, archive, into, fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("at", [None, MOMENT], ids=["now", "then"])
def test_roots_and_impact_are_those_of_the_store(both: Both, at: datetime | None) -> None:
    every = sorted(both.fields)
    ids = [*random.Random(7).sample(every, len(every) // 3), *(key for key in every if both.fields[key][1][1] in "klm")]
    names = {both.fields[key] for key in ids}
    rows = both.archive.fields.collect()
    start = both.archive.fields.where(
        " OR ".join(f"field_id = '{r.field_id}'" for r in rows if (r.namespace, r.dataset, r.name) in names)
    )
    bounds = Bounds(as_of=None if at is None else int(at.timestamp() * 1_000_000))
    assert found(impact(both.archive, start, at)) == downstream(both, ids, bounds)
    assert found(roots(both.archive, start, at)) == upstream(both, ids, bounds)


def found(answer: Any) -> dict[Named, tuple[Any, ...]]:
    return {tuple(row)[:3]: tuple(row)[3:] for row in answer.collect()}


def downstream(both: Both, ids: list[int], bounds: Bounds) -> dict[Named, tuple[Any, ...]]:
    with both.store.read() as connection:
        distance = reach(connection, ids, Direction.DOWN, bounds).distance
    return {both.fields[key]: (far,) for key, far in distance.items() if far}


def upstream(both: Both, ids: list[int], bounds: Bounds) -> dict[Named, tuple[Any, ...]]:
    """The roots of each, those that are their own too; of several distances the least."""
    named: dict[Named, tuple[Any, ...]] = {}
    for key in ids:
        answer = roots_of(both.store, Exact(*both.fields[key]), bounds)
        its_own = [(key, 0, answer.origin)] if answer.origin is not None else []
        for column, far, origin in [*its_own, *((one.column.id, one.distance, one.origin) for one in answer.roots)]:
            one = both.fields[column]
            nearest = min(far, *named[one][:1]) if one in named else far
            named[one] = (nearest, origin is Origin.CYCLE)
    return named


def test_names_are_found_by_what_they_end_in(both: Both) -> None:
    assert [row.name for row in find_fields(both.archive, "gold.z.x").collect()] == ["x"]
    assert sorted(row.name for row in find_fields(both.archive, "Gold/Z").collect()) == ["x", "y"]
    with pytest.raises(UnknownName, match=r"ends in 'old/z\.x'"):
        find_fields(both.archive, "old/z.x")
    with pytest.raises(AmbiguousName, match=r"fits several datasets of the archive: file:/gold/z, file:/other/z"):
        find_fields(both.archive, "z.x")


def test_what_came_and_went_between_two_times(both: Both) -> None:
    rows = changes(both.archive, MOMENT).where("output_dataset = '/gold/z'").collect()
    assert sorted((row.change, row.output_field, row.input_dataset) for row in rows) == [
        ("added", "x", "/raw/c"),
        ("removed", "x", "/raw/b"),
    ]
    assert changes(both.archive, MOMENT, MOMENT).isEmpty()


def test_the_commands_print_a_table_or_write_one(spark: Any, both: Both, tmp_path: Path) -> None:
    def said(*words: str) -> list[str]:
        command = ["archive", *words, "--into", both.into, "--format", "parquet"]
        result = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return [" ".join(line.split()) for line in result.stdout.splitlines()]

    assert said("roots", "gold/z.x") == ["namespace dataset field distance cycle", "file /raw/c x 1"]
    assert said("impact", "raw/c") == ["namespace dataset field distance", "file /gold/z x 1"]
    assert "added file /gold/z x file /raw/c x demo gold DIRECT IDENTITY" in said("diff", "2026-01-01T00:04:00")
    assert said("impact", "raw/c.x", "--write", str(tmp_path / "answer")) == []
    assert [row.field for row in spark.read.parquet(str(tmp_path / "answer")).collect()] == ["x"]
