"""The schema that a version of a dataset has: its fields with descriptions and nested fields."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import orjson

from headwater.openlineage.reading.json_values import Record, records, text

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


def descriptions(field: Record, depth: int = _DEEPEST) -> Iterator[str]:
    """The description of a field of a schema facet, and those of the fields nested in it."""
    if said := text(field, "description"):
        yield said
    for one in records(field, "fields") if depth else ():
        yield from descriptions(one, depth - 1)


def _fields(fields: Iterable[Record], depth: int) -> Iterator[Record]:
    for one in fields:
        if text(one, "name"):
            members: Record = {name: said for name in ("name", "type", "description") if (said := text(one, name))}
            nested = list(_fields(records(one, "fields"), depth - 1)) if depth else []
            yield members | {"fields": nested} if nested else members
