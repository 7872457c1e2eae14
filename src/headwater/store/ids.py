"""From names to the ids of rows, making the rows that are missing, within one writing transaction."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, Table, bindparam, insert, select
from sqlalchemy.sql.dml import ReturningInsert

from headwater.model import Dataset, Job, Transformation
from headwater.store import schema
from headwater.store.events import Event
from headwater.store.fieldnames import FieldRename, first_name, present_name
from headwater.store.keys import key_of
from headwater.store.meanings import Meaning
from headwater.store.schema import BEGINNING


@dataclass(slots=True)
class Writer:
    """A writing transaction, with the ids it has seen.

    ``unsettled`` are the runs whose lineage has to be looked at again before the transaction ends;
    ``names`` are the meanings of dataset names; ``touched`` says of run, dataset and direction whether lineage was
    told; ``read`` are the events of this transaction by digest, which need not be read from the store again;
    ``entangled`` are datasets that were joined when their fields had been renamed.
    """

    connection: Connection
    unsettled: set[int] = field(default_factory=set)
    names: dict[Dataset, list[Meaning]] = field(default_factory=dict)
    touched: dict[tuple[int, int, bool], bool] = field(default_factory=dict)
    read: dict[bytes, Event] = field(default_factory=dict)
    entangled: set[int] = field(default_factory=set)
    _jobs: dict[bytes, int] = field(default_factory=dict)
    _transformations: dict[Transformation, int] = field(default_factory=dict)
    _fields: dict[int, dict[str, int]] = field(default_factory=dict)
    _renames: dict[int, tuple[FieldRename, ...]] = field(default_factory=dict)
    _renamed: dict[tuple[int, bytes], int] = field(default_factory=dict)
    _nothing_renamed: bool | None = None

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

    def field(self, dataset_id: int, name: str, at: int) -> int:
        """The id of the field of a dataset that a name meant at a moment."""
        if self.renames(dataset_id):
            return self._renamed_field(dataset_id, name, at)
        known = self._fields.get(dataset_id, {})
        return known[name] if name in known else self.fields(dataset_id, [name], at)[name]

    def fields(self, dataset_id: int, names: Iterable[str], at: int) -> dict[str, int]:
        """The ids of a dataset's fields by their names at a moment, at least those of ``names``."""
        if self.renames(dataset_id):
            return {name: self._renamed_field(dataset_id, name, at) for name in names}
        known = self._fields.get(dataset_id)
        if known is None:
            known = self._fields[dataset_id] = self._load_fields(dataset_id)
        missing = [name for name in dict.fromkeys(names) if name not in known]
        if missing:
            self.connection.execute(insert(schema.field), [_new_field(dataset_id, name) for name in missing])
            known.update(self._load_fields(dataset_id))
        return known

    def renames(self, dataset_id: int) -> tuple[FieldRename, ...]:
        """When which fields of a dataset got other names; most stores know of none."""
        if self._nothing_renamed is None:
            self._nothing_renamed = self.connection.execute(_ANY_RENAME).first() is None
        if self._nothing_renamed:
            return ()
        if dataset_id not in self._renames:
            rows = self.connection.execute(_RENAMES, {"dataset": dataset_id})
            self._renames[dataset_id] = tuple(FieldRename(*row) for row in rows)
        return self._renames[dataset_id]

    def rename_field(self, dataset_id: int, rename: FieldRename) -> None:
        """Notes that a field has another name from a moment on."""
        if rename in self.renames(dataset_id):
            return
        values = rename._asdict() | {"former_key": key_of(rename.former), "present_key": key_of(rename.present)}
        self.connection.execute(insert(schema.field_rename), {"dataset_id": dataset_id, **values})
        self._nothing_renamed = False
        self._renames.pop(dataset_id, None)
        self._fields.pop(dataset_id, None)

    def present_name(self, dataset_id: int, name: str, at: int) -> str:
        """What the field is called now that a name meant at a moment."""
        renames = self.renames(dataset_id)
        return present_name(renames, *first_name(renames, name, at))

    def _renamed_field(self, dataset_id: int, name: str, at: int) -> int:
        renames = self.renames(dataset_id)
        first, since = first_name(renames, name, at)
        key = key_of(first) if since == BEGINNING else key_of(first, str(since))
        if (dataset_id, key) not in self._renamed:
            found = self.connection.execute(_FIELD_BY_KEY, {"dataset": dataset_id, "the_key": key}).scalar()
            shown = _new_field(dataset_id, present_name(renames, first, since)) | {"key": key}
            self._renamed[dataset_id, key] = self.add(schema.field, shown) if found is None else int(found)
        return self._renamed[dataset_id, key]

    def forget(self) -> None:
        """Drops what was remembered of datasets and their fields, after rows were changed."""
        self.names.clear()
        self.touched.clear()
        self._fields.clear()
        self._renames.clear()
        self._renamed.clear()

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


_FIELD_BY_KEY = select(schema.field.c.id).where(schema.field.c.dataset_id == bindparam("dataset"))
_FIELD_BY_KEY = _FIELD_BY_KEY.where(schema.field.c.key == bindparam("the_key"))
_RENAME = schema.field_rename.c
_ANY_RENAME = select(_RENAME.dataset_id).limit(1)
_RENAMES = select(_RENAME.at, _RENAME.former, _RENAME.present).where(_RENAME.dataset_id == bindparam("dataset"))
_RENAMES = _RENAMES.order_by(_RENAME.at, _RENAME.former, _RENAME.present)


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
