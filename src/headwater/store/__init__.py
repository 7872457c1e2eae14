"""Stores the lineage of OpenLineage events, and answers questions about it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headwater.store.sql.location import store_url
    from headwater.store.store import IngestReport, Rejected, Store, open_store

__all__ = ["IngestReport", "Rejected", "Store", "open_store", "store_url"]

_HOMES = {
    **dict.fromkeys(("IngestReport", "Rejected", "Store", "open_store"), "store"),
    "store_url": "sql.location",
}


def __getattr__(name: str) -> Any:
    """The public names, loaded when they are used: no job is to wait for the 0.3 s that SQLAlchemy takes."""
    if name not in _HOMES:
        raise AttributeError(f"module 'headwater.store' has no attribute {name!r}")
    return getattr(import_module(f"headwater.store.{_HOMES[name]}"), name)
