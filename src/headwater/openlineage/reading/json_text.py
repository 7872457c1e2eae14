"""Events as JSON texts: read, and written so that equal ones are equal.

Facets that come again and again, event after event, are each written as a text once, and known again by it.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Any

import orjson

from headwater.errors import EventError
from headwater.openlineage.reading.json_values import Part, Record, record, records

_LARGE = ("columnLineage", "schema")
"""The facets of datasets that most of an event is."""

_NAME_FACETS = ("headwater_names", "lifecycleStateChange", "symlinks")


def read_json(source: str | bytes) -> Any:
    """The value that a JSON text stands for.

    Raises:
        EventError: it is no JSON.
    """
    try:
        try:
            return orjson.loads(source)
        except orjson.JSONDecodeError:
            return json.loads(source)  # which knows NaN and halves of characters
    except (ValueError, RecursionError) as fault:
        raise EventError(
            f"Not JSON ({fault}): expected one OpenLineage event. Correct or leave out the line."
        ) from None


def in_parts(value: Any) -> Any:
    """A JSON value that was just read, with a `Part` for each large facet when it is an event."""
    for dataset in (*records(value, "inputs"), *records(value, "outputs")):
        facets = record(dataset, "facets")
        for name in _LARGE:
            if isinstance(facet := facets.get(name), dict):
                with suppress(orjson.JSONEncodeError):  # too deep for orjson: all of the event is written otherwise
                    facets[name] = Part(facet)
    return value


def digest_of(canonical: bytes) -> bytes:
    """The digest by which an event is recognized."""
    return blake2b(canonical, digest_size=16).digest()


def canonical(value: Mapping[str, Any]) -> bytes:
    """The JSON text that is the same for equal events.

    Raises:
        EventError: it is no JSON.
    """
    try:
        return orjson.dumps(value, _fragment, orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:
        return _spelled_out(value)


def _spelled_out(value: Mapping[str, Any]) -> bytes:
    """The same for what has large integers or halves of characters in it."""
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_whole).encode()
    except (TypeError, ValueError, RecursionError) as fault:
        raise EventError(f"An event that is not JSON ({fault}): expected dicts, lists, strings and numbers.") from None


def _fragment(value: object) -> orjson.Fragment:
    return orjson.Fragment(_of(value).text)


def _whole(value: object) -> Any:
    return _of(value).value


def _of(value: object) -> Part:
    if isinstance(value, Part):
        return value
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def names_alone(text: bytes) -> str:
    """The JSON of an event without the parts that names do not depend on.

    >>> names_alone(b'{"eventTime": "t", "producer": "p", "dataset": {"namespace": "n", "name": "d", "facets": {}}}')
    '{"dataset":{"facets":{},"name":"d","namespace":"n"},"eventTime":"t"}'
    """
    value = read_json(text)
    parts = {key: value[key] for key in ("eventTime", "eventType") if key in value}
    if "run" in value:
        parts["run"] = {"runId": value["run"]["runId"]}
    if "job" in value:
        parts["job"] = {key: value["job"][key] for key in ("namespace", "name")}
    if "outputs" in value:
        parts["outputs"] = [_name_facets(one) for one in records(value, "outputs")]
    if "dataset" in value:
        parts["dataset"] = _name_facets(record(value, "dataset"))
    return canonical(parts).decode()


def _name_facets(dataset: Record) -> Record:
    facets = {key: one for key, one in record(dataset, "facets").items() if key in _NAME_FACETS}
    return {"namespace": dataset["namespace"], "name": dataset["name"], "facets": facets}
