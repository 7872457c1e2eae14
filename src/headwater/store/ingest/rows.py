"""The rows that a batch of events adds or changes, until they are written; no database is needed to make them.

Where several events of a batch name one row, the rule that the statements of `headwater.store.ingest.write` follow
decides between them, so that it does not matter which events come in one batch.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from sqlalchemy import Table

from headwater.model import Dataset, Gap, Job
from headwater.model.names import digest_of_datasets, folded, key_of, keys_of, shown_run
from headwater.openlineage.reading.facets import VersionSchema
from headwater.store import schema
from headwater.store.ingest.field_spelling import DatedSchema, Place, Spellings
from headwater.store.ingest.tags import FacetTags, Owner

Values = dict[str, Any]
Row = tuple[Any, ...]
RunDataset = tuple[int, int, bool]
"""A run, a dataset, and whether the run wrote it."""

ATTRIBUTES = {
    schema.job: ("type", "sql", "description", "location"),
    schema.dataset: ("source", "lifecycle", "version", "description"),
}
"""The columns whose latest value counts; beside each is one with the moment of the value."""

RUN_COLUMNS = ("job_id", "parent_id", "state", "state_at", "started_at", "engine")
"""The columns of a run's row that events change."""


def with_moments(table: Table) -> tuple[str, ...]:
    """Return the attributes of a table, each with the column of its moment, and the first and the last moment."""
    return (*chain.from_iterable((name, f"{name}_at") for name in ATTRIBUTES[table]), "first_at", "last_at")


@dataclass(slots=True)
class Rows:
    """Rows to be added or changed, and the runs that have to be looked at again after they are written."""

    _runs: dict[int, Values] = field(default_factory=dict)
    _new_runs: dict[int, tuple[str, Values]] = field(default_factory=dict)
    _new_jobs: dict[int, Job] = field(default_factory=dict)
    _new_datasets: dict[int, tuple[int, Dataset]] = field(default_factory=dict)
    _events: list[Row] = field(default_factory=list)
    _attributes: dict[tuple[Table, str], dict[int, tuple[int, str]]] = field(default_factory=dict)
    _schemas: dict[int, DatedSchema] = field(default_factory=dict)
    _run_datasets: dict[RunDataset, bool] = field(default_factory=dict)
    _schema_of: dict[RunDataset, tuple[int, bytes]] = field(default_factory=dict)
    _version_schemas: dict[bytes, str] = field(default_factory=dict)
    _gaps: dict[tuple[int, bytes], Row] = field(default_factory=dict)
    _facets: dict[tuple[int, int, str], tuple[int, bytes]] = field(default_factory=dict)
    _tags: dict[Owner, FacetTags] = field(default_factory=dict)
    _spans: dict[Table, dict[int, tuple[int, int]]] = field(default_factory=dict)
    _field_names: set[str] = field(default_factory=set)
    _fields: dict[int, tuple[int, str]] = field(default_factory=dict)
    _field_descriptions: dict[int, tuple[int, str, int]] = field(default_factory=dict)
    _places: dict[int, Place] = field(default_factory=dict)
    _added_runs: set[int] = field(default_factory=set)
    _runs_to_recompute: set[int] = field(default_factory=set)
    _runs_to_summarize: set[int] = field(default_factory=set)
    spellings: Spellings = field(default_factory=Spellings)

    def add_runs(self, runs: Mapping[int, tuple[str, Values]]) -> None:
        """Add new runs by their ids: the UUID of each, and its columns that events change, which may change still."""
        self._new_runs |= runs
        self._added_runs |= runs.keys()

    @property
    def last_run(self) -> int:
        """The id of the last new run, 0 when there is none."""
        return next(reversed(self._new_runs), 0)

    def change_run(self, run: int, values: Values) -> None:
        """Change the columns of a run."""
        self._runs[run] = values

    def add_jobs(self, jobs: Mapping[int, Job]) -> None:
        """Add new jobs by their ids."""
        self._new_jobs |= jobs

    def add_dataset(self, dataset: int, name_id: int, name: Dataset) -> None:
        """Add a new dataset and its name, which means it at all times."""
        self._new_datasets[dataset] = (name_id, name)

    def add_event(self, row: Row) -> None:
        """Add an event: its digest, its run, its moment, its type, whether it is about rows, and its packed text."""
        self._events.append(row)

    def recompute(self, runs: Iterable[int]) -> None:
        """Have the lineage of runs computed again."""
        self._runs_to_recompute.update(runs)

    def take_runs_to_recompute(self) -> tuple[set[int], set[int]]:
        """Return the runs to recompute, and forget them: those that were there before, and those that are new."""
        present, new = self._runs_to_recompute - self._added_runs, self._runs_to_recompute & self._added_runs
        self._runs_to_recompute.clear()
        self._added_runs.clear()
        return present, new

    def summarize(self, runs: Iterable[int]) -> None:
        """Have the summaries of runs made again, whose state, datasets or lineage may have changed."""
        self._runs_to_summarize.update(runs)

    def summarize_no_new_runs(self) -> None:
        """Leave out the runs that are not written yet: they will be with all their datasets."""
        self._runs_to_summarize -= self._new_runs.keys()

    def take_runs_to_summarize(self) -> set[int]:
        """Return the runs to summarize, and forget them."""
        runs, self._runs_to_summarize = self._runs_to_summarize, set()
        return runs

    def propose_attribute(self, column: tuple[Table, str], row: int, value: str | None, at: int | None) -> None:
        """Set an attribute of a row unless it has a later value; of equal times the greater counts, an empty never."""
        if value and at is not None:
            latest = self._attributes.setdefault(column, {})
            latest[row] = max(latest.get(row, (at, value)), (at, value))

    def propose_schema(self, dataset: int, proposed: DatedSchema, *, written: bool) -> None:
        """Set the schema of a dataset, as one who reads or writes it has it, unless it has a later one."""
        if written:
            self.spellings.schema(dataset, proposed)
        latest = self._schemas.get(dataset, proposed)
        self._schemas[dataset] = proposed if (proposed.at, proposed.digest) >= (latest.at, latest.digest) else latest

    def add_run_dataset(self, place: RunDataset, *, has_lineage: bool) -> None:
        """Add that a run read or wrote a dataset, and whether lineage of that is there, or none is owed."""
        self._runs_to_summarize.add(place[0])
        self._run_datasets[place] = self._run_datasets.get(place, False) or has_lineage

    def add_version_schema(self, place: RunDataset, at: int, version: VersionSchema) -> None:
        """Set the schema of the version that a run wrote, as an event at a moment has it."""
        self.add_schema(version)
        self.set_version_schema(place, at, version.digest)

    def add_schema(self, version: VersionSchema) -> None:
        """Add a schema that some version has."""
        self._version_schemas[version.digest] = version.fields

    def set_version_schema(self, place: RunDataset, at: int, digest: bytes) -> None:
        """Set the schema of the version that a run wrote to one that is there."""
        self._schema_of[place] = max(self._schema_of.get(place, (at, digest)), (at, digest))

    def add_gap(self, run: int, gap: Gap) -> None:
        """Add a gap of the lineage of a run."""
        key = key_of(gap.kind, gap.what, gap.why, gap.output)
        self._gaps[run, key] = (run, key, gap.kind, gap.what, gap.why, gap.output)

    def add_facet(self, owner: Owner, name: str, at: int, event: bytes) -> None:
        """Add that an event has a facet of a dataset or a job."""
        key = (*owner, name)
        self._facets[key] = max(self._facets.get(key, (at, event)), (at, event))

    def set_tags(self, owner: Owner, tags: FacetTags) -> None:
        """Set the tags of a dataset or a job to those of a facet."""
        self._tags[owner] = tags.after(self._tags.get(owner))

    def span(self, table: Table, row: int, at: int) -> None:
        """Stretch the time from the first to the last event that names a dataset or a job."""
        rows = self._spans.setdefault(table, {})
        first, last = rows.get(row, (at, at))
        rows[row] = (min(first, at), max(last, at))

    def add_fields(self, fields: Mapping[int, tuple[int, str]]) -> None:
        """Add new fields by their ids: the dataset of each, and its own name."""
        self._fields |= fields

    @property
    def last_field(self) -> int:
        """The id of the last new field, 0 when there is none."""
        return next(reversed(self._fields), 0)

    def spell(self, field_id: int, by: int, name: str) -> None:
        """Add how readers or writers of a field spell its name."""
        self.spellings.propose(field_id, by, name)
        self._field_names.add(name)

    def describe_field(self, field_id: int, dataset: int, description: str, at: int) -> None:
        """Set the description of a field of a dataset unless it has a later one; of equal times the greater counts."""
        dated = (at, description, dataset)
        self._field_descriptions[field_id] = max(self._field_descriptions.get(field_id, dated), dated)

    def take_jobs(self) -> list[Row]:
        """Return the rows of new jobs, with all that is there of them by now, and forget them."""
        rows = [
            (row, key_of(job.namespace, job.name), job.namespace, job.name, *self._with_attributes(schema.job, row))
            for row, job in self._new_jobs.items()
        ]
        self._new_jobs.clear()
        return rows

    def take_datasets(self, *, schemas: bool) -> tuple[list[Row], list[Row]]:
        """Return the rows of new datasets, and those of their names, and forget them.

        ``schemas`` says that new fields are written next, with their places: else schemas wait for `take_schemas`.
        """
        rows = [
            (
                row,
                name.namespace,
                name.name,
                *self._with_attributes(schema.dataset, row),
                *((*self._schema(row), *self.spellings.of_new_dataset(row)) if schemas else (None,) * 4),
            )
            for row, (_, name) in self._new_datasets.items()
        ]
        names = [
            (name_id, key_of(name.namespace, name.name), name.namespace, name.name, folded(name), row)
            for row, (name_id, name) in self._new_datasets.items()
        ]
        self._new_datasets.clear()
        return rows, names

    def take_new_runs(self) -> list[Row]:
        """Return the rows of new runs, with all that is there of them by now, and forget them.

        To change a row later would cost as much as to add it. A run whose parent comes after it is written without,
        and changed afterwards.
        """
        datasets: dict[int, tuple[list[int], list[int]]] = {row: ([], []) for row in self._new_runs}
        for run, dataset, written in self._run_datasets:
            if run in datasets:
                datasets[run][written].append(dataset)
        rows: dict[int, Row] = {}
        for row, (uuid, values) in self._new_runs.items():
            parent = values["parent_id"]
            waits = parent in self._new_runs and parent != row and parent not in rows
            now = values | {"parent_id": None} if waits else values
            columns = map(now.__getitem__, RUN_COLUMNS)
            rows[row] = (row, uuid, *columns, digest_of_datasets(*datasets[row]), shown_run(uuid))
            if not waits:
                self._runs.pop(row, None)
        self._new_runs.clear()
        return list(rows.values())

    def take_fields(self, later: Mapping[int, Place]) -> tuple[list[Row], list[Row]]:
        """Return the rows of new fields, and the places of those that are there, and forget them.

        ``later`` are the places by schemas that turned out to be later than those of datasets that are there.
        """
        places = {**self._places, **later}
        rows = []
        for field_id, (dataset, own) in self._fields.items():
            name, best, by = self.spellings.of_new_field(field_id)
            key, folded_key = keys_of(own)[0], keys_of(name)[1]
            rows.append((field_id, dataset, key, name, folded_key, best, by, *places.pop(field_id, ("", None))))
        for written in (self._places, self._fields):
            written.clear()
        return rows, [(field_id, *place) for field_id, place in places.items()]

    def take_schemas(self) -> dict[int, DatedSchema]:
        """Return the schemas of datasets that are there, and forget them."""
        schemas, self._schemas = self._schemas, {}
        return schemas

    @property
    def new_fields(self) -> Collection[int]:
        """The ids of new fields."""
        return self._fields.keys()

    @property
    def tags(self) -> Mapping[Owner, FacetTags]:
        """The tags of facets by dataset or job."""
        return self._tags

    @property
    def new_runs(self) -> set[int]:
        """The ids of new runs."""
        return set(self._new_runs)

    @property
    def end_of_runs(self) -> dict[int, int]:
        """The moment of the state of each run that changes."""
        return {row: values["state_at"] for row, values in self._runs.items()}

    @property
    def changed_runs(self) -> list[Row]:
        """The runs that change, with their columns."""
        return [(row, *map(values.__getitem__, RUN_COLUMNS)) for row, values in self._runs.items()]

    @property
    def events(self) -> list[Row]:
        """The rows of events."""
        return self._events

    @property
    def attributes(self) -> Iterator[tuple[tuple[Table, str], list[Row]]]:
        """The attributes by column: row, value and moment of each."""
        for column, latest in self._attributes.items():
            yield column, [(row, value, at) for row, (at, value) in latest.items()]

    @property
    def version_schemas(self) -> Mapping[bytes, str]:
        """The schemas of versions by their digests."""
        return self._version_schemas

    def run_datasets(self, end_of_runs: Mapping[int, int]) -> list[Row]:
        """Return the rows of the datasets of runs; what a run wrote is there since it ended."""
        return [
            (
                *place,
                has_lineage,
                end_of_runs.get(place[0]) if place[2] else None,
                *reversed(self._schema_of.get(place, (None, None))),
            )
            for place, has_lineage in self._run_datasets.items()
        ]

    @property
    def gaps(self) -> list[Row]:
        """The rows of gaps."""
        return list(self._gaps.values())

    @property
    def facets(self) -> list[Row]:
        """The rows of facets."""
        return [(*key, *latest) for key, latest in self._facets.items()]

    @property
    def field_names(self) -> list[str]:
        """The names of fields, sorted."""
        return sorted(self._field_names)

    @property
    def field_descriptions(self) -> list[Row]:
        """The rows of descriptions of fields."""
        return [
            (field_id, dataset, description, at)
            for field_id, (at, description, dataset) in self._field_descriptions.items()
        ]

    @property
    def spans(self) -> Iterator[tuple[Table, list[Row]]]:
        """The first and last moments by table and row."""
        for table, rows in self._spans.items():
            yield table, [(row, *span) for row, span in rows.items()]

    def clear(self) -> None:
        """Forget all rows; the runs to recompute and to summarize stay."""
        for written in (
            self._runs,
            self._events,
            self._attributes,
            self._run_datasets,
            self._schema_of,
            self._version_schemas,
            self._gaps,
            self._facets,
            self._tags,
            self._spans,
            self._field_names,
            self._field_descriptions,
            self.spellings,
        ):
            written.clear()

    def _with_attributes(self, table: Table, row: int) -> Iterator[Any]:
        """The attributes of a new row, each with its moment, and the first and last moment of its events."""
        for name in ATTRIBUTES[table]:
            at, value = self._attributes.get((table, name), {}).pop(row, (None, None))
            yield from (value, at)
        yield from self._spans.get(table, {}).pop(row, (None, None))

    def _schema(self, dataset: int) -> tuple[bytes | None, int | None]:
        latest = self._schemas.pop(dataset, None)
        if latest is None:
            return None, None
        self._places |= latest.places
        return latest.digest, latest.at
