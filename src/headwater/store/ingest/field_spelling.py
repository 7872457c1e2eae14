"""How the name of a field is spelled: as the latest schema of a writer has it, else as writers do, else as readers do.

Those who read a table may spell its names as they like, and so may those who append to it. Every rule here is a
maximum, so that the order of events does not matter.
"""

from collections import ChainMap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy import BigInteger, Connection, Integer, LargeBinary, Text, Update, select, update

from headwater.model.names import keys_of
from headwater.store import schema
from headwater.store.sql.database import BoundValues
from headwater.store.sql.databases import Change, rows_for

MENTIONED, READ, WRITTEN, CURRENT = range(-1, 3)
"""Who spells a name so: only those who do not own the dataset, readers, a writer, the latest schema of a writer."""

_FIELD = schema.field
_DATASET = schema.dataset


Place = tuple[str, int]
"""The type of a field, and its place in the schema."""


class DatedSchema(NamedTuple):
    """The fields of a dataset in their order, as ids with types and names, and the moment and digest of the schema.

    A field that has another name by now has an empty one here. Where fields of the dataset were ``renamed``, an equal
    schema of another moment may be of other fields.
    """

    at: int
    digest: bytes
    fields: tuple[tuple[int, str, str], ...]
    renamed: bool = False

    @property
    def places(self) -> dict[int, Place]:
        """The type and the place of each field, by id."""
        return {field: (kind, place) for place, (field, kind, _) in enumerate(self.fields)}

    @property
    def names(self) -> dict[int, str]:
        """The name of each field, by id."""
        return {field: name for field, _, name in self.fields if name}

    def differs(self, digest: bytes | None) -> bool:
        """Whether it may be of other fields than an earlier schema of the dataset."""
        return self.renamed or self.digest != digest


class Spelling(NamedTuple):
    """The columns of a field's row: the name that is shown, the best one without the latest schema, and whose it is."""

    name: str
    best: str
    by: int

    def proposed(self, by: int, name: str) -> "Spelling":
        """The spelling after a reader or a writer spelled the name so; of equals the greater text stays."""
        if (by, name) <= (min(self.by, WRITTEN), self.best):
            return self
        return Spelling(self.name, name, CURRENT) if self.by == CURRENT else Spelling(name, name, by)

    def left(self) -> "Spelling":
        """The spelling when the latest schema of a writer is another."""
        return Spelling(self.best, self.best, min(self.by, WRITTEN))

    def called(self, name: str) -> "Spelling":
        """The spelling when the latest schema of a writer has it."""
        return Spelling(name, self.best, CURRENT)


@dataclass(slots=True)
class Spellings:
    """The spellings that a batch of events has, by fields; and the schemas of writers, by datasets."""

    _proposed: dict[int, tuple[int, str]] = field(default_factory=dict)
    _schemas: dict[int, DatedSchema] = field(default_factory=dict)
    _current: dict[int, str] = field(default_factory=dict)

    def propose(self, field_id: int, by: int, name: str) -> None:
        """Add that a reader or a writer spells the name of a field so."""
        best = self._proposed.get(field_id)
        if best is None or best < (by, name):
            self._proposed[field_id] = (by, name)

    def schema(self, dataset: int, latest: DatedSchema) -> None:
        """Set the schema of a writer of a dataset, unless a later one is there."""
        before = self._schemas.get(dataset, latest)
        self._schemas[dataset] = max(before, latest, key=_moment_of)

    def of_new_dataset(self, dataset: int) -> tuple[bytes | None, int | None]:
        """The digest and the moment for the row of a new dataset; its fields are spelled so."""
        latest = self._schemas.pop(dataset, None)
        if latest is None:
            return None, None
        self._current |= latest.names
        return latest.digest, latest.at

    def of_new_field(self, field_id: int) -> Spelling:
        """The spelling for the row of a new field."""
        by, name = self._proposed.pop(field_id)
        current = self._current.pop(field_id, None)
        return Spelling(name, name, by) if current is None else Spelling(current, name, CURRENT)

    def write(self, connection: Connection, new: Collection[int]) -> None:
        """Write the spellings of fields that are there; those of ``new`` ones are for `of_new_field`."""
        left = self._changed_schemas(connection)
        present = [one for one in {**self._proposed, **self._current} if one not in new]
        if not present and not left:
            return
        rows = {row.id: row for row in rows_for(connection, present, lambda some: _ROWS.where(_FIELD.c.id.in_(some)))}
        for row in rows_for(connection, left, lambda some: _CURRENT_ROWS.where(_FIELD.c.dataset_id.in_(some))):
            rows[row.id] = row
        changed = []
        for row in rows.values():
            before = Spelling(row.name, row.spelling, row.spelled_by)
            after = self._after(before.left() if row.dataset_id in left else before, row.id)
            if after != before:
                changed.append((row.id, after.name, keys_of(after.name)[1], after.best, after.by))
        _SPELL(connection, changed)

    def clear(self) -> None:
        """Forget all of it."""
        for one in (self._proposed, self._schemas, self._current):
            one.clear()

    def _after(self, spelling: Spelling, field_id: int) -> Spelling:
        proposal, current = self._proposed.pop(field_id, None), self._current.pop(field_id, None)
        spelling = spelling if proposal is None else spelling.proposed(*proposal)
        return spelling if current is None else spelling.called(current)

    def _changed_schemas(self, connection: Connection) -> set[int]:
        """The datasets of which the latest schema of a writer is another now."""
        later: dict[int, DatedSchema] = {}
        left: set[int] = set()
        for dataset, at, digest in rows_for(
            connection, self._schemas, lambda some: _LATEST.where(_DATASET.c.id.in_(some))
        ):
            latest = self._schemas[dataset]
            if at is None or _moment_of(latest) > (at, digest or b""):
                later[dataset] = latest
                if latest.differs(digest):
                    left.add(dataset)
                    self._current |= latest.names
        _SET_WRITTEN(connection, [(dataset, one.digest, one.at) for dataset, one in later.items()])
        self._schemas.clear()
        return left


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


def spelled(connection: Connection, dataset: int) -> Iterator[tuple[int, Spelling]]:
    """The fields of a dataset with their spellings."""
    for row in connection.execute(_ROWS.where(_FIELD.c.dataset_id == dataset)).all():
        yield row.id, Spelling(row.name, row.spelling, row.spelled_by)


def _moment_of(latest: DatedSchema) -> tuple[int, bytes]:
    return latest.at, latest.digest


_ROWS = select(_FIELD.c.id, _FIELD.c.dataset_id, _FIELD.c.name, _FIELD.c.spelling, _FIELD.c.spelled_by)
_CURRENT_ROWS = _ROWS.where(_FIELD.c.spelled_by == CURRENT)
_LATEST = select(_DATASET.c.id, _DATASET.c.written_at, _DATASET.c.written_digest)


def _spell(bound: BoundValues) -> Update:
    values = {name: bound[name] for name in ("name", "folded_key", "spelling", "spelled_by")}
    return update(_FIELD).where(_FIELD.c.id == bound["row"]).values(values)


def _set_written(bound: BoundValues) -> Update:
    dataset = update(_DATASET).where(_DATASET.c.id == bound["dataset"])
    return dataset.values(written_digest=bound["digest"], written_at=bound["moment"])


_SPELL = Change(
    {"row": BigInteger(), "name": Text(), "folded_key": LargeBinary(), "spelling": Text(), "spelled_by": Integer()},
    _spell,
)
_SET_WRITTEN = Change({"dataset": BigInteger(), "digest": LargeBinary(), "moment": BigInteger()}, _set_written)
