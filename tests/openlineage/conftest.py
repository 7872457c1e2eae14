"""The specification's schemas, and an environment without configuration."""

import json
import os
import re
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openlineage.client.generated import base
from referencing import Registry, Resource

import headwater.openlineage

EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
SPECIFICATION = Path(__file__).with_name("spec")
OWN_SCHEMAS = Path(headwater.openlineage.__file__).parent / "schemas"

checker = FormatChecker(["uuid"])


@checker.checks("date-time")
def is_date_time(value: object) -> bool:
    text = str(value)
    return "T" in text and datetime.fromisoformat(text).tzinfo is not None


@checker.checks("uri")
def is_uri(value: object) -> bool:
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*", str(value)) is not None


@pytest.fixture(scope="session")
def check() -> Callable[[dict[str, Any]], None]:
    """Raises ValidationError unless the event and each of its facets is as the specification says."""
    schemas = [json.loads(path.read_text()) for path in (*SPECIFICATION.rglob("*.json"), *OWN_SCHEMAS.glob("*.json"))]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"}))
        for schema in schemas
    )

    def validate(url: str, value: object) -> None:
        Draft202012Validator({"$ref": url}, registry=registry, format_checker=checker).validate(value)

    def check_event(event: dict[str, Any]) -> None:
        validate(EVENT, event)
        parts = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
        for facet in (facet for part in parts for facet in (part.get("facets") or {}).values()):
            validate(facet["_schemaURL"], facet)
        for output in event["outputs"]:
            if facet := (output.get("outputFacets") or {}).get("headwater_write"):
                validate(facet["_schemaURL"], facet)

    assert base.RunEvent._get_schema() == EVENT
    return check_event


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The machine's own OpenLineage configuration is none of the tests'."""
    for name in list(os.environ):
        if name.startswith("OPENLINEAGE"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
