"""From names to the ids of rows, making the rows that are missing, within one writing transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, insert, select
from sqlalchemy.sql.dml import ReturningInsert

from headwater.model import Dataset, Job, Transformation
from headwater.store import schema
from headwater.store.events import Event


def key_of(*parts: str) -> bytes:
    """A short key for names of any length; different parts give different keys.

    >>> key_of("a", "bc") == key_of("ab", "c")
    False
    """
    return blake2b(b"".join(b"%d:%s" % (len(p.encode()), p.encode()) for p in parts), digest_size=16).digest()


def folded(dataset: Dataset) -> str:
    """A dataset's full name with case and kind of separator taken away, for finding it by an ending.

    >>> folded(Dataset("file", "/Data/Gold.db/delays"))
    'file:.data.gold.db.delays'
    """
    return str(dataset).casefold().replace("/", ".")


@dataclass(slots=True)
class Writer:
    """A writing transaction, with the ids it has seen.

    ``unsettled`` are the runs whose lineage has to be looked at again before the transaction ends;
    ``names`` are the ids of dataset names, each with the id of its dataset; ``touched`` says of run, dataset
    and direction whether lineage was told; ``read`` are the events of this transaction by digest, which need
    not be read from the store again.
    """

    connection: Connection
    unsettled: set[int] = field(default_factory=set)
    names: dict[Dataset, tuple[int, int]] = field(default_factory=dict)
    touched: dict[tuple[int, int, bool], bool] = field(default_factory=dict)
    read: dict[bytes, Event] = field(default_factory=dict)
    _jobs: dict[bytes, int] = field(default_factory=dict)
    _transformations: dict[Transformation, int] = field(default_factory=dict)
    _fields: dict[int, dict[str, int]] = field(default_factory=dict)

    def job(self, job: Job) -> int:
        """The id of a job."""
        key = key_of(job.namespace, job.name)
        if key not in self._jobs:
            self._jobs[key] = self._found_or_added(schema.job, key, {"namespace": job.namespace, "name": job.name})
        return self._jobs[key]

    def transformation(self, way: Transformation) -> int:
        """The id of a transformation."""
        if way not in self._transformations:
            values: dict[str, Any] = {
                "type": way.subtype.type.value,
                "subtype": way.subtype.value,
                "masking": way.masking,
                "opaque": way.opaque,
                "description": way.description,
            }
            key = key_of(way.subtype.value, str(way.masking), str(way.opaque), way.description)
            self._transformations[way] = self._found_or_added(schema.transformation, key, values)
        return self._transformations[way]

    def field(self, dataset_id: int, name: str) -> int:
        """The id of a dataset's field."""
        known = self._fields.get(dataset_id, {})
        return known[name] if name in known else self.fields(dataset_id, [name])[name]

    def fields(self, dataset_id: int, names: Iterable[str]) -> dict[str, int]:
        """The ids of a dataset's fields by name, at least those of ``names``."""
        known = self._fields.get(dataset_id)
        if known is None:
            known = self._fields[dataset_id] = self._load_fields(dataset_id)
        missing = [name for name in dict.fromkeys(names) if name not in known]
        if missing:
            self.connection.execute(insert(schema.field), [_new_field(dataset_id, name) for name in missing])
            known.update(self._load_fields(dataset_id))
        return known

    def forget(self) -> None:
        """Drops what was remembered of datasets and their fields, after rows were changed."""
        self.names.clear()
        self.touched.clear()
        self._fields.clear()

    def _load_fields(self, dataset_id: int) -> dict[str, int]:
        return {row.name: row.id for row in self.connection.execute(_FIELDS, {"dataset": dataset_id})}

    def _found_or_added(self, table: Table, key: bytes, values: dict[str, Any]) -> int:
        found = self.connection.execute(_id_by_key(table), {"the_key": key}).scalar()
        return self.add(table, {"key": key, **values}) if found is None else int(found)

    def add(self, table: Table, values: dict[str, Any]) -> int:
        """The id of a new row."""
        return int(self.connection.execute(_insertion(table), values).scalar_one())


# Statements are made once: to build one costs SQLAlchemy as much as to run it.
_FIELDS = select(schema.field.c.name, schema.field.c.id).where(schema.field.c.dataset_id == bindparam("dataset"))


@cache
def _id_by_key(table: Table) -> Select[Any]:
    return select(table.c.id).where(table.c.key == bindparam("the_key"))


@cache
def _insertion(table: Table) -> ReturningInsert[Any]:
    return insert(table).returning(table.c.id)


def _new_field(dataset_id: int, name: str) -> dict[str, Any]:
    return {
        "dataset_id": dataset_id,
        "name": name,
        "key": key_of(name),
        "folded_key": key_of(name.casefold()),
        "type": "",
    }
