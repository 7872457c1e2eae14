"""Joins the fields of older stores that differ in case only: their datasets are read again from their events."""

from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.replay import retell
from headwater.store.ingest.settling import settle
from headwater.store.ingest.stamping import stamp

FIRST = "0013"
"""The first revision of which the key of a field is that of its name in lower case."""

_FIELD = schema.field.c


def respell(connection: Connection) -> None:
    """Reads datasets again whose fields differ in case only, or were renamed: their keys are of an older revision."""
    datasets = set(connection.execute(select(schema.field_rename.c.dataset_id).distinct()).scalars())
    seen: set[tuple[int, str]] = set()
    for dataset, name in connection.execute(select(_FIELD.dataset_id, _FIELD.name)):
        if (dataset, name.lower()) in seen:
            datasets.add(dataset)
        seen.add((dataset, name.lower()))
    if not datasets:
        return
    writer = Writer(connection)
    retell(writer, datasets)
    writer.flush()
    settle(writer)
    stamp(writer)
