"""The specification's schemas, and an environment without configuration."""

import importlib
import json
import os
import pkgutil
import re
import types
import typing
from collections.abc import Callable, Iterator
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Any

import attr
import pytest
from jsonschema import Draft202012Validator, FormatChecker
from openlineage.client import generated
from openlineage.client.generated import base
from referencing import Registry, Resource

import headwater.openlineage

EVENT = "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"
OWN_SCHEMAS = Path(headwater.openlineage.__file__).parent / "schemas"
FORMATS = {"runId": "uuid", "eventTime": "date-time"} | dict.fromkeys(
    ("producer", "schemaURL", "_producer", "_schemaURL", "uri", "url"), "uri"
)
SCALARS = {str: "string", int: "integer", bool: "boolean", float: "number"}
REQUIRED_THOUGH_DEFAULTED = {"producer", "schemaURL", "_producer", "_schemaURL"}

checker = FormatChecker(["uuid"])


@checker.checks("date-time")
def is_date_time(value: object) -> bool:
    text = str(value)
    return "T" in text and datetime.fromisoformat(text).tzinfo is not None


@checker.checks("uri")
def is_uri(value: object) -> bool:
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*", str(value)) is not None


def spec_files() -> Iterator[dict[str, Any]]:
    """The specification's own files, where OPENLINEAGE_SPEC names the folder that holds them; else what
    the client's classes say, which its generator made from those files."""
    if folder := os.environ.get("OPENLINEAGE_SPEC"):
        for path in (*Path(folder).glob("*.json"), *Path(folder).glob("facets/*.json")):
            yield json.loads(path.read_text())
        return
    definitions = {name_of(kind): definition(kind) for kind in client_classes()}
    yield {"$id": "urn:openlineage-python", "$defs": definitions}
    by_file: dict[str, dict[str, Any]] = {}
    for kind in client_classes():
        if hasattr(kind, "_get_schema"):
            file, _, name = kind._get_schema().partition("#/$defs/")
            by_file.setdefault(file, {})[name] = {"$ref": f"urn:openlineage-python#/$defs/{name_of(kind)}"}
    yield from ({"$id": file, "$defs": names} for file, names in by_file.items())


def client_classes() -> list[type]:
    modules = [
        importlib.import_module(f"{generated.__name__}.{m.name}") for m in pkgutil.iter_modules(generated.__path__)
    ]
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and attr.has(kind) and kind.__module__ == module.__name__
    ]


def name_of(kind: type) -> str:
    return f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def definition(kind: type) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    fields = attr.fields(kind)
    required = [f.name for f in fields if f.default is attr.NOTHING or f.name in REQUIRED_THOUGH_DEFAULTED]
    properties = {f.name: schema_of(hints[f.name]) for f in fields}
    for name, form in FORMATS.items():
        if name in properties:
            properties[name] = {"type": "string", "format": form}
    return {"type": "object", "required": required, "properties": properties}


def schema_of(hint: Any) -> dict[str, Any]:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [schema_of(one) for one in arguments if one is not type(None)]}
    if origin is list:
        return {"type": "array", "items": schema_of(arguments[0])}
    if origin is dict:
        return {"type": "object", "additionalProperties": schema_of(arguments[1])}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return {"enum": [member.value for member in hint]}
    if isinstance(hint, type) and attr.has(hint):
        return {"$ref": f"urn:openlineage-python#/$defs/{name_of(hint)}"}
    return {"type": SCALARS[hint]} if hint in SCALARS else {}


@pytest.fixture(scope="session")
def check() -> Callable[[dict[str, Any]], None]:
    """Raises ValidationError unless the event and each of its facets is as the specification says."""
    own = [json.loads(path.read_text()) for path in OWN_SCHEMAS.glob("*.json")]
    registry: Registry[Any] = Registry().with_resources(
        (schema["$id"], Resource.from_contents(schema | {"$schema": "https://json-schema.org/draft/2020-12/schema"}))
        for schema in (*spec_files(), *own)
    )

    def validate(url: str, value: object) -> None:
        Draft202012Validator({"$ref": url}, registry=registry, format_checker=checker).validate(value)

    def check_event(event: dict[str, Any]) -> None:
        validate(EVENT, event)
        parts = [event["run"], event["job"], *event["inputs"], *event["outputs"]]
        for facet in (facet for part in parts for facet in (part.get("facets") or {}).values()):
            validate(facet["_schemaURL"], facet)

    assert base.RunEvent._get_schema() == EVENT
    return check_event


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The machine's own OpenLineage configuration is none of the tests'."""
    for name in list(os.environ):
        if name.startswith("OPENLINEAGE") and name != "OPENLINEAGE_SPEC":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
