"""The events of an archive told to a store, in the order of time: afterwards it is as if it had heard them itself.

What the store derives from events (which run told what, what names mean, tags, facets) is derived by the store's own
intake, so that later events go on from there. An event that the store has changes nothing: who was interrupted begins
again, and only what is missing is told.
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
from headwater.store.sql.rows import rows_for

AT_ONCE = 500
"""Events in one transaction."""

_BYTES = 1 << 26  # of events that go to the driver in one part
_FIRST = 100  # events of a store that are looked for in the archive
_EVENT = schema.event.c

Progress = Callable[[int, int], None]


class Told(NamedTuple):
    """An event of an archive: its digest, and its JSON."""

    digest: bytes
    payload: str


@dataclass(frozen=True, slots=True)
class Loaded:
    """What became of the events of an archive; ``known`` ones were in the store before.

    ``rejected`` says of events why this headwater does not take them.
    """

    added: int = 0
    known: int = 0
    rejected: tuple[str, ...] = ()

    @property
    def looked_at(self) -> int:
        """How many events there were."""
        return self.added + self.known + len(self.rejected)


def load(archive: Archive, store: Store, *, add: bool = False, progress: Progress = lambda done, all: None) -> Loaded:
    """Tells a store the events of an archive that it does not have.

    The driver holds one part of the events at a time, some tens of megabytes.

    Args:
        archive: what `headwater.archive.read` gives.
        store: an empty one, or one that was filled from the archive before, by and by or in part.
        add: also one that holds other lineage.
        progress: is given how many events are done, and how many there are.

    Raises:
        ArchiveError: the store holds other lineage, and ``add`` is False.
        StoreError: the store cannot be written; what was told by then is kept.
    """
    events = archive.events
    if not add:
        _require_of_archive(store, events)
    many, size = events.agg(sf.count("*"), sf.sum(sf.length("payload"))).first()
    rows = _in_order(events, max(1, (size or 0) // _BYTES))
    done = Loaded()
    while some := list(islice(rows, AT_ONCE)):
        done = _and(done, _ingest(store, some))
        progress(done.looked_at, many)
    return done


def _and(one: Loaded, other: Loaded) -> Loaded:
    return Loaded(one.added + other.added, one.known + other.known, one.rejected + other.rejected)


def _in_order(events: DataFrame, parts: int) -> Iterator[Told]:
    """All events in the order of time, which is what the store takes in with the least work."""
    ordered = events.repartitionByRange(parts, "at", "digest").sortWithinPartitions("at", "digest")
    for row in ordered.select("digest", "payload").toLocalIterator(prefetchPartitions=True):
        yield Told(bytes.fromhex(row.digest), row.payload)


def _ingest(store: Store, some: Sequence[Told]) -> Loaded:
    """Tells some events; those that the store has are not even read."""
    asked = select(_EVENT.digest)
    with store.read() as connection:
        digests = [one.digest for one in some]
        there = {row.digest for row in rows_for(connection, digests, lambda few: asked.where(_EVENT.digest.in_(few)))}
    report = store.ingest(one.payload for one in some if one.digest not in there)
    return Loaded(report.added, report.known + len(there), tuple(one.reason for one in report.rejected))


def _require_of_archive(store: Store, events: DataFrame) -> None:
    """The first events that the store took are the archive's: what it took later came to what it was loaded with."""
    with store.read() as connection:
        first = list(connection.execute(select(_EVENT.digest).order_by(_EVENT.id).limit(_FIRST)).scalars())
    if not first:
        return
    found = events.where(sf.col("digest").isin([one.hex() for one in first])).count()
    if found < len(first):
        raise ArchiveError(
            f"The store holds other lineage: of its first {len(first)} events {len(first) - found} are not in the "
            "archive. Name an empty store with --store, or add --add to tell it the events of the archive too."
        )
