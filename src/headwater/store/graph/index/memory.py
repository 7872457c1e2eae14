"""Keeps the current edges in memory as the store changes; whatever it cannot follow, the database answers meanwhile."""

import threading
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from headwater.errors import StoreError
from headwater.store.graph.index.arrays import EdgeArrays, read_all, read_some
from headwater.store.graph.timeline import DATASET_EDGES, FIELD_EDGES, Pair, Version, changed_since, version_of

_MOST_ADDED = 2_000  # pairs beside the sorted arrays; each change copies them
_REMEMBERED = 1_000

Reading = Callable[[], AbstractContextManager[Connection]]


@dataclass(frozen=True, slots=True)
class IndexedEdges:
    """The current edges at a state of the store: those into fields, and those into whole datasets."""

    version: Version
    fields: EdgeArrays
    datasets: EdgeArrays

    def after(self, connection: Connection, changed: set[Pair], version: Version) -> "IndexedEdges":
        """The edges at a later state, to which those of some pairs changed."""
        fields, datasets = (read_some(connection, tables, changed) for tables in (FIELD_EDGES, DATASET_EDGES))
        return IndexedEdges(version, self.fields.after(changed, fields), self.datasets.after(changed, datasets))

    @property
    def worn(self) -> bool:
        """Whether so much came since that all edges had better be read again."""
        return max(len(self.fields.added), len(self.datasets.added)) > _MOST_ADDED


class EdgeIndex:
    """The edges in memory; ``reading`` opens a connection to the store that sees one state of it.

    They are first read in the background from the start on. Others may write to the store, in any process: each
    question looks at the log that is written with the edges, and follows what it says.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._lock = threading.Lock()
        self._known: IndexedEdges | None = None
        self._past: deque[Version] = deque(maxlen=_REMEMBERED)
        self.derived: dict[Any, Any] = {}
        """Results that are worked out of these edges, by whoever keeps them here; they go when the edges do."""
        self._closed = threading.Event()
        self._builder = self._started()

    def at(self, connection: Connection, version: Version | None = None) -> IndexedEdges | None:
        """The edges exactly as a connection sees them, whose version may be known; None to ask the database."""
        if self._known is None and self._builder.is_alive():
            return None
        version = version or version_of(connection)
        with self._lock:
            if self._known is None or version not in (self._known.version, *self._past):
                self._follow(connection, version)
            # A connection that began before another one that was here may see what was before.
            return self._known if self._known is not None and self._known.version == version else None

    def wait(self) -> None:
        """Returns when no edges are being read in the background."""
        self._builder.join()

    def close(self) -> None:
        """Reads nothing any more."""
        self._closed.set()
        self._builder.join()

    def _follow(self, connection: Connection, version: Version) -> None:
        changed = changed_since(connection, self._known.version) if self._known is not None else None
        if self._known is not None and changed is not None:
            self._past.append(self._known.version)
            self._known = self._known.after(connection, changed, version)
        if (self._known is None or changed is None or self._known.worn) and not self._builder.is_alive():
            self._builder = self._started()

    def _started(self) -> threading.Thread:
        builder = threading.Thread(target=self._build, name="headwater-index", daemon=True)
        builder.start()
        return builder

    def _build(self) -> None:
        try:
            with self._reading() as connection:
                version = version_of(connection)
                fields, datasets = (
                    read_all(connection, tables, self._closed.is_set) for tables in (FIELD_EDGES, DATASET_EDGES)
                )
        except StoreError:
            return  # the next question begins again
        with self._lock:
            if not self._closed.is_set():
                self._known = IndexedEdges(version, fields, datasets)
