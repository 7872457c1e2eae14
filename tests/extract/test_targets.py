"""Targets of the v2 API that no catalog has: data sources written in Python, and the one that keeps nothing."""

import json
from collections.abc import Mapping

import pytest

from headwater.extract import statement
from headwater.model import Dataset, Statement
from headwater.plan import decode


def written_to(relation: Mapping[str, object]) -> Statement:
    nodes = [
        ["AttributeReference", [], {}, {"name": "id", "dataType": "int", "id": 1}],
        ["DataSourceV2Relation", [], {"output": [0]}, relation, 1],
        ["LocalRelation", [], {"output": [0]}, {}, 1],
        ["AppendData", [2], {"table": 1, "query": 2}, {"isByName": True}, 1],
    ]
    return statement(decode(json.dumps({"nodes": nodes})))


@pytest.mark.parametrize(
    ("options", "dataset"),
    [
        ({"table": "people", "password": None}, Dataset("crm", "people")),
        ({"table": "orders"}, Dataset("crm", "orders")),
        ({"path": "/lake/people"}, Dataset("file", "/lake/people")),
        ({"path": "people/2026"}, Dataset("crm", "people/2026")),
        ({"url": "https://shop.com/api", "table": "people"}, Dataset("crm://shop.com", "api/people")),
        ({"host": "db.shop.com", "database": "x", "collection": "people"}, Dataset("crm://db.shop.com", "x/people")),
        ({}, Dataset("inmemory://", "crm")),
    ],
)
def test_a_data_source_in_python_is_named_by_where_its_data_is(options: dict[str, str], dataset: Dataset) -> None:
    found = written_to({"table": {"class": "PythonTable", "name": "crm"}, "options": options})
    assert [output.description.dataset for output in found.outputs] == [dataset]


def test_what_is_written_nowhere_is_no_output_and_no_gap() -> None:
    found = written_to({"table": "NoopTable"})
    assert (found.outputs, found.gaps) == ((), ())
