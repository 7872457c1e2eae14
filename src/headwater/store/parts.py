"""Facets that come again and again, event after event: each is written as a text once, and known again by it."""

from typing import Any

import orjson

from headwater.store.jsonvalues import Part, record, records, remembered_by_content

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
        part = Part(facet)
        part.canonical = _canonical(part)
    except orjson.JSONEncodeError:
        return facet
    return part


@remembered_by_content(48 << 20)
def _canonical(facet: Any) -> bytes:
    # As deep as it is in its event.
    return orjson.dumps([[[[facet]]]], option=orjson.OPT_SORT_KEYS)[4:-4]
