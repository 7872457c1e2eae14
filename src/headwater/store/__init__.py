"""Keeps lineage told by OpenLineage events, and answers questions about it."""

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
