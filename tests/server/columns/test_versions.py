"""Each version of a dataset has the fields that it had, in both APIs, in the past, and in differences."""

import csv
import io
import random
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import text
from tests.server.columns.conftest import posted
from tests.store.conftest import renamed, run_event, written

from headwater.store.maintenance.retention import prune

NEW_YEAR, MINUTE = 1_767_225_600_000_000, 60_000_000
MARQUEZ = "/api/v1/namespaces/file/datasets/%2Fout/versions"
OUT = "namespace=file&dataset=/out"

Json = dict[str, Any]


def out(fields: dict[str, str] | None) -> Json:
    """The dataset with fields of some types, without lineage; None has no schema."""
    dataset = written("out")
    if fields is not None:
        dataset["facets"]["schema"] = {"fields": [{"name": name, "type": kind} for name, kind in fields.items()]}
    return dataset


def altered(fields: dict[str, str], changes: dict[str, str]) -> Json:
    dataset = renamed("out", "out", fields=changes)
    dataset["facets"]["schema"] = {"fields": [{"name": name, "type": kind} for name, kind in fields.items()]}
    return dataset


HISTORY = [
    run_event("daily", out({"id": "int", "ssn": "string"}), minute=1, run="r1"),
    run_event("daily", out({"id": "int", "ssn": "string"}), minute=2, run="r2"),
    run_event("daily", out({"id": "bigint", "v": "double"}), minute=3, run="r3"),
    run_event("other", out(None), minute=4, run="r4"),
    run_event("alter", altered({"id": "bigint", "w": "double"}, {"v": "w"}), minute=5, run="r5"),
    run_event("other", out(None), minute=6, run="r6"),
]
OLD, NEW, ALTERED = ["id int", "ssn string"], ["id bigint", "v double"], ["id bigint", "w double"]
EXPECTED = [ALTERED, ALTERED, NEW, NEW, OLD, OLD]
"""The fields of the versions, the newest first; those without a schema have those of then."""


@pytest.fixture
def history(served: TestClient) -> TestClient:
    return posted(served, random.Random(3).sample(HISTORY, len(HISTORY)))


def shown(fields: list[Json], name: str) -> list[str]:
    return [f"{one[name]} {one['type']}" for one in fields]


def get(client: TestClient, path: str) -> Json:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    document: Json = answer.json()
    return document


def of_versions(client: TestClient) -> list[list[str]]:
    return [shown(one["columns"], "field") for one in get(client, f"/api/v2/versions?{OUT}")["versions"]]


def test_each_version_has_its_own_fields(history: TestClient) -> None:
    versions = get(history, MARQUEZ)["versions"]
    assert [shown(one["fields"], "name") for one in versions] == EXPECTED
    assert [shown(one["facets"]["schema"]["fields"], "name") for one in versions] == EXPECTED
    assert of_versions(history) == EXPECTED
    schemas = [one["currentSchemaVersion"] for one in versions]
    assert schemas[4] == schemas[5] != schemas[3]
    for one in versions:
        alone = get(history, f"{MARQUEZ}/{one['version']}")
        assert alone["fields"] == one["fields"]


def test_a_schema_is_stored_once_however_many_runs_have_it(served: TestClient) -> None:
    posted(served, [run_event("daily", out({"id": "int"}), minute=minute, run=f"run {minute}") for minute in range(20)])
    posted(served, [run_event("copy", written("copy", {"id": []}), minute=30)])
    with served.app.state.server.store.read() as connection:  # type: ignore[attr-defined]
        assert connection.execute(text("SELECT count(*) FROM dataset_schema")).scalar_one() == 2


def test_a_later_event_of_a_run_has_the_last_word_on_its_schema(served: TestClient) -> None:
    states = (("START", "int", 1), ("RUNNING", "bigint", 2), ("COMPLETE", "string", 3))
    events = [
        run_event("daily", out({"id": kind}), minute=minute, state=state, run="r") for state, kind, minute in states
    ]
    posted(served, [events[2], events[0], events[1]])
    assert of_versions(served) == [["id string"]]


def test_nested_fields_and_descriptions_stay_with_the_version(served: TestClient) -> None:
    nested = {"name": "who", "type": "struct", "description": "a \0 person", "fields": [{"name": "ssn", "type": "int"}]}
    before = out({})
    before["facets"]["schema"] = {"fields": [nested]}
    posted(served, [run_event("daily", before, minute=1), run_event("daily", out({"id": "int"}), minute=2)])
    version = get(served, MARQUEZ)["versions"][1]
    assert version["facets"]["schema"]["fields"][0]["fields"] == [{"name": "ssn", "type": "int"}]
    assert version["fields"][0]["description"] == "a \N{REPLACEMENT CHARACTER} person"


@pytest.mark.parametrize(
    ("minute", "expected"),
    [(1, OLD), (2, OLD), (3, NEW), (4, NEW), (5, ALTERED), (6, ALTERED)],
)
def test_a_dataset_of_the_past_has_the_fields_of_then(history: TestClient, minute: int, expected: list[str]) -> None:
    then = get(history, f"/api/v2/datasets?as_of=2026-01-01T00:0{minute}:00Z")["datasets"]
    assert [shown(one["columns"], "field") for one in then if one["name"] == "/out"] == [expected]
    assert get(history, "/api/v2/datasets?as_of=2025-12-31")["datasets"] == []


def test_a_difference_names_the_columns_that_came_went_and_changed(history: TestClient) -> None:
    def changes(before: str, after: str, what: str = OUT) -> Json:
        moments = f"before=2026-01-01T00:{before}:00Z&after=2026-01-01T00:{after}:00Z"
        found: Json = get(history, f"/api/v2/diff?{what}&{moments}")["columns"]
        return found

    column = {"namespace": "file", "name": "/out"}
    assert changes("02", "04") == {
        "added": [column | {"field": "v", "type": "double"}],
        "removed": [column | {"field": "ssn", "type": "string"}],
        "changed": [column | {"field": "id", "type": "bigint", "before": {"field": "id", "type": "int"}}],
    }
    nothing: Json = {"added": [], "removed": [], "changed": []}
    assert changes("01", "02") == nothing
    renaming = column | {"field": "w", "type": "double", "before": {"field": "v", "type": "double"}}
    assert changes("04", "06") == nothing | {"changed": [renaming]}
    assert changes("02", "04", f"{OUT}&field=ssn")["removed"] == [column | {"field": "ssn", "type": "string"}]
    assert changes("02", "04", "job=daily") == changes("02", "04")
    assert changes("00", "01")["added"] == [
        column | {"field": name, "type": kind} for name, kind in map(str.split, OLD)
    ]


def test_a_difference_as_csv_has_the_columns_too(history: TestClient) -> None:
    question = f"/api/v2/diff?{OUT}&before=2026-01-01T00:02:00Z&after=2026-01-01T00:04:00Z&format=csv"
    rows = list(csv.DictReader(io.StringIO(history.get(question).text)))
    of_columns = [row for row in rows if row["change"].startswith("column ")]
    assert [(row["change"], row["output_dataset"], row["output_field"], row["column_type"]) for row in of_columns] == [
        ("column added", "/out", "v", "double"),
        ("column removed", "/out", "ssn", "string"),
        ("column changed from", "/out", "id", "int"),
        ("column changed to", "/out", "id", "bigint"),
    ]
    assert {row["input_field"] for row in of_columns} == {""}


def test_versions_come_in_pages_that_stay_true(served: TestClient) -> None:
    posted(served, [run_event("daily", out({f"c{n}": "int"}), minute=n, run=f"run {n}") for n in range(7)])
    first = get(served, f"/api/v2/versions?{OUT}&limit=3")
    posted(served, [run_event("daily", out({"late": "int"}), minute=20)])
    rest = get(served, f"/api/v2/versions?{OUT}&limit=100&cursor={first['next']}")
    assert [one["columns"][0]["field"] for one in first["versions"]] == ["c6", "c5", "c4"]
    assert [one["columns"][0]["field"] for one in rest["versions"]] == ["c3", "c2", "c1", "c0"]
    assert rest["next"] is None
    assert served.get("/api/v2/versions?column=out.c1").status_code == 400


def test_pruning_keeps_the_schemas_that_answers_need(served: TestClient) -> None:
    store = served.app.state.server.store  # type: ignore[attr-defined]
    posted(served, [*HISTORY, run_event("daily", out(None), minute=4, run="r7")])
    moments = [f"/api/v2/datasets?as_of=2026-01-01T00:0{minute}:30Z" for minute in (4, 5, 6)]
    before = [get(served, moment) for moment in moments]
    prune(store, NEW_YEAR + 4 * MINUTE + MINUTE // 4)
    assert [get(served, moment) for moment in moments] == before
    assert of_versions(served) == [ALTERED, ALTERED, NEW, NEW, NEW]
    with store.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM dataset_schema")).scalar_one() == 2
