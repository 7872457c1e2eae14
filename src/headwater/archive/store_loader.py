"""The events of an archive, ingested by a store in the order of time, as if they had been sent to it.

The store's own ingest derives everything from them (the lineage of runs, names, tags, facets), so that later events
continue from there. An event that the store has already changes nothing: a load that was interrupted is run again, and
ingests the events that are missing.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from sqlalchemy import select

from headwater.archive.builds import Archive
from headwater.errors import ArchiveError
from headwater.store import Store, schema
from headwater.store.sql.databases import rows_for

AT_ONCE = 500
"""Events in one transaction."""

PARTITION_BYTES = 1 << 26
"""Bytes of events that go to the driver in one partition."""

_FIRST = 100  # events of a store that must be in the archive
_EVENT = schema.event.c

Progress = Callable[[int, int], None]


class ArchivedEvent(NamedTuple):
    """An event of an archive: its digest, and its JSON."""

    digest: bytes
    payload: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The numbers of events of an archive that were added to a store, and that were ``known`` to it before.

    ``rejected`` has the reasons why events were refused.
    """

    added: int = 0
    known: int = 0
    rejected: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of all events."""
        return self.added + self.known + len(self.rejected)


def load(
    archive: Archive, store: Store, *, add: bool = False, progress: Progress = lambda done, all: None
) -> LoadReport:
    """Ingest into a store the events of an archive that it does not have.

    The driver holds one partition of the events at a time, some tens of megabytes.

    Args:
        archive: tables as `headwater.archive.read` returns them.
        store: an empty one, or one that was loaded from the archive before, in part or as it grew.
        add: load also into a store that holds other lineage.
        progress: called with the numbers of events that are done, and of all.

    Raises:
        ArchiveError: the store holds other lineage, and ``add`` is False.
        StoreError: the store cannot be written; events that were ingested by then stay.
    """
    events = archive.events
    if not add:
        _require_of_archive(store, events)
    many, size = events.agg(sf.count("*"), sf.sum(sf.length("payload"))).first()
    rows = _in_order(events, max(1, (size or 0) // PARTITION_BYTES))
    done = LoadReport()
    while some := list(islice(rows, AT_ONCE)):
        done = _and(done, _ingest(store, some))
        progress(done.total, many)
    return done


def _and(one: LoadReport, other: LoadReport) -> LoadReport:
    return LoadReport(one.added + other.added, one.known + other.known, one.rejected + other.rejected)


def _in_order(events: DataFrame, parts: int) -> Iterator[ArchivedEvent]:
    """All events in the order of time, in which the store ingests them with the least work."""
    ordered = events.repartitionByRange(parts, "at", "digest").sortWithinPartitions("at", "digest")
    for row in ordered.select("digest", "payload").toLocalIterator(prefetchPartitions=True):
        yield ArchivedEvent(bytes.fromhex(row.digest), row.payload)


def _ingest(store: Store, events: Sequence[ArchivedEvent]) -> LoadReport:
    """Ingest some events, without reading those that the store has."""
    query = select(_EVENT.digest)
    with store.read() as connection:
        digests = [one.digest for one in events]
        found = rows_for(connection, digests, lambda few: query.where(_EVENT.digest.in_(few)))
        present = {row.digest for row in found}
    report = store.ingest(one.payload for one in events if one.digest not in present)
    return LoadReport(report.added, report.known + len(present), tuple(one.reason for one in report.rejected))


def _require_of_archive(store: Store, events: DataFrame) -> None:
    """Refuse a store whose first events are not the archive's; later ones may have come since it was loaded."""
    with store.read() as connection:
        first = list(connection.execute(select(_EVENT.digest).order_by(_EVENT.id).limit(_FIRST)).scalars())
    if not first:
        return
    found = events.where(sf.col("digest").isin([one.hex() for one in first])).count()
    if found < len(first):
        raise ArchiveError(
            f"The store holds other lineage: of its first {len(first)} events {len(first) - found} are not in the "
            "archive. Name an empty store with --store, or add --add to load the events of the archive beside it."
        )
