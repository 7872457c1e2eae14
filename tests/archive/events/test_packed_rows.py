"""Rows that Python packs are those that Spark unpacks."""

from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from headwater.archive.events.packed_rows import packed_rows, unpacked
from headwater.archive.events.schema import FLAG, TEXT, columns, many

pytestmark = pytest.mark.spark

LISTS = columns(fields=many(name=TEXT, flag=FLAG), edges=many(field=TEXT, input=TEXT, opaque=FLAG))
FIELDS = [
    {"name": "a", "flag": True},
    {"name": None, "flag": False},
    {"name": "", "flag": None},
    {"name": 'ä "\\\n\u2028😀}', "flag": False},
]
EDGES = [{"field": None, "input": "a", "opaque": False}, {"field": "a", "input": "a", "opaque": True}]


def through_spark(spark: Any, lists: Mapping[str, Any]) -> dict[str, Any]:
    packed = packed_rows(lists)
    schema = StructType([StructField("packed", StringType()), StructField("whole", LISTS)])
    frame = unpacked(spark.createDataFrame([(packed, None if packed else lists)], schema), LISTS)
    assert frame.columns == LISTS.names
    [row] = frame.collect()
    return dict(row.asDict(recursive=True))


@pytest.mark.parametrize(
    "lists",
    [
        pytest.param({"fields": FIELDS, "edges": EDGES}, id="some"),
        pytest.param({"fields": [], "edges": []}, id="none"),
        pytest.param({"fields": FIELDS[:1], "edges": EDGES * 5_000}, id="many"),
        pytest.param({"fields": [{"name": "long " * 300_000, "flag": True}], "edges": EDGES}, id="a long text"),
    ],
)
def test_rows_come_back_as_they_were(spark: Any, lists: Mapping[str, Any]) -> None:
    assert through_spark(spark, lists) == lists


def test_only_long_texts_are_not_packed() -> None:
    assert packed_rows({"fields": [{"name": "a" * 1_000_000}]}) is not None
    assert packed_rows({"fields": [{"name": "a" * 1_000_001}]}) is None
