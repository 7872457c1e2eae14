"""From names to the ids of rows, within one writing transaction; rows that are missing are added.

Names of fields go over renames and spellings.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from itertools import filterfalse
from typing import NamedTuple

from sqlalchemy import Connection, LargeBinary, Table, bindparam, exists, insert, or_, select, text

from headwater.model import Dataset, Job, Transformation
from headwater.model.names import (
    FieldRename,
    caseless,
    consistent_renames,
    field_key,
    fields_with_taken_names,
    first_name,
    key_of,
    keys_of,
    own_name,
    own_renames,
    present_name,
    renames_disagree,
)
from headwater.store import schema
from headwater.store.graph.timeline import EVERYTHING, note
from headwater.store.ingest.field_spelling import READ, WRITTEN, DatasetFields
from headwater.store.ingest.rows import Rows, Values
from headwater.store.ingest.write import write, write_fields
from headwater.store.sql.databases import Lookup, add_rows, new_ids, rows_for

# Statements are made once: to build one costs SQLAlchemy as much as to run it.
_FIELD = schema.field.c
_FIELDS_OF = Lookup(select(_FIELD.dataset_id, _FIELD.name, _FIELD.id, _FIELD.spelled_by), _FIELD.dataset_id)
_TWINS = select(schema.field_twin.c.dataset_id, schema.field_twin.c.name)
_FIELD_BY_KEY = select(_FIELD.id).where(_FIELD.dataset_id == bindparam("dataset"))
_FIELD_OF = select(_FIELD.id).where(_FIELD.dataset_id == bindparam("dataset")).limit(1)
_FIELD_BY_KEY = _FIELD_BY_KEY.where(_FIELD.key == bindparam("the_key"))
_KEYS_OF = select(_FIELD.key).where(_FIELD.dataset_id == bindparam("dataset"))
_RENAME = schema.field_rename.c
_RENAMES = select(_RENAME.at, _RENAME.former, _RENAME.present).where(_RENAME.dataset_id == bindparam("dataset"))
_RENAMES = _RENAMES.order_by(_RENAME.at, _RENAME.former, _RENAME.present)
_INSERT = insert(schema.field).returning(_FIELD.id)
_NAME = schema.dataset_name.c
_KEY = bindparam("the_key", type_=LargeBinary())
_NAMED = select(_NAME.id, _NAME.dataset_id, _NAME.since, _NAME.until)
_NAMED = _NAMED.where(or_(_NAME.key == _KEY, _NAME.first_key == _KEY))
_OF_TRANSFORMATION = ("id", "key", "type", "subtype", "masking", "opaque", "description", "reference")


class FieldIds:
    """The ids of fields, read once and remembered; new ones go to ``rows``. ``renamed``: any field of a store was."""

    def __init__(self, connection: Connection, rows: Rows, *, renamed: bool) -> None:
        self._connection = connection
        self._rows = rows
        self._fields: dict[int, DatasetFields] = {}
        self._renames: dict[int, tuple[FieldRename, ...]] = {}
        self._renamed: dict[tuple[int, bytes], int] = {}
        self._contradicted: dict[int, bool] = {}
        self._nothing_renamed = not renamed
        self._twins: dict[int, frozenset[str]] | None = None

    def id(self, dataset_id: int, name: str, at: int) -> int:
        """The id of the field of a dataset that a name meant at a moment."""
        return self.ids(dataset_id, [name], at)[name]

    def ids(self, dataset_id: int, names: Collection[str], at: int, by: int = READ) -> Mapping[str, int]:
        """The ids of a dataset's fields by their names at a moment, as readers or writers spell them.

        They are at least those of ``names``.
        """
        if self.renames(dataset_id):
            return {name: self._renamed_field(dataset_id, name, at, by) for name in names}
        if dataset_id not in self._fields:
            self.load([dataset_id])
        fields = self._fields[dataset_id]
        spelled = fields.by(by)
        if _new(names, spelled):
            self.add({dataset_id: names}, by)
        return spelled

    def add(self, names: Mapping[int, Collection[str]], by: int) -> None:
        """Add the missing fields of datasets and their spellings, all at once.

        Only of datasets whose fields are loaded, and were not renamed.
        """
        new: dict[tuple[int, str], str] = {}
        spelled: list[tuple[int, str, str]] = []
        for dataset, of_dataset in names.items():
            fields = self._fields.get(dataset)
            if fields is not None:
                twins = self.twins(dataset)
                for name in _new(of_dataset, fields.by(by)):
                    own = own_name(name, twins) if twins else caseless(name)
                    spelled.append((dataset, own, name))
                    if own not in fields.own:
                        new[dataset, own] = name
        ids = new_ids(self._connection, schema.field, len(new), self._rows.last_field) if new else ()
        for (dataset, own), field_id in zip(new, ids, strict=True):
            self._fields[dataset].own[own] = field_id
        self._rows.add_fields(dict(zip(ids, new, strict=True)))
        for dataset, own, name in spelled:
            field_id = self._fields[dataset].own[own]
            self._fields[dataset].spelled(by, name, field_id)
            self._rows.spell(field_id, by, name)

    def twins(self, dataset_id: int) -> frozenset[str]:
        """The names in lower case that several fields of a dataset have; most stores have none."""
        return self._all_twins().get(dataset_id, frozenset())

    def _all_twins(self) -> dict[int, frozenset[str]]:
        if self._twins is None:
            found: dict[int, set[str]] = {}
            for dataset, name in self._connection.execute(_TWINS):
                found.setdefault(dataset, set()).add(name)
            self._twins = {dataset: frozenset(names) for dataset, names in found.items()}
        return self._twins

    def add_twins(self, dataset_id: int, names: frozenset[str]) -> None:
        """Add that several fields of a dataset, which has none yet, have a name that differs in case only."""
        new = names - self.twins(dataset_id)
        if new:
            rows = [{"dataset_id": dataset_id, "key": key_of(name), "name": name} for name in sorted(new)]
            self._connection.execute(insert(schema.field_twin), rows)
            self._all_twins()[dataset_id] = self.twins(dataset_id) | new
            self._renames.pop(dataset_id, None)
            self._contradicted.pop(dataset_id, None)

    def has_any(self, dataset_id: int) -> bool:
        """Whether a dataset has any field."""
        write_fields(self._connection, self._rows)
        return self._connection.execute(_FIELD_OF, {"dataset": dataset_id}).first() is not None

    def renames(self, dataset_id: int) -> tuple[FieldRename, ...]:
        """When which fields of a dataset got other names, without contradictions; most stores have none."""
        if self._nothing_renamed:
            return ()
        if dataset_id not in self._renames:
            every = self.every_rename(dataset_id)
            self._renames[dataset_id] = tuple(consistent_renames(every, self.twins(dataset_id)))
        return self._renames[dataset_id]

    def every_rename(self, dataset_id: int) -> list[FieldRename]:
        """The same as events have it."""
        if self._nothing_renamed:
            return []
        return [FieldRename(*row) for row in self._connection.execute(_RENAMES, {"dataset": dataset_id})]

    def rename(self, dataset_id: int, rename: FieldRename) -> None:
        """Add that a field has another name from a moment on."""
        if rename in self.every_rename(dataset_id):
            return
        values = rename._asdict() | {"former_key": key_of(rename.former), "present_key": key_of(rename.present)}
        write_fields(self._connection, self._rows)
        self._connection.execute(insert(schema.field_rename), {"dataset_id": dataset_id, **values})
        self._nothing_renamed = False
        for of_dataset in (self._renames, self._contradicted, self._fields):
            of_dataset.pop(dataset_id, None)

    @property
    def any_renamed(self) -> bool:
        """Whether any field of a dataset was renamed."""
        return not self._nothing_renamed

    def contradicted(self, dataset_id: int, since: int) -> bool:
        """Whether fields were renamed in two ways, or to the name of another that has it, and some of them since."""
        if not any(one.at >= since for one in self.renames(dataset_id)):
            return False
        if dataset_id not in self._contradicted:
            write_fields(self._connection, self._rows)
            keys = set(self._connection.execute(_KEYS_OF, {"dataset": dataset_id}).scalars())
            taken = {field_key(*one) for one in fields_with_taken_names(self._own_renames(dataset_id))}
            disagree = renames_disagree(self.every_rename(dataset_id), self.twins(dataset_id))
            self._contradicted[dataset_id] = disagree or not taken.isdisjoint(keys)
        return self._contradicted[dataset_id]

    def present_name(self, dataset_id: int, name: str, at: int) -> str:
        """The own name of now of the field that a name meant at a moment."""
        renames = self._own_renames(dataset_id)
        return present_name(renames, *first_name(renames, own_name(name, self.twins(dataset_id)), at))

    def still_named(self, dataset_id: int, name: str, at: int) -> bool:
        """Whether the field that a name meant at a moment has that name now."""
        return self.present_name(dataset_id, name, at) == own_name(name, self.twins(dataset_id))

    def spelling_of_rename(self, dataset_id: int, name: str) -> str | None:
        """The spelling of a present name in the latest rename to it; None when no field was renamed so."""
        twins = self.twins(dataset_id)
        named = [(one.at, one.present) for one in self.renames(dataset_id) if own_name(one.present, twins) == name]
        return max(named)[1] if named else None

    def _own_renames(self, dataset_id: int) -> tuple[FieldRename, ...]:
        return tuple(own_renames(self.renames(dataset_id), self.twins(dataset_id)))

    def _renamed_field(self, dataset_id: int, name: str, at: int, by: int = READ) -> int:
        renames, own = self._own_renames(dataset_id), own_name(name, self.twins(dataset_id))
        first, since = first_name(renames, own, at)
        present = present_name(renames, first, since)
        key = field_key(first, since)
        spelling = self.spelling_of_rename(dataset_id, present)
        if (dataset_id, key) not in self._renamed:
            write_fields(self._connection, self._rows)
            found = self._connection.execute(_FIELD_BY_KEY, {"dataset": dataset_id, "the_key": key}).scalar()
            if found is None:
                shown, by_whom = (name, by) if spelling is None else (spelling, WRITTEN)
                row = {"dataset_id": dataset_id, "key": key, "name": shown, "folded_key": keys_of(shown)[1], "type": ""}
                found = self._connection.execute(_INSERT, row | {"spelling": shown, "spelled_by": by_whom}).scalar_one()
                self._contradicted.pop(dataset_id, None)
            self._renamed[dataset_id, key] = int(found)
        field_id = self._renamed[dataset_id, key]
        if spelling is not None:
            self._rows.spell(field_id, WRITTEN, spelling)
        if own == present:
            self._rows.spell(field_id, by, name)
        return field_id

    def load(self, datasets: Iterable[int]) -> None:
        """Read the fields of datasets, all at once; of those whose fields were renamed each when it is needed."""
        missing = [one for one in datasets if one not in self._fields and not self.renames(one)]
        self._fields |= {one: DatasetFields() for one in missing}
        twins = self._all_twins()
        for dataset, name, field_id, by in _FIELDS_OF.bare(self._connection, missing):
            fields = self._fields[dataset]
            fields.own[own_name(name, twins[dataset]) if dataset in twins else caseless(name)] = field_id
            fields.spelled(by, name, field_id)

    def forget(self) -> None:
        """Forget all fields, after their rows were changed."""
        for remembered in (self._fields, self._renames, self._renamed, self._contradicted):
            remembered.clear()
        self._twins = None


def _new(names: Iterable[str], present: Mapping[str, int]) -> Collection[str]:
    return dict.fromkeys(filterfalse(present.__contains__, names))


class RunRow(NamedTuple):
    """A run's row: its id, and its columns that events change."""

    id: int
    values: Values


class Meaning(NamedTuple):
    """The dataset that a name means from a moment on, up to but not including another; ``id`` is the row of it.

    A table that is renamed or dropped leaves its name to another.
    """

    id: int
    dataset: int
    since: int
    until: int

    def covers(self, at: int) -> bool:
        """Whether the name has this meaning at a moment."""
        return self.since <= at < self.until

    def spans(self, at: int) -> bool:
        """Whether it has this meaning both before and after a moment at which it should have ended."""
        return self.since < at < self.until


class RareRows(NamedTuple):
    """The rarer kinds of rows of which the store has at least one: statements about others would find nothing."""

    reused_names: bool
    field_renames: bool
    hidden_jobs: bool
    replacements: bool
    restorations: bool


_RARE = select(
    exists(select(_NAME.id).where(_NAME.first_key.is_not(None))),
    exists(select(_RENAME.at)),
    exists(select(schema.job.c.id).where(schema.job.c.hidden_at.is_not(None))),
    exists(select(schema.replacement.c.run_id)),
    exists(select(schema.replacement.c.run_id).where(text("restores"))),  # as its index says it, for SQLite
)


class IdResolver:
    """The ids of what events name, read once and remembered; what is not there yet is added to ``rows``.

    ``merged_with_renames`` are the datasets that were merged though fields of them had been renamed: they have to be
    read again from their events.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.rows = Rows()
        self.rare = RareRows(*map(bool, connection.execute(_RARE).one()))
        self.fields = FieldIds(connection, self.rows, renamed=self.rare.field_renames)
        self.merged_with_renames: set[int] = set()
        self._jobs: dict[Job, int] = {}
        self._runs: dict[str, RunRow] = {}
        self._transformations: dict[Transformation, int] = {}
        self._meanings: dict[Dataset, list[Meaning]] = {}

    def job(self, job: Job) -> int:
        """The id of a job that was loaded."""
        return self._jobs[job]

    def run(self, uuid: str) -> RunRow:
        """The row of a run that was loaded."""
        return self._runs[uuid]

    def transformation(self, transformation: Transformation) -> int:
        """The id of a transformation."""
        if transformation not in self._transformations:
            self.load_transformations({transformation})
        return self._transformations[transformation]

    def meanings(self, name: Dataset) -> list[Meaning]:
        """All datasets that a name has meant."""
        found = self._meanings.get(name)  # one look-up: a name is hashed anew each time
        if found is None:
            rows = self.connection.execute(_NAMED, {"the_key": key_of(name.namespace, name.name)})
            found = self._meanings[name] = [Meaning(*row) for row in rows]
        return found

    @property
    def named_datasets(self) -> set[int]:
        """The datasets that any name which was looked up has meant."""
        return {one.dataset for meanings in self._meanings.values() for one in meanings}

    def load_jobs(self, jobs: Iterable[Job]) -> None:
        """Find or add jobs, all at once."""
        keys = {key_of(job.namespace, job.name): job for job in jobs}
        found, new = self._found_and_new(schema.job, keys)
        self.rows.add_jobs({row: keys[key] for key, row in new.items()})
        self._jobs |= {keys[key]: row for key, row in (found | new).items()}

    def load_runs(self, runs: Mapping[str, RunRow]) -> None:
        """Remember the rows of runs."""
        self._runs |= runs

    def load_meanings(self, meanings: Mapping[Dataset, list[Meaning]]) -> None:
        """Remember all meanings of names."""
        self._meanings |= meanings

    def load_transformations(self, transformations: Iterable[Transformation]) -> None:
        """Find or add transformations, all at once."""
        keys = {_key(one): one for one in transformations if one not in self._transformations}
        found, new = self._found_and_new(schema.transformation, keys)
        rows = [(row, key, *_values(keys[key])) for key, row in new.items()]
        add_rows(self.connection, schema.transformation, _OF_TRANSFORMATION, rows)
        self._transformations |= {keys[key]: row for key, row in (found | new).items()}

    def flush(self) -> None:
        """Write the rows, before somebody reads them."""
        write(self.connection, self.rows)

    def forget(self) -> None:
        """Forget datasets and their fields, after their rows were changed."""
        self._meanings.clear()
        self.fields.forget()
        note(self.connection, [EVERYTHING])

    def _found_and_new(self, table: Table, keys: Collection[bytes]) -> tuple[dict[bytes, int], dict[bytes, int]]:
        """The ids of rows by their keys: those that are there, and new ones for the others."""
        known = select(table.c.key, table.c.id)
        rows = rows_for(self.connection, keys, lambda some: known.where(table.c.key.in_(some)))
        found = {row.key: row.id for row in rows}
        missing = [key for key in keys if key not in found]
        ids = new_ids(self.connection, table, len(missing)) if missing else ()
        return found, dict(zip(missing, ids, strict=True))


@lru_cache(maxsize=10_000)
def _key(transformation: Transformation) -> bytes:
    parts = (
        transformation.subtype.value,
        str(transformation.masking),
        str(transformation.opaque),
        transformation.description,
    )
    return key_of(*parts, "reference") if transformation.reference else key_of(*parts)


def _values(transformation: Transformation) -> tuple[str, str, bool, bool, str, bool]:
    return (
        transformation.subtype.type.value,
        transformation.subtype.value,
        transformation.masking,
        transformation.opaque,
        transformation.description,
        transformation.reference,
    )
