"""The schema that a version of a dataset has: its fields with descriptions and nested fields, kept once by content."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection, select

from headwater.store import schema
from headwater.store.bulk import add_rows
from headwater.store.jsonvalues import Record, records, text
from headwater.store.rows import rows_for

_SCHEMA = schema.dataset_schema
_COLUMNS = ("digest", "fields")
_DEEPEST = 50  # of nested fields, which the whole event has however deep


class VersionSchema(NamedTuple):
    """The JSON of a schema's fields, and its digest."""

    digest: bytes
    fields: str


@dataclass(frozen=True, slots=True)
class VersionField:
    """A field of a version; ``type`` and ``description`` are empty where the schema has none.

    ``nested`` has its own fields as JSON objects with the members of the schema facet.
    """

    name: str
    type: str = ""
    description: str = ""
    nested: tuple[Record, ...] = ()

    def document(self) -> Record:
        """The field as the schema facet writes it."""
        members = {"name": self.name, "type": self.type, "description": self.description}
        said: Record = {name: one for name, one in members.items() if one}
        return said | {"fields": list(self.nested)} if self.nested else said


def version_schema(fields: Iterable[Record]) -> VersionSchema:
    """The fields of a schema facet, without what the specification does not have and no database can store.

    >>> version_schema([{"name": "a", "type": "int", "_x": 1}]).fields
    '[{"name":"a","type":"int"}]'
    """
    written = orjson.dumps(list(_fields(fields, _DEEPEST)))
    return VersionSchema(blake2b(written, digest_size=16).digest(), written.decode())


def fields_of(written: str) -> tuple[VersionField, ...]:
    """The fields that `version_schema` wrote."""
    read: list[dict[str, Any]] = orjson.loads(written)
    return tuple(
        VersionField(one["name"], one.get("type", ""), one.get("description", ""), tuple(one.get("fields", ())))
        for one in read
    )


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


def _fields(fields: Iterable[Record], depth: int) -> Iterator[Record]:
    for one in fields:
        if text(one, "name"):
            members: Record = {name: said for name in ("name", "type", "description") if (said := text(one, name))}
            nested = list(_fields(records(one, "fields"), depth - 1)) if depth else []
            yield members | {"fields": nested} if nested else members
