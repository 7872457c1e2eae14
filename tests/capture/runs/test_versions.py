"""Versions of tables: of those read, what their plan was made for; of one written, only what is certain."""

from datetime import UTC, datetime
from typing import Any

import pytest

from headwater.capture.rows import ExecutionRow
from headwater.capture.runs.executions import Executions
from headwater.model import Engine, Job, Run, RunState
from headwater.openlineage.writing.events import end_event, run_event
from headwater.plan import decode_document

NOW = datetime(2026, 1, 1, tzinfo=UTC)
APPLICATION = Run("01900000-0000-7000-8000-000000000000", Job("demo", "app"))


def relation(attribute: int, table: str, version: str) -> list[Any]:
    facts = {"location": f"file:/lake/{table}", "provider": "delta", **({"version": version} if version else {})}
    values = {"table": facts, "identifier": {"parts": ["db", table]}, "catalog": {"name": "spark_catalog"}}
    return ["DataSourceV2Relation", [], {"output": [attribute]}, values, 1]


def append(*read: str, before: str) -> dict[str, Any]:
    """An INSERT into ``/lake/t`` at version ``before``, of a union of ``/lake/s`` at the versions that are read."""
    count = len(read)
    nodes: list[Any] = [["AttributeReference", [], {}, {"id": place, "name": "a"}] for place in range(count + 1)]
    nodes += [relation(place, "s", version) for place, version in enumerate(read)]
    nodes.append(["Union", list(range(count + 1, 2 * count + 1)), {}, {}, 1])
    nodes.append(relation(count, "t", before))
    command = {"table": len(nodes) - 1, "query": len(nodes) - 2}
    return {"nodes": [*nodes, ["AppendData", [len(nodes) - 2], command, {}, 1]]}


def versions(
    document: dict[str, Any], version: str = "", previous: str = "", failure: str | None = None
) -> tuple[str, str]:
    """The versions of the input and of the output in the event at the end; at the start no output has one."""
    executions = Executions(APPLICATION, Engine())
    plan = decode_document(document)
    (start,) = executions.moments(ExecutionRow("start", 1, NOW, plan=plan))
    begun = run_event(start)
    assert _versions(begun.outputs) == [""]
    row = ExecutionRow("end", 1, NOW, failure=failure, version=version, previous=previous)
    (end,) = executions.moments(row)
    assert end.state is (RunState.FAIL if failure else RunState.COMPLETE)
    event = end_event(begun, end)
    return _versions(event.inputs)[0], _versions(event.outputs)[0]


def _versions(datasets: Any) -> list[str]:
    return [dataset.facets["version"].datasetVersion if "version" in dataset.facets else "" for dataset in datasets]


def test_an_input_has_the_version_that_its_plan_was_made_for() -> None:
    assert versions(append("7", before="4")) == ("7", "")


@pytest.mark.parametrize(
    ("before", "version", "previous", "certain"),
    [
        ("4", "5", "4", True),  # the next one is the statement's own
        ("4", "4", "3", True),  # nothing was changed
        ("4", "6", "5", False),  # somebody else has written too
        ("", "0", "", True),  # the first one of a table that the statement made
        ("", "5", "4", False),
        ("123", "456", "123", True),  # snapshots name the one before
        ("123", "789", "456", False),
    ],
)
def test_an_output_has_a_version_where_it_is_certain(
    before: str, version: str, previous: str, *, certain: bool
) -> None:
    assert versions(append("7", before=before), version, previous) == ("7", version if certain else "")


def test_a_failed_write_has_no_version() -> None:
    assert versions(append("7", before="4"), failure="no") == ("7", "")


@pytest.mark.parametrize("read", [("1", "2"), ("1", "2", "1")])
def test_a_table_that_is_read_at_two_versions_has_none(read: tuple[str, ...]) -> None:
    assert versions(append(*read, before="4")) == ("", "")


def test_a_table_that_is_read_twice_at_one_version_has_it() -> None:
    assert versions(append("3", "3", before="4")) == ("3", "")
