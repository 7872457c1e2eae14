"""Schemas of a file and of a store, and those that Spark would infer, without a JVM."""

from pathlib import Path

import pytest

from headwater.dryrun.schemas import Schema, load_schemas, read_schemas, stored_schemas, write_schemas
from headwater.errors import SettingError
from headwater.model import Dataset
from headwater.store.catalog.datasets import NamedSchema


def test_a_file_has_tables_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yml").write_text(
        "a.b: {x: int}\n./far: {y: date}\nc: {location: 's3://c', columns: {z: string}}\nd: {columns: int}\n"
    )
    found = read_schemas(tmp_path / "s.yml")
    assert found == {
        "a.b": Schema({"x": "int"}),
        f"{tmp_path}/far": Schema({"y": "date"}),
        "c": Schema({"z": "string"}, "s3://c"),
        "d": Schema({"columns": "int"}),
    }
    write_schemas(found, tmp_path / "s.json")
    assert load_schemas(tmp_path / "s.json") == found


def test_a_csv_file_has_the_columns_of_a_catalog(tmp_path: Path) -> None:
    rows = (
        "TABLE_SCHEMA,TABLE_NAME,COLUMN_NAME,ORDINAL_POSITION,DATA_TYPE,FULL_DATA_TYPE",
        'sales,orders,paid,10,DECIMAL,"decimal(9,2)"',
        "sales,orders,id,9,LONG,bigint",
        "hr,staff,n,0,STRING,",
    )
    (tmp_path / "columns.csv").write_text("\ufeff" + "\n".join(rows), "utf-8")
    found = read_schemas(tmp_path / "columns.csv")
    assert found == {
        "sales.orders": Schema({"id": "bigint", "paid": "decimal(9,2)"}),
        "hr.staff": Schema({"n": "STRING"}),
    }
    assert list(found["sales.orders"].columns) == ["id", "paid"]


@pytest.mark.parametrize("text", ["table_name,column_name\na,b\n", "\xff"])
def test_a_csv_file_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "columns.csv").write_bytes(text.encode("latin-1"))
    with pytest.raises(SettingError, match=r"columns\.csv"):
        read_schemas(tmp_path / "columns.csv")


@pytest.mark.parametrize(
    ("text", "place"), [("- a", "1:1"), ("a.b: int", "1:6"), ("{", "1:2"), ("a: {b: c", "1:9"), ("a:\n  b: [c]", "2:6")]
)
def test_a_file_of_another_form_is_refused_at_its_place(tmp_path: Path, text: str, place: str) -> None:
    (tmp_path / "s.yml").write_text(text)
    with pytest.raises(SettingError, match=rf"s\.yml:{place}: "):
        read_schemas(tmp_path / "s.yml")


def test_a_table_of_a_store_is_where_its_files_are() -> None:
    table = NamedSchema(
        (Dataset("s3://lake", "sales/orders"), Dataset("hive://host:9083", "sales.orders")),
        {"id": "bigint", "to": "struct<city:string>", "to.city": "string"},
    )
    columns = {"id": "bigint", "to": "struct<city:string>"}
    assert stored_schemas([table]) == {
        "s3://lake/sales/orders": Schema(columns),
        "sales.orders": Schema(columns, "s3://lake/sales/orders"),
    }
