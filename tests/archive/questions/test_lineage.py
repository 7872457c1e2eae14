"""Questions over the tables of an archive have the answers that the store gives to the same ones."""

import random
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf
from typer.testing import CliRunner

from headwater.archive import changes, column_roots, find_fields, impact, roots
from headwater.cli.main import app
from headwater.errors import AmbiguousName, UnknownName
from headwater.store.questions import Bounds, Direction, roots_of
from headwater.store.questions.answers import Origin
from headwater.store.questions.lookup.find import ExactName
from headwater.store.questions.walk.closure import reach
from tests.archive.conftest import MOMENT, THEN, Both, Named
from tests.extract.case_file import some

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("at", [None, MOMENT], ids=["now", "then"])
def test_roots_and_impact_are_those_of_the_store(both: Both, at: datetime | None) -> None:
    every = sorted(both.fields)
    ids = [*random.Random(7).sample(every, len(every) // 3), *(key for key in every if both.fields[key][1][1] in "klm")]
    names = {both.fields[key] for key in ids}
    rows = both.archive.fields.collect()
    start = both.archive.fields.where(
        sf.col("field_id").isin([r.field_id for r in rows if (r.namespace, r.dataset, r.name) in names])
    )
    bounds = Bounds(as_of=None if at is None else THEN)
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
        answer = roots_of(both.store, ExactName(*both.fields[key]), bounds)
        its_own = [(key, 0, answer.origin)] if answer.origin is not None else []
        for column, far, origin in [*its_own, *((one.column.id, one.distance, one.origin) for one in answer.roots)]:
            one = both.fields[column]
            nearest = min(far, *named[one][:1]) if one in named else far
            named[one] = (nearest, origin is Origin.CYCLE or named.get(one, (0, False))[1])
    return named


def test_the_values_of_a_whole_dataset_lead_to_each_of_its_columns(both: Both) -> None:
    """Of a function from many columns to many, an event has DIRECT edges to the dataset and none to its columns."""
    edges = both.archive.dataset_edges.where("output_dataset = '/mapped'").collect()
    assert sorted((row.input_field, row.type, row.subtype) for row in edges) == [
        ("x", "DIRECT", "TRANSFORMATION"),
        ("y", "INDIRECT", "FILTER"),
    ]
    of_fields = column_roots(both.archive).where("dataset = '/mapped'").collect()
    assert sorted((row.field, row.root_dataset, row.root_field, row.distance, row.cycle) for row in of_fields) == [
        (column, "/raw/w", source, 1, False) for column in "pq" for source in "xy"
    ]
    below = found(impact(both.archive, find_fields(both.archive, "raw/w.x")))
    assert below == {("file", "/mapped", "p"): (1,), ("file", "/mapped", "q"): (1,)}


@pytest.mark.parametrize("at", [None, MOMENT], ids=["now", "then"])
def test_the_roots_of_all_fields_are_those_of_each(both: Both, at: datetime | None) -> None:
    """In many worlds at once, cycles among them: the answers of the store for each field.

    Those of now were written by the build.
    """
    assert "column_roots" in both.archive
    every = column_roots(both.archive, at).collect()
    assert len({(row.field_id, row.root_field_id) for row in every}) == len(every)
    compared = set(both.fields.values())
    answers: dict[Named, dict[Named, tuple[Any, ...]]] = {}
    for row in every:
        field, root = (row.namespace, row.dataset, row.field), (row.root_namespace, row.root_dataset, row.root_field)
        if field in compared:
            answers.setdefault(field, {})[root] = (row.distance, row.cycle)
    bounds = Bounds(as_of=None if at is None else THEN)
    assert answers == {name: upstream(both, [key], bounds) for key, name in both.fields.items()}


def test_roots_lead_through_what_was_read_before_it_was_replaced(both: Both) -> None:
    """Beside those of nights the source of now: it leads to the stage, as in a store.

    They are read from the roots of all fields, which the build made; one of the fields is asked for alone too.
    """
    found = column_roots(both.archive).where("root_dataset LIKE '/source%'").collect()
    fields = {name: {row for row in found if f"{row.dataset}.{row.field}" == f"/{name}"} for name in SOURCES}
    assert {name: of_nights(row.root_dataset for row in rows) for name, rows in fields.items()} == SOURCES
    for name, sources in some(list(SOURCES.items()), 6):
        alone = roots(both.archive, find_fields(both.archive, name)).where("dataset LIKE '/source%'").collect()
        assert of_nights(row.dataset for row in alone) == sources


SOURCES = {"two.z": "157", "all.y": "1357", "first.y": "17", "third.y": "57", "last.y": "7", "wide.y": "37"}
SOURCES |= {"table.x": "0", "mart.x": "08", "added.x": "089"}


def of_nights(names: Iterable[str]) -> str:
    return "".join(sorted(name.removeprefix("/source") for name in names))


def test_names_are_found_by_what_they_end_in(both: Both) -> None:
    assert [row.name for row in find_fields(both.archive, "gold.z.x").collect()] == ["x"]
    assert sorted(row.name for row in find_fields(both.archive, "Gold/Z").collect()) == ["x", "y"]
    with pytest.raises(UnknownName, match=r"ends in 'old/z\.x'"):
        find_fields(both.archive, "old/z.x")
    with pytest.raises(AmbiguousName, match=r"fits several datasets of the archive: file:/gold/z, file:/other/z"):
        find_fields(both.archive, "z.x")


def test_changes_are_the_edges_of_only_one_of_two_times(both: Both) -> None:
    rows = changes(both.archive, MOMENT).where("output_dataset = '/gold/z'").collect()
    assert sorted((row.change, row.output_field, row.input_dataset) for row in rows) == [
        ("added", "x", "/raw/c"),
        ("removed", "x", "/raw/b"),
    ]
    assert changes(both.archive, MOMENT, MOMENT).isEmpty()


def test_the_commands_print_a_table_or_write_one(spark: Any, both: Both, tmp_path: Path) -> None:
    def printed(*words: str) -> list[str]:
        command = ["archive", *words, "--into", both.into, "--format", "parquet"]
        result = CliRunner().invoke(app, command, env={"COLUMNS": "200"})
        assert result.exit_code == 0, result.output
        return [" ".join(line.split()) for line in result.stdout.splitlines()]

    assert printed("roots", "gold/z.x") == ["namespace dataset field distance cycle", "file /raw/c x 1"]
    assert printed("roots", "gold/z.x", "--as-of", "2026-01-01T00:04:00")[1:] == ["file /raw/b x 1"]
    assert any("file /gold/z y" in line and line.endswith("file /raw/b y 1") for line in printed("roots", "--all"))
    assert printed("impact", "raw/c") == ["namespace dataset field distance", "file /gold/z x 1"]
    assert "added file /gold/z x file /raw/c x demo gold DIRECT IDENTITY" in printed("diff", "2026-01-01T00:04:00")
    assert printed("impact", "raw/c.x", "--write", str(tmp_path / "answer")) == []
    assert [row.field for row in spark.read.parquet(str(tmp_path / "answer")).collect()] == ["x"]
