"""What a batch of events has to write, kept until it is needed: one statement for many rows, not one for each."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from sqlalchemy import Connection, Insert, Table, Update

from headwater.model import Gap
from headwater.store.keys import key_of
from headwater.store.taggings import Owner, ToldTags, write_tags
from headwater.store.upserts import (
    KEEP,
    TELL_RUN,
    ToldSchema,
    Values,
    field_name,
    later,
    latest_facet,
    new_field_name,
    new_gap,
    spanning,
    touching,
    write,
    write_schemas,
)

Tags = dict[Owner, ToldTags]


@dataclass(slots=True)
class Pending:
    """Rows to be written. What several events say of one row is settled here, by the same rule as in the database."""

    runs: dict[int, Values] = field(default_factory=dict)
    events: list[Values] = field(default_factory=list)
    _offers: dict[tuple[Table, str], dict[int, tuple[int, str]]] = field(default_factory=dict)
    _schemas: dict[int, ToldSchema] = field(default_factory=dict)
    _touches: dict[tuple[int, int, bool], bool] = field(default_factory=dict)
    _gaps: dict[tuple[int, bytes], Values] = field(default_factory=dict)
    _facets: dict[tuple[int, int, str], tuple[int, bytes]] = field(default_factory=dict)
    _tags: Tags = field(default_factory=dict)
    _seen: dict[Table, dict[int, tuple[int, int]]] = field(default_factory=dict)
    _field_names: set[str] = field(default_factory=set)

    def offer(self, column: tuple[Table, str], row: int, value: str, at: int) -> None:
        """An attribute of a row, which the latest word decides; of equal times the greater value."""
        known = self._offers.setdefault(column, {})
        known[row] = max(known.get(row, (at, value)), (at, value))

    def schema(self, dataset: int, told: ToldSchema) -> None:
        """The schema of a dataset."""
        known = self._schemas.get(dataset, told)
        self._schemas[dataset] = told if (told.at, told.digest) >= (known.at, known.digest) else known

    def touch(self, place: tuple[int, int, bool], *, has_lineage: bool) -> None:
        """That a run (first) read or wrote (third) a dataset (second), and whether it said how."""
        self._touches[place] = self._touches.get(place, False) or has_lineage

    def gap(self, run: int, gap: Gap) -> None:
        """What a run says is missing."""
        key = key_of(gap.kind, gap.what, gap.why, gap.output)
        row = {"run_id": run, "key": key, "kind": gap.kind, "what": gap.what, "why": gap.why, "output": gap.output}
        self._gaps[run, key] = row

    def facet(self, owner: tuple[int, int], name: str, at: int, event: bytes) -> None:
        """That an event tells a facet of a dataset (first) or a job (second)."""
        key = (*owner, name)
        self._facets[key] = max(self._facets.get(key, (at, event)), (at, event))

    def tags(self, owner: Owner, told: ToldTags) -> None:
        """The tags that a facet gives a dataset or a job."""
        self._tags[owner] = told.after(self._tags.get(owner))

    def keep_tags(self, connection: Connection, choose: Callable[[Connection, Tags], Tags]) -> None:
        """Keeps only some of the tags that facets give."""
        self._tags = choose(connection, self._tags)

    def seen(self, table: Table, row: int, at: int) -> None:
        """That an event speaks of a dataset or a job."""
        rows = self._seen.setdefault(table, {})
        first, last = rows.get(row, (at, at))
        rows[row] = (min(first, at), max(last, at))

    def field_name(self, name: str) -> None:
        """That a field has a name."""
        self._field_names.add(name)

    def flush(self, connection: Connection) -> None:
        """Writes all of it."""
        write_tags(connection, self._tags)
        for statement, rows in self._statements(connection.dialect.name):
            write(connection, statement, rows)
        write_schemas(connection, self._schemas)
        for name in self.__slots__:
            getattr(self, name).clear()

    def _statements(self, dialect: str) -> Iterator[tuple[Insert | Update, list[Values]]]:
        yield TELL_RUN, [{"row": row, **values} for row, values in self.runs.items()]
        yield KEEP, self.events
        for column, offers in self._offers.items():
            yield later(*column), [{"row": row, "value": value, "moment": at} for row, (at, value) in offers.items()]
        yield touching(dialect), _rows(_TOUCH, ((*place, told) for place, told in self._touches.items()))
        yield new_gap(dialect), list(self._gaps.values())
        yield latest_facet(dialect), _rows(_FACET, ((*key, *told) for key, told in self._facets.items()))
        yield new_field_name(dialect), [field_name(name) for name in sorted(self._field_names)]
        for table, rows in self._seen.items():
            yield spanning(table), [{"row": row, "first": first, "last": last} for row, (first, last) in rows.items()]


_TOUCH = ("run_id", "dataset_id", "written", "has_lineage")
_FACET = ("dataset_id", "job_id", "name", "at", "event_digest")


def _rows(columns: tuple[str, ...], values: Iterable[tuple[object, ...]]) -> list[Values]:
    return [dict(zip(columns, row, strict=True)) for row in values]
