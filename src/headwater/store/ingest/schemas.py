"""The schemas that versions of datasets have, each stored once by its content."""

from collections.abc import Iterable, Mapping

from sqlalchemy import Connection, select

from headwater.openlineage.reading.version_schema import VersionField, fields_of
from headwater.store import schema
from headwater.store.sql.bulk import add_rows
from headwater.store.sql.rows import rows_for

_SCHEMA = schema.dataset_schema
_COLUMNS = ("digest", "fields")


def add_schemas(connection: Connection, schemas: Mapping[bytes, str]) -> None:
    """Adds the schemas that are not there yet, in a transaction that writes alone."""
    known = rows_for(connection, schemas, lambda some: select(_SCHEMA.c.digest).where(_SCHEMA.c.digest.in_(some)))
    new = schemas.keys() - {row.digest for row in known}
    add_rows(connection, _SCHEMA, _COLUMNS, [(digest, schemas[digest]) for digest in sorted(new)])


def by_digest(connection: Connection, digests: Iterable[bytes]) -> dict[bytes, tuple[VersionField, ...]]:
    """Schemas by their digests."""
    wanted = set(digests)
    rows = rows_for(connection, wanted, lambda some: select(_SCHEMA).where(_SCHEMA.c.digest.in_(some)))
    return {row.digest: fields_of(row.fields) for row in rows}
