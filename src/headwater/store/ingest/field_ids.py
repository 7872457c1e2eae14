"""From the names of fields to the ids of their rows, over renames and spellings; missing fields are added."""

from collections import ChainMap
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import filterfalse

from sqlalchemy import Connection, bindparam, insert, select

from headwater.model.names import (
    FieldRename,
    caseless,
    first_name,
    key_of,
    keys_of,
    own_name,
    own_renames,
    present_name,
)
from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.field_spelling import MENTIONED, READ, WRITTEN
from headwater.store.ingest.rows import Rows, Values
from headwater.store.ingest.write import write_fields
from headwater.store.sql.rows import Lookup, new_ids


@dataclass(slots=True)
class DatasetFields:
    """The ids of a dataset's fields by their own names, and by the spellings of its readers and its writers.

    A spelling that is here is written, or among the rows to write: it need not be looked at again.
    ``mentioned`` are those that only others use, who do not own the dataset.
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
        """Add a spelling; what a writer uses need not be looked at for a reader."""
        if by == MENTIONED:
            self.mentioned[name] = field_id
            return
        self.read[name] = field_id
        if by != READ:
            self.written[name] = field_id


class FieldIds:
    """The ids of fields, read once and remembered; new ones go to ``rows``."""

    def __init__(self, connection: Connection, rows: Rows) -> None:
        self._connection = connection
        self._rows = rows
        self._fields: dict[int, DatasetFields] = {}
        self._renames: dict[int, tuple[FieldRename, ...]] = {}
        self._renamed: dict[tuple[int, bytes], int] = {}
        self._nothing_renamed: bool | None = None
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

    def has_any(self, dataset_id: int) -> bool:
        """Whether a dataset has any field."""
        write_fields(self._connection, self._rows)
        return self._connection.execute(_FIELD_OF, {"dataset": dataset_id}).first() is not None

    def renames(self, dataset_id: int) -> tuple[FieldRename, ...]:
        """When which fields of a dataset got other names; most stores have none."""
        if self._nothing_renamed is None:
            self._nothing_renamed = self._connection.execute(_ANY_RENAME).first() is None
        if self._nothing_renamed:
            return ()
        if dataset_id not in self._renames:
            rows = self._connection.execute(_RENAMES, {"dataset": dataset_id})
            self._renames[dataset_id] = tuple(FieldRename(*row) for row in rows)
        return self._renames[dataset_id]

    def rename(self, dataset_id: int, rename: FieldRename) -> None:
        """Add that a field has another name from a moment on."""
        if rename in self.renames(dataset_id):
            return
        values = rename._asdict() | {"former_key": key_of(rename.former), "present_key": key_of(rename.present)}
        write_fields(self._connection, self._rows)
        self._connection.execute(insert(schema.field_rename), {"dataset_id": dataset_id, **values})
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
            write_fields(self._connection, self._rows)
            found = self._connection.execute(_FIELD_BY_KEY, {"dataset": dataset_id, "the_key": key}).scalar()
            shown = self._new_field(dataset_id, spelling or name, by if spelling is None else WRITTEN) | {"key": key}
            self._renamed[dataset_id, key] = self._insert(shown) if found is None else int(found)
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

    def _new_field(self, dataset_id: int, name: str, by: int) -> Values:
        spelled = {"name": name, "folded_key": keys_of(name)[1], "spelling": name, "spelled_by": by}
        return {"dataset_id": dataset_id, "type": "", **spelled}

    def forget(self) -> None:
        """Forget all fields, after their rows were changed."""
        self._fields.clear()
        self._renames.clear()
        self._renamed.clear()
        self._twins = None

    def _insert(self, values: Values) -> int:
        return int(self._connection.execute(_INSERT, values).scalar_one())


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


_INSERT = insert(schema.field).returning(_FIELD.id)


def _new(names: Iterable[str], present: Mapping[str, int]) -> Collection[str]:
    return dict.fromkeys(filterfalse(present.__contains__, names))
