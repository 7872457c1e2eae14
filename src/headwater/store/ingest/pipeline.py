"""Takes OpenLineage events in: they are read, resolved to rows, and written; then lineage follows from all events."""

import gc
from collections.abc import Iterable

from sqlalchemy import Connection

from headwater.openlineage.reading.events import Event
from headwater.store.ingest.current_lineage import recompute_current_lineage
from headwater.store.ingest.read import read_batch
from headwater.store.ingest.resolve import absent_events, look_up, resolve
from headwater.store.ingest.write import update_run_summaries, write

_NEW_OBJECTS = 500_000  # more than the events that wait to be written; Python's own 700 are less than one


def ingest(connection: Connection, events: Iterable[Event], *, believe_overwrite: bool = False) -> int:
    """Take events in, within a transaction that writes alone; return how many of them were not there before.

    ``believe_overwrite`` says that an OVERWRITE of producers who do not say which rows they replaced is of all rows.
    """
    batch = read_batch(absent_events(connection, events))
    ids = look_up(connection, batch)
    rows = resolve(batch, ids)
    write(connection, rows)
    recompute_current_lineage(ids, batch, believe_overwrite=believe_overwrite)
    update_run_summaries(connection, rows)
    return len(batch.events)


def collect_seldom() -> None:
    """Let Python's garbage collector look less often, and never at objects that are there already.

    For a process that takes lineage in, or answers: events and answers are thousands of objects without a cycle. To
    look at them again and again takes a third of the time of an intake, and an answer would set off a look at each
    object of the process in the middle of it.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS)
