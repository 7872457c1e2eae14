"""From names to the ids of rows, making the rows that are missing, within one writing transaction."""

from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import filterfalse
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, Table, bindparam, insert, select
from sqlalchemy.sql.dml import ReturningInsert

from headwater.model import Dataset, Job, Transformation
from headwater.model.field_names import FieldRename, first_name, own_name, own_renames, present_name
from headwater.model.name_keys import key_of, keys_of
from headwater.model.time import BEGINNING
from headwater.openlineage.reading.events import Event
from headwater.store import schema
from headwater.store.ingest.field_spelling import MENTIONED, READ, WRITTEN
from headwater.store.ingest.meanings import Meaning
from headwater.store.ingest.rows import Rows
from headwater.store.ingest.statements import Values
from headwater.store.sql.bulk import add_rows, new_ids
from headwater.store.sql.rows import Lookup, rows_for


class RunRow(NamedTuple):
    """A run's row: its id, and its columns that events change."""

    id: int
    values: Values


@dataclass(slots=True)
class DatasetFields:
    """The fields of a dataset: the id of each by its own name, and by the spellings of its readers and its writers.

    A spelling that is here is written, or pending: it need not be looked at again. ``mentioned`` are those that only
    others use, who do not own the dataset.
    """

    own: dict[str, int] = field(default_factory=dict)
    read: dict[str, int] = field(default_factory=dict)
    written: dict[str, int] = field(default_factory=dict)
    mentioned: dict[str, int] = field(default_factory=dict)

    def by(self, by: int) -> Mapping[str, int]:
        """The fields by the spellings that need not be looked at for one who mentions, reads or writes them."""
        if by == MENTIONED:
            return ChainMap(self.read, self.mentioned)
        return self.read if by == READ else self.written

    def spelled(self, by: int, name: str, field_id: int) -> None:
        """Adds a spelling; what a writer uses need not be looked at for a reader."""
        if by == MENTIONED:
            self.mentioned[name] = field_id
            return
        self.read[name] = field_id
        if by != READ:
            self.written[name] = field_id


@dataclass(slots=True)
class Writer:
    """A writing transaction, with the ids it has seen.

    ``pending`` are rows to be written; ``runs_to_recompute`` are the runs whose lineage has to be looked at again
    before the transaction ends; ``added`` are those that it added; ``runs_to_summarize`` are those whose state,
    datasets or lineage may be others than their rows say; ``runs`` are the runs of the batch by UUID; ``names`` are the
    meanings of dataset names; ``read`` are the events of this transaction by digest, which need not be read from the
    store again; ``merged_with_renames`` are datasets that were joined when their fields had been renamed.
    ``believe_overwrite`` says that an OVERWRITE of producers who do not say which rows they replaced is of all rows.
    """

    connection: Connection
    believe_overwrite: bool = False
    pending: Rows = field(default_factory=Rows)
    runs_to_recompute: set[int] = field(default_factory=set)
    added: set[int] = field(default_factory=set)
    runs_to_summarize: set[int] = field(default_factory=set)
    runs: dict[str, RunRow] = field(default_factory=dict)
    names: dict[Dataset, list[Meaning]] = field(default_factory=dict)
    read: dict[bytes, Event] = field(default_factory=dict)
    merged_with_renames: set[int] = field(default_factory=set)
    _jobs: dict[Job, int] = field(default_factory=dict)
    _transformations: dict[Transformation, int] = field(default_factory=dict)
    _fields: dict[int, DatasetFields] = field(default_factory=dict)
    _renames: dict[int, tuple[FieldRename, ...]] = field(default_factory=dict)
    _renamed: dict[tuple[int, bytes], int] = field(default_factory=dict)
    _nothing_renamed: bool | None = None
    _twins: dict[int, frozenset[str]] | None = None

    def job(self, job: Job) -> int:
        """The id of a job."""
        return self._jobs[job]

    def transformation(self, way: Transformation) -> int:
        """The id of a transformation."""
        if way not in self._transformations:
            self.know_transformations({way})
        return self._transformations[way]

    def field(self, dataset_id: int, name: str, at: int) -> int:
        """The id of the field of a dataset that a name meant at a moment."""
        return self.fields(dataset_id, [name], at)[name]

    def fields(self, dataset_id: int, names: Collection[str], at: int, by: int = READ) -> Mapping[str, int]:
        """The ids of a dataset's fields by their names at a moment, as readers or writers spell them.

        They are at least those of ``names``.
        """
        if self.renames(dataset_id):
            return {name: self._renamed_field(dataset_id, name, at, by) for name in names}
        if dataset_id not in self._fields:
            self.know_fields([dataset_id])
        known = self._fields[dataset_id]
        spelled = known.by(by)
        if _new(names, spelled):
            self.add_fields({dataset_id: names}, by)
        return spelled

    def add_fields(self, names: Mapping[int, Collection[str]], by: int) -> None:
        """Adds what is missing of the fields of datasets and of their spellings, all at once.

        It does so for datasets of which the fields are known, and were not renamed.
        """
        new: dict[tuple[int, str], str] = {}
        spelled: list[tuple[int, str, str]] = []
        for dataset, wanted in names.items():
            known = self._fields.get(dataset)
            if known is not None:
                twins = self.twins(dataset)
                for name in _new(wanted, known.by(by)):
                    own = own_name(name, twins)
                    spelled.append((dataset, own, name))
                    if own not in known.own:
                        new[dataset, own] = name
        ids = new_ids(self.connection, schema.field, len(new), self.pending.last_field) if new else ()
        for (dataset, own), field_id in zip(new, ids, strict=True):
            self._fields[dataset].own[own] = field_id
        self.pending.fields(dict(zip(ids, new, strict=True)))
        for dataset, own, name in spelled:
            field_id = self._fields[dataset].own[own]
            self._fields[dataset].spelled(by, name, field_id)
            self.pending.spell(field_id, by, name)

    def twins(self, dataset_id: int) -> frozenset[str]:
        """The names in lower case that several fields of a dataset have; most stores know of none."""
        if self._twins is None:
            found: dict[int, set[str]] = {}
            for dataset, name in self.connection.execute(_TWINS):
                found.setdefault(dataset, set()).add(name)
            self._twins = {dataset: frozenset(names) for dataset, names in found.items()}
        return self._twins.get(dataset_id, frozenset())

    def add_twins(self, dataset_id: int, names: frozenset[str]) -> None:
        """Notes that several fields of a dataset have a name, of which no field is known yet."""
        new = names - self.twins(dataset_id)
        if new and self._twins is not None:
            rows = [{"dataset_id": dataset_id, "key": key_of(name), "name": name} for name in sorted(new)]
            self.connection.execute(insert(schema.field_twin), rows)
            self._twins[dataset_id] = self.twins(dataset_id) | new

    def has_fields(self, dataset_id: int) -> bool:
        """Whether any field of a dataset is known."""
        self.pending.write_fields(self.connection)
        return self.connection.execute(_FIELD_OF, {"dataset": dataset_id}).first() is not None

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
        self.pending.write_fields(self.connection)
        self.connection.execute(insert(schema.field_rename), {"dataset_id": dataset_id, **values})
        self._nothing_renamed = False
        self._renames.pop(dataset_id, None)
        self._fields.pop(dataset_id, None)

    def present_name(self, dataset_id: int, name: str, at: int) -> str:
        """The own name of now of the field that a name meant at a moment."""
        renames = self._own_renames(dataset_id)
        return present_name(renames, *first_name(renames, own_name(name, self.twins(dataset_id)), at))

    def still_named(self, dataset_id: int, name: str, at: int) -> bool:
        """Whether the field that a name meant at a moment has that name now."""
        return self.present_name(dataset_id, name, at) == own_name(name, self.twins(dataset_id))

    def spelling_of_rename(self, dataset_id: int, own: str) -> str | None:
        """The spelling of a present name in the latest rename to it; None when no field was renamed so."""
        twins = self.twins(dataset_id)
        named = [(one.at, one.present) for one in self.renames(dataset_id) if own_name(one.present, twins) == own]
        return max(named)[1] if named else None

    def _own_renames(self, dataset_id: int) -> tuple[FieldRename, ...]:
        return tuple(own_renames(self.renames(dataset_id), self.twins(dataset_id)))

    def _renamed_field(self, dataset_id: int, name: str, at: int, by: int = READ) -> int:
        renames, own = self._own_renames(dataset_id), own_name(name, self.twins(dataset_id))
        first, since = first_name(renames, own, at)
        present = present_name(renames, first, since)
        key = key_of(first) if since == BEGINNING else key_of(first, str(since))
        spelling = self.spelling_of_rename(dataset_id, present)
        if (dataset_id, key) not in self._renamed:
            self.pending.write_fields(self.connection)
            found = self.connection.execute(_FIELD_BY_KEY, {"dataset": dataset_id, "the_key": key}).scalar()
            shown = self._new_field(dataset_id, spelling or name, by if spelling is None else WRITTEN) | {"key": key}
            self._renamed[dataset_id, key] = self.add(schema.field, shown) if found is None else int(found)
        field_id = self._renamed[dataset_id, key]
        if spelling is not None:
            self.pending.spell(field_id, WRITTEN, spelling)
        if own == present:
            self.pending.spell(field_id, by, name)
        return field_id

    def know_jobs(self, jobs: Iterable[Job]) -> None:
        """Finds or adds jobs, all at once."""
        keys = {key_of(job.namespace, job.name): job for job in jobs}
        found, new = self._found_and_new(schema.job, keys)
        self.pending.new_jobs |= {row: (key, keys[key].namespace, keys[key].name) for key, row in new.items()}
        self._jobs |= {keys[key]: row for key, row in (found | new).items()}

    def know_transformations(self, ways: Iterable[Transformation]) -> None:
        """Finds or adds transformations, all at once."""
        keys = {_key_of_way(way): way for way in ways if way not in self._transformations}
        found, new = self._found_and_new(schema.transformation, keys)
        rows = [(row, key, *_transformation_values(keys[key])) for key, row in new.items()]
        add_rows(self.connection, schema.transformation, _OF_TRANSFORMATION, rows)
        self._transformations |= {keys[key]: row for key, row in (found | new).items()}

    def know_fields(self, datasets: Iterable[int]) -> None:
        """Reads the fields of datasets, all at once; of those whose fields were renamed each when it is needed."""
        wanted = [one for one in datasets if one not in self._fields and not self.renames(one)]
        self._fields |= {one: DatasetFields() for one in wanted}
        for dataset, name, field_id, by in _FIELDS_OF.bare(self.connection, wanted):
            known = self._fields[dataset]
            known.own[own_name(name, self.twins(dataset))] = field_id
            known.spelled(by, name, field_id)

    def flush(self) -> None:
        """Writes what is pending, before somebody reads it."""
        self.pending.flush(self.connection)

    def forget(self) -> None:
        """Drops what was remembered of datasets and their fields, after rows were changed."""
        self.names.clear()
        self._fields.clear()
        self._renames.clear()
        self._renamed.clear()
        self._twins = None

    def _found_and_new(self, table: Table, keys: Collection[bytes]) -> tuple[dict[bytes, int], dict[bytes, int]]:
        """The ids of rows by their keys: those that are there, and new ones for the others."""
        found = {row.key: row.id for row in rows_for(self.connection, keys, lambda some: _by_keys(table, some))}
        missing = [key for key in keys if key not in found]
        ids = new_ids(self.connection, table, len(missing)) if missing else ()
        return found, dict(zip(missing, ids, strict=True))

    def _new_field(self, dataset_id: int, name: str, by: int) -> Values:
        spelled = {"name": name, "folded_key": keys_of(name)[1], "spelling": name, "spelled_by": by}
        return {"dataset_id": dataset_id, "type": "", **spelled}

    def add(self, table: Table, values: dict[str, Any]) -> int:
        """The id of a new row."""
        return int(self.connection.execute(_insertion(table), values).scalar_one())


# Statements are made once: to build one costs SQLAlchemy as much as to run it.
_FIELD = schema.field.c
_FIELDS_OF = Lookup(select(_FIELD.dataset_id, _FIELD.name, _FIELD.id, _FIELD.spelled_by), _FIELD.dataset_id)
_TWINS = select(schema.field_twin.c.dataset_id, schema.field_twin.c.name)
_FIELD_BY_KEY = select(_FIELD.id).where(_FIELD.dataset_id == bindparam("dataset"))
_FIELD_OF = select(_FIELD.id).where(_FIELD.dataset_id == bindparam("dataset")).limit(1)
_FIELD_BY_KEY = _FIELD_BY_KEY.where(_FIELD.key == bindparam("the_key"))
_RENAME = schema.field_rename.c
_ANY_RENAME = select(_RENAME.dataset_id).limit(1)
_RENAMES = select(_RENAME.at, _RENAME.former, _RENAME.present).where(_RENAME.dataset_id == bindparam("dataset"))
_RENAMES = _RENAMES.order_by(_RENAME.at, _RENAME.former, _RENAME.present)


def _new(names: Iterable[str], known: Mapping[str, int]) -> Collection[str]:
    return dict.fromkeys(filterfalse(known.__contains__, names))


def _by_keys(table: Table, keys: list[bytes]) -> Select[Any]:
    return select(table.c.key, table.c.id).where(table.c.key.in_(keys))


@cache
def _insertion(table: Table) -> ReturningInsert[Any]:
    return insert(table).returning(table.c.id)


def _key_of_way(way: Transformation) -> bytes:
    told = (way.subtype.value, str(way.masking), str(way.opaque), way.description)
    return key_of(*told, "reference") if way.reference else key_of(*told)


_OF_TRANSFORMATION = ("id", "key", "type", "subtype", "masking", "opaque", "description", "reference")


def _transformation_values(way: Transformation) -> tuple[str, str, bool, bool, str, bool]:
    return way.subtype.type.value, way.subtype.value, way.masking, way.opaque, way.description, way.reference
