"""A store with three jobs over flights, and the command line to ask it."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.store.conftest import new_file
from typer.testing import CliRunner

from headwater.cli.main import app
from headwater.store import open_store

Json = dict[str, Any]


def inputs(*words: str) -> list[Json]:
    """``"/landing/flights dep_delay AGGREGATION"`` as an input field."""
    found = []
    for one in words:
        name, field, subtype, *more = one.split()
        kind = "DIRECT" if subtype in ("IDENTITY", "TRANSFORMATION", "AGGREGATION") else "INDIRECT"
        transformation = {"type": kind, "subtype": subtype, "masking": "masked" in more, "opaque": "opaque" in more}
        found.append({"namespace": "file", "name": name, "field": field, "transformations": [transformation]})
    return found


def event(run: int, job: str, name: str, facets: Json, **run_facets: Any) -> Json:
    return {
        "eventType": "COMPLETE",
        "eventTime": f"2026-01-01T00:0{run}:00Z",
        "run": {"runId": f"0190000{run}-0000-7000-8000-000000000000", "facets": run_facets},
        "job": {"namespace": "demo", "name": job, "facets": {"jobType": {"jobType": "SQL_JOB"}}},
        "inputs": [],
        "outputs": [{"namespace": "file", "name": name, "facets": facets}],
    }


def lineage(whole: list[Json], **fields: list[Json]) -> Json:
    return {
        "columnLineage": {
            "fields": {name: {"inputFields": input_fields} for name, input_fields in fields.items()},
            "dataset": whole,
        }
    }


FLIGHTS, SILVER, GOLD = "/data/landing/flights", "/data/silver/flights", "/data/gold/delays"
EVENTS = [
    event(
        1,
        "clean",
        SILVER,
        lineage(
            inputs(f"{FLIGHTS} cancelled FILTER"),
            carrier=inputs(f"{FLIGHTS} carrier IDENTITY"),
            tail=inputs(f"{FLIGHTS} tailnum TRANSFORMATION masked opaque"),
            delay=inputs(f"{FLIGHTS} dep_delay TRANSFORMATION"),
        )
        | {"tags": {"tags": [{"key": "sensitivity", "value": "internal", "source": "CATALOG", "field": "delay"}]}},
        headwater_coverage={
            "gaps": [{"kind": "opaque", "what": "mapInPandas", "why": "cannot be seen into", "output": SILVER}]
        },
    ),
    event(
        2,
        "gold",
        GOLD,
        lineage(
            inputs(f"{SILVER} carrier GROUP_BY"),
            carrier=inputs(f"{SILVER} carrier IDENTITY"),
            avg_delay=inputs(f"{SILVER} delay AGGREGATION"),
        )
        | {"symlinks": {"identifiers": [{"namespace": "hive", "name": "gold.delays", "type": "TABLE"}]}},
    ),
    event(3, "export", "/data/export", {}),
]


@pytest.fixture
def store(tmp_path: Path) -> str:
    """The path of a store with the events above."""
    path = str(new_file(tmp_path))
    with open_store(path) as opened:
        opened.ingest(EVENTS)
    return path


@pytest.fixture
def headwater(store: str) -> Callable[..., Result]:
    """Runs a command on the store."""

    def run(*arguments: str, **options: Any) -> Result:
        environment = {"HEADWATER_STORE": store, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1"}
        return CliRunner().invoke(app, arguments, env=dict(os.environ) | environment, **options)

    return run
