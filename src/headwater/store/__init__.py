"""Keeps lineage told by OpenLineage events, and answers questions about it."""

from headwater.store.location import store_url
from headwater.store.store import IngestReport, Rejected, Store, open_store

__all__ = ["IngestReport", "Rejected", "Store", "open_store", "store_url"]
