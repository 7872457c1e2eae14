"""The SQL that docs/archive-sql.md has for other engines, over tables of each format."""

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as sf

from headwater.archive import find_fields, impact, roots
from headwater.archive.formats.lake import Lake, lake
from headwater.archive.formats.manifest import Manifest
from headwater.archive.tables import TABLES

from .conftest import Both

pytestmark = pytest.mark.spark
PAGE = (Path(__file__).resolve().parents[2] / "docs" / "archive-sql.md").read_text()
QUESTIONS = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
TABLES_OF_QUESTIONS = [name for name in TABLES if re.search(rf"\b{name}\b", " ".join(QUESTIONS))]
VALUES = {"dataset": "/gold/z", "field": "x", "at": "2026-01-01T00:04:00"}
IMPACT = {**VALUES, "dataset": "/raw/b"}


class Folder:
    """A catalog of PyIceberg for tables of Iceberg's Hadoop catalog, which it has none for."""

    def __init__(self, warehouse: str) -> None:
        self._warehouse = warehouse

    def load_table(self, name: str) -> Any:
        from pyiceberg.table import StaticTable

        folder = Path(self._warehouse, *name.split("."), "metadata")
        last = max(folder.glob("v*.metadata.json"), key=lambda one: int(one.name.split(".")[0][1:]))
        return StaticTable.from_metadata(str(last))


@pytest.fixture(scope="module")
def lakes(spark: Any, both: Both, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A connection of DuckDB for each format, made as the page does."""
    functions: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(block, functions)
    folder = str(tmp_path_factory.mktemp("sql") / "delta")
    for format, into in (("delta", folder), ("iceberg", "ice.sql")):
        place = lake(spark, into, format)
        marks = {name: place.write(name, both.archive[name], TABLES[name], few=True) for name in TABLES_OF_QUESTIONS}
        place.publish(Manifest(), marks)
    grown = str(tmp_path_factory.mktemp("sql") / "parquet")
    place = lake(spark, grown, "parquet")
    place.publish(Manifest(), {name: in_two_parts(place, name, both.archive[name]) for name in TABLES_OF_QUESTIONS})
    warehouse = spark.conf.get("spark.sql.catalog.ice.warehouse")
    return {
        "parquet": functions["open_parquet"](both.into),
        "parquet with added folders": functions["open_parquet"](grown),
        "delta": functions["open_delta"](folder),
        "iceberg": functions["open_iceberg"](Folder(warehouse), "sql"),
    }


def in_two_parts(place: Lake, name: str, rows: Any) -> Any:
    """Write a part of a table, and add the rest as an update does; returns its mark."""
    in_first = sf.pmod(sf.hash(*TABLES[name].key), sf.lit(2)) == 0
    mark = place.write(name, rows.where(in_first), TABLES[name], few=True)
    return place.add(name, mark, rows.where(~in_first), TABLES[name], few=True)


def answer(lake: Any, sql: str, values: dict[str, str] = VALUES) -> list[tuple[str, ...]]:
    found = lake.execute(sql, {name: value for name, value in values.items() if f"${name}" in sql}).fetchall()
    return sorted(tuple(map(str, row)) for row in found)


@pytest.mark.parametrize("number", range(1, 11))
def test_the_formats_answer_alike(lakes: dict[str, Any], number: int) -> None:
    sql = QUESTIONS[number - 1]
    found = {format: answer(one, sql, IMPACT if number in {3, 6} else VALUES) for format, one in lakes.items()}
    assert found["parquet"]
    assert without_zone(found["delta"]) == without_zone(found["iceberg"]) == found["parquet"]
    assert found["parquet with added folders"] == found["parquet"]


def without_zone(rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Rows with times as Parquet's are: it has no zone for those that Spark writes."""
    return [tuple(value.removesuffix("+00:00") for value in row) for row in rows]


def test_roots_and_impact_are_those_of_headwater(lakes: dict[str, Any], both: Both) -> None:
    fields = find_fields(both.archive, "gold/z.x"), find_fields(both.archive, "raw/b.x")
    expected = roots(both.archive, fields[0]), impact(both.archive, fields[1])
    for sql, rows, values in zip(QUESTIONS[1:3], expected, (VALUES, IMPACT), strict=True):
        names = sorted((row.namespace, row.dataset, row.field) for row in rows.collect())
        assert answer(lakes["parquet"], sql, values) == names


def test_the_page_has_ten_questions() -> None:
    assert len(QUESTIONS) == 10
