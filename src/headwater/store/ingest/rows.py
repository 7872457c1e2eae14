"""What a batch of events has to write, kept until it is needed: one statement for many rows, not one for each."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, Table

from headwater.model import Gap
from headwater.model.name_keys import key_of, keys_of, touched_digest
from headwater.openlineage.reading.grants import shown_run
from headwater.openlineage.reading.version_schema import VersionSchema
from headwater.store import schema
from headwater.store.ingest.field_spelling import Spellings
from headwater.store.ingest.statements import (
    ADD_RUN_DATASET,
    ATTRIBUTES,
    LATEST_FACET,
    NEW_FIELD_NAME,
    NEW_GAP,
    PLACE,
    RUN_COLUMNS,
    UPDATE_RUN,
    DatedSchema,
    Place,
    Values,
    add_schemas,
    field_name,
    later,
    set_later_schemas,
    spanning,
    with_moments,
)
from headwater.store.ingest.tags import FacetTags, Owner, write_tags
from headwater.store.sql.bulk import add_rows

Tags = dict[Owner, FacetTags]
RunDataset = tuple[int, int, bool]
"""A run, a dataset, and whether it wrote it."""
EventRow = tuple[bytes, int, int, str, bool, bytes]
OF_EVENT = ("digest", "run_id", "at", "type", "has_lineage", "payload")
"""The columns of an event's row."""

_MOST_BYTES = 1 << 26  # of payloads, which take twice that as text
_OF_NEW_RUN = ("id", "uuid", *RUN_COLUMNS, "touched", "shown")
_OF_JOB = ("id", "key", "namespace", "name", *with_moments(schema.job))
_OF_DATASET = ("id", "namespace", "name", *with_moments(schema.dataset), "schema_digest", "schema_at")
_OF_DATASET += ("written_digest", "written_at")
_OF_NAME = ("id", "key", "namespace", "name", "folded", "dataset_id")
_OF_FIELD = ("id", "dataset_id", "key", "name", "folded_key", "spelling", "spelled_by", "type", "ordinal")


@dataclass(slots=True)
class Rows:
    """Rows to be written. What several events say of one row is settled here, by the same rule as in the database."""

    runs: dict[int, Values] = field(default_factory=dict)
    new_runs: dict[int, tuple[str, Values]] = field(default_factory=dict)
    new_jobs: dict[int, tuple[bytes, str, str]] = field(default_factory=dict)
    new_datasets: dict[int, tuple[str, str]] = field(default_factory=dict)
    new_names: list[tuple[Any, ...]] = field(default_factory=list)
    events: list[EventRow] = field(default_factory=list)
    _proposed: dict[tuple[Table, str], dict[int, tuple[int, str]]] = field(default_factory=dict)
    _schemas: dict[int, DatedSchema] = field(default_factory=dict)
    _run_datasets: dict[RunDataset, bool] = field(default_factory=dict)
    _schema_of: dict[RunDataset, tuple[int, bytes]] = field(default_factory=dict)
    _version_schemas: dict[bytes, str] = field(default_factory=dict)
    _gaps: dict[tuple[int, bytes], tuple[Any, ...]] = field(default_factory=dict)
    _facets: dict[tuple[int, int, str], tuple[int, bytes]] = field(default_factory=dict)
    _tags: Tags = field(default_factory=dict)
    _seen: dict[Table, dict[int, tuple[int, int]]] = field(default_factory=dict)
    spellings: Spellings = field(default_factory=Spellings)
    _field_names: set[str] = field(default_factory=set)
    _fields: dict[int, tuple[int, str]] = field(default_factory=dict)
    _placed: dict[int, Place] = field(default_factory=dict)

    def propose_attribute(self, column: tuple[Table, str], row: int, value: str, at: int) -> None:
        """An attribute of a row, which the latest word decides; of equal times the greater value."""
        known = self._proposed.setdefault(column, {})
        known[row] = max(known.get(row, (at, value)), (at, value))

    def schema(self, dataset: int, told: DatedSchema, *, written: bool) -> None:
        """The schema of a dataset, as one who reads it has it or one who writes it."""
        if written:
            self.spellings.schema(dataset, told)
        known = self._schemas.get(dataset, told)
        self._schemas[dataset] = told if (told.at, told.digest) >= (known.at, known.digest) else known

    def add_run_dataset(self, place: RunDataset, *, has_lineage: bool) -> None:
        """That a run read or wrote a dataset, and whether it said how."""
        self._run_datasets[place] = self._run_datasets.get(place, False) or has_lineage

    def version_schema(self, place: RunDataset, at: int, version: VersionSchema) -> None:
        """The schema of what a run wrote, as an event at a moment has it."""
        self.keep_schema(version)
        self.add_version_schema(place, at, version.digest)

    def keep_schema(self, version: VersionSchema) -> None:
        """A schema that some version has."""
        self._version_schemas[version.digest] = version.fields

    def add_version_schema(self, place: RunDataset, at: int, digest: bytes) -> None:
        """The same of a schema that is there."""
        self._schema_of[place] = max(self._schema_of.get(place, (at, digest)), (at, digest))

    def gap(self, run: int, gap: Gap) -> None:
        """What a run says is missing."""
        key = key_of(gap.kind, gap.what, gap.why, gap.output)
        self._gaps[run, key] = (run, key, gap.kind, gap.what, gap.why, gap.output)

    def facet(self, owner: tuple[int, int], name: str, at: int, event: bytes) -> None:
        """That an event tells a facet of a dataset (first) or a job (second)."""
        key = (*owner, name)
        self._facets[key] = max(self._facets.get(key, (at, event)), (at, event))

    def tags(self, owner: Owner, told: FacetTags) -> None:
        """The tags that a facet gives a dataset or a job."""
        self._tags[owner] = told.after(self._tags.get(owner))

    def seen(self, table: Table, row: int, at: int) -> None:
        """That an event speaks of a dataset or a job."""
        rows = self._seen.setdefault(table, {})
        first, last = rows.get(row, (at, at))
        rows[row] = (min(first, at), max(last, at))

    def fields(self, new: Mapping[int, tuple[int, str]]) -> None:
        """New fields by their ids: the dataset of each, and its own name."""
        self._fields |= new

    @property
    def last_field(self) -> int:
        """The id of the last new field, 0 when there is none."""
        return next(reversed(self._fields), 0)

    def spell(self, field_id: int, by: int, name: str) -> None:
        """That readers or writers of a field spell its name so."""
        self.spellings.propose(field_id, by, name)
        self._field_names.add(name)

    def flush(self, connection: Connection) -> None:
        """Writes all of it."""
        self.write_fields(connection)
        write_tags(connection, self._tags)
        since = {row: values["state_at"] for row, values in self.runs.items()}
        new_runs = set(self.new_runs)
        self.write_runs(connection)
        UPDATE_RUN(connection, [(row, *map(values.__getitem__, RUN_COLUMNS)) for row, values in self.runs.items()])
        for some in _parts(self.events):
            add_rows(connection, schema.event, OF_EVENT, some)
        for column, proposed in self._proposed.items():
            later(*column)(connection, [(row, value, at) for row, (at, value) in proposed.items()])
        add_schemas(connection, self._version_schemas)
        run_datasets = [
            self._run_dataset(place, since.get(place[0]) if place[2] else None) for place in self._run_datasets
        ]
        add_rows(
            connection,
            ADD_RUN_DATASET.table,
            ADD_RUN_DATASET.columns,
            [row for row in run_datasets if row[0] in new_runs],
        )
        ADD_RUN_DATASET(connection, [row for row in run_datasets if row[0] not in new_runs])
        NEW_GAP(connection, list(self._gaps.values()))
        LATEST_FACET(connection, [(*key, *told) for key, told in self._facets.items()])
        NEW_FIELD_NAME(connection, [field_name(name) for name in sorted(self._field_names)])
        for table, rows in self._seen.items():
            spanning(table)(connection, [(row, *span) for row, span in rows.items()])
        for name in self.__slots__:
            getattr(self, name).clear()

    def _run_dataset(self, place: RunDataset, since: int | None) -> tuple[Any, ...]:
        at, digest = self._schema_of.get(place, (None, None))
        return (*place, self._run_datasets[place], since, digest, at)

    def write_names(self, connection: Connection) -> None:
        """New jobs, new datasets and what these are called, with all that is known of them by now."""
        jobs = [(row, *key, *self._with_attributes(schema.job, row)) for row, key in self.new_jobs.items()]
        add_rows(connection, schema.job, _OF_JOB, jobs)
        datasets = [
            (
                row,
                *name,
                *self._with_attributes(schema.dataset, row),
                *self._schema(row),
                *self.spellings.of_new_dataset(row),
            )
            for row, name in self.new_datasets.items()
        ]
        add_rows(connection, schema.dataset, _OF_DATASET, datasets)
        add_rows(connection, schema.dataset_name, _OF_NAME, self.new_names)
        for written in (self.new_jobs, self.new_datasets, self.new_names):
            written.clear()

    def _with_attributes(self, table: Table, row: int) -> Iterator[Any]:
        """The attributes of a new row, each with its moment, and when events named it first and last."""
        for name in ATTRIBUTES[table]:
            at, value = self._proposed.get((table, name), {}).pop(row, (None, None))
            yield from (value, at)
        yield from self._seen.get(table, {}).pop(row, (None, None))

    def _schema(self, dataset: int) -> tuple[bytes | None, int | None]:
        told = self._schemas.pop(dataset, None)
        if told is None:
            return None, None
        self._placed |= told.places
        return told.digest, told.at

    def write_runs(self, connection: Connection) -> None:
        """New runs, with all that is known of them by now: to change a row takes as long as to add it."""
        self.write_names(connection)
        touched: dict[int, tuple[list[int], list[int]]] = {row: ([], []) for row in self.new_runs}
        for run, dataset, written in self._run_datasets:
            if run in touched:
                touched[run][written].append(dataset)
        rows: dict[int, tuple[Any, ...]] = {}
        for row, (uuid, values) in self.new_runs.items():
            parent = values["parent_id"]
            waits = parent in self.new_runs and parent != row and parent not in rows
            now = values | {"parent_id": None} if waits else values
            told = map(now.__getitem__, RUN_COLUMNS)
            rows[row] = (row, uuid, *told, touched_digest(*touched[row]), shown_run(uuid))
            if not waits:
                self.runs.pop(row, None)
        add_rows(connection, schema.run, _OF_NEW_RUN, list(rows.values()))
        self.new_runs.clear()

    def write_fields(self, connection: Connection) -> None:
        """New fields, with their places where a schema gives them one; and the places of those that are there."""
        self.write_names(connection)
        placed = self._placed | set_later_schemas(connection, self._schemas)
        self.spellings.write(connection, self._fields)
        add_rows(connection, schema.field, _OF_FIELD, self._new_fields(placed))
        PLACE(connection, [(field_id, *place) for field_id, place in placed.items()])
        for written in (self._schemas, self._placed, self._fields):
            written.clear()

    def _new_fields(self, placed: dict[int, Place]) -> Iterator[tuple[Any, ...]]:
        for field_id, (dataset, own) in self._fields.items():
            name, best, by = self.spellings.of_new_field(field_id)
            key, folded = keys_of(own)[0], keys_of(name)[1]
            yield (field_id, dataset, key, name, folded, best, by, *placed.pop(field_id, ("", None)))


def _parts(events: list[EventRow]) -> Iterator[list[EventRow]]:
    """The rows of events, so many at once that their text takes little memory."""
    part: list[EventRow] = []
    left = _MOST_BYTES
    for row in events:
        left -= len(row[-1])
        if left < 0 and part:
            yield part
            part, left = [], _MOST_BYTES - len(row[-1])
        part.append(row)
    yield part
