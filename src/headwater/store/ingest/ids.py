"""From names to the ids of rows, within one writing transaction; rows that are missing are added."""

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from sqlalchemy import Connection, LargeBinary, Table, bindparam, or_, select

from headwater.model import Dataset, Job, Transformation
from headwater.model.names import key_of
from headwater.model.time import BEGINNING, FOREVER
from headwater.store import schema
from headwater.store.graph.timeline import EVERYTHING, note
from headwater.store.ingest.field_ids import FieldIds
from headwater.store.ingest.rows import Rows, Values
from headwater.store.ingest.write import write
from headwater.store.sql.rows import add_rows, new_ids, rows_for

_NAME = schema.dataset_name.c
_KEY = bindparam("the_key", type_=LargeBinary())
_NAMED = select(_NAME.id, _NAME.dataset_id, _NAME.since, _NAME.until)
_NAMED = _NAMED.where(or_(_NAME.key == _KEY, _NAME.first_key == _KEY))
_OF_TRANSFORMATION = ("id", "key", "type", "subtype", "masking", "opaque", "description", "reference")


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


def free_span(meanings: list[Meaning], at: int) -> tuple[int, int]:
    """The time around a moment in which a name has no meaning yet.

    >>> free_span([Meaning(1, 1, 10, 20), Meaning(2, 2, 30, FOREVER)], 25)
    (20, 30)
    """
    since = max((one.until for one in meanings if one.until <= at), default=BEGINNING)
    return since, min((one.since for one in meanings if one.since > at), default=FOREVER)


class IdResolver:
    """The ids of what events name, read once and remembered; what is not there yet is added to ``rows``.

    ``merged_with_renames`` are the datasets that were merged though fields of them had been renamed: they have to be
    read again from their events.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.rows = Rows()
        self.fields = FieldIds(connection, self.rows)
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
def _key(one: Transformation) -> bytes:
    parts = (one.subtype.value, str(one.masking), str(one.opaque), one.description)
    return key_of(*parts, "reference") if one.reference else key_of(*parts)


def _values(one: Transformation) -> tuple[str, str, bool, bool, str, bool]:
    return one.subtype.type.value, one.subtype.value, one.masking, one.opaque, one.description, one.reference
