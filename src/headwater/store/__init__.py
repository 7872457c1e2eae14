"""Keeps lineage told by OpenLineage events, and answers questions about it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.store.events import Event, event_of, packed, read_event
    from headwater.store.json_text import read_json
    from headwater.store.location import store_url
    from headwater.store.parts import in_parts
    from headwater.store.store import IngestReport, Rejected, Store, open_store

__all__ = [
    "Event",
    "IngestReport",
    "Rejected",
    "Store",
    "event_of",
    "in_parts",
    "open_store",
    "packed",
    "read_event",
    "read_json",
    "store_url",
]

_HOMES = {
    **dict.fromkeys(("Event", "event_of", "packed", "read_event"), "events"),
    **dict.fromkeys(("IngestReport", "Rejected", "Store", "open_store"), "store"),
    "in_parts": "parts",
    "read_json": "json_text",
    "store_url": "location",
}


def __getattr__(name: str) -> Any:
    """The public names, loaded when they are used: no job is to wait for the 0.3 s that SQLAlchemy takes."""
    if name not in _HOMES:
        raise AttributeError(f"module 'headwater.store' has no attribute {name!r}")
    return getattr(import_module(f"headwater.store.{_HOMES[name]}"), name)
