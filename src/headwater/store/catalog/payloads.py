"""Events as the JSON that they came as."""

import zlib
from collections.abc import Collection, Iterator

from sqlalchemy import Connection, select

from headwater.openlineage.reading.json_text import read_json
from headwater.openlineage.reading.json_values import Record, record
from headwater.store import schema
from headwater.store.sql.rows import rows_for

_EVENT = schema.event


def unpacked(payload: bytes) -> Record:
    """The event in a row's payload."""
    return record(read_json(zlib.decompress(payload)))


def by_digest(connection: Connection, digests: Collection[bytes]) -> Iterator[tuple[bytes, Record]]:
    """Events by their digests, one after the other: together they may be large."""
    question = select(_EVENT.c.digest, _EVENT.c.payload)
    for row in rows_for(connection, digests, lambda some: question.where(_EVENT.c.digest.in_(some))):
        yield row.digest, unpacked(row.payload)
