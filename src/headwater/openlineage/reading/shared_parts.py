"""Facets that come again and again, event after event: each is written as a text once, and known again by it."""

from typing import Any

import orjson

from headwater.openlineage.reading.json_values import Part, record, records

_LARGE = ("columnLineage", "schema")
"""The facets of datasets that most of an event is."""


def in_parts(value: Any) -> Any:
    """A JSON value that was just read, with a `Part` for each large facet when it is an event."""
    for dataset in (*records(value, "inputs"), *records(value, "outputs")):
        facets = record(dataset, "facets")
        for name in _LARGE:
            if isinstance(facet := facets.get(name), dict):
                facets[name] = _part(facet)
    return value


def _part(facet: dict[str, Any]) -> Any:
    """The facet itself where it is too deep to be written by orjson: of an event with it all is written otherwise."""
    try:
        return Part(facet)
    except orjson.JSONEncodeError:
        return facet
