"""The statements that write rows: each for many rows, and none depends on the order in which events arrive.

New rows are written whole, in the order in which they name each other: jobs and datasets, then runs and fields, then
the rest. `write_names`, `write_runs` and `write_fields` write the first of these earlier, for who needs to read them.
Each run's row has a summary of its datasets, so that lists of versions need not look at every run.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import (
    BigInteger,
    Connection,
    Insert,
    LargeBinary,
    Table,
    Text,
    Update,
    and_,
    case,
    func,
    insert,
    or_,
    select,
    update,
)
from sqlalchemy import Row as DatabaseRow

from headwater.model.names import digest_of_datasets, keys_of
from headwater.store import schema
from headwater.store.ingest.field_spelling import DatedSchema, Place
from headwater.store.ingest.rows import RUN_COLUMNS, Row, Rows, with_moments
from headwater.store.ingest.tags import write_tags
from headwater.store.sql.database import BoundValues, Upsert
from headwater.store.sql.databases import Addition, Change, add_rows, rows_for

_RUN = schema.run
_DATASET = schema.dataset
_FACET = schema.facet
_FIELD = schema.field
_DESCRIPTION = schema.field_description
_SCHEMA = schema.dataset_schema
_RUN_DATASET = schema.run_dataset
_ID, _MOMENT, _DIGEST = BigInteger(), BigInteger(), LargeBinary()

_MOST_BYTES = 1 << 26  # of payloads, which take twice that as text
_OF_EVENT = ("digest", "run_id", "at", "type", "has_lineage", "payload")
_OF_NEW_RUN = ("id", "uuid", *RUN_COLUMNS, "touched", "shown")
_OF_JOB = ("id", "key", "namespace", "name", *with_moments(schema.job))
_OF_DATASET = ("id", "namespace", "name", *with_moments(schema.dataset), "schema_digest", "schema_at")
_OF_DATASET += ("written_digest", "written_at")
_OF_NAME = ("id", "key", "namespace", "name", "folded", "dataset_id")
_OF_FIELD = ("id", "dataset_id", "key", "name", "folded_key", "spelling", "spelled_by", "type", "ordinal")


def write(connection: Connection, rows: Rows) -> None:
    """Write all rows, and forget them."""
    write_fields(connection, rows)
    if rows.tags:
        write_tags(connection, rows.tags)
    end_of_runs, new_runs = rows.end_of_runs, rows.new_runs
    write_runs(connection, rows)
    _UPDATE_RUN(connection, rows.changed_runs)
    for some in _parts(rows.events):
        add_rows(connection, schema.event, _OF_EVENT, some)
    for column, attributes in rows.attributes:
        _later_attribute(*column)(connection, attributes)
    _add_schemas(connection, rows.version_schemas)
    run_datasets = rows.run_datasets(end_of_runs)
    # There is none yet of a new run: to look for it costs more than to add the row.
    add_rows(connection, _RUN_DATASET, _OF_RUN_DATASET, [row for row in run_datasets if row[0] in new_runs])
    _ADD_RUN_DATASET(connection, [row for row in run_datasets if row[0] not in new_runs])
    _NEW_GAP(connection, rows.gaps)
    _LATEST_FACET(connection, rows.facets)
    _NEW_FIELD_NAME(connection, [(*keys_of(name), name) for name in rows.field_names])
    _LATEST_DESCRIPTION(connection, rows.field_descriptions)
    for table, spans in rows.spans:
        _longer_span(table)(connection, spans)
    rows.clear()


def write_names(connection: Connection, rows: Rows, *, schemas: bool = False) -> None:
    """Write new jobs, new datasets and their names; with ``schemas`` as the fields that are written next have them."""
    add_rows(connection, schema.job, _OF_JOB, rows.take_jobs())
    datasets, names = rows.take_datasets(schemas=schemas)
    add_rows(connection, _DATASET, _OF_DATASET, datasets)
    add_rows(connection, schema.dataset_name, _OF_NAME, names)


def write_runs(connection: Connection, rows: Rows) -> None:
    """Write new runs, after what they name."""
    write_names(connection, rows)
    add_rows(connection, _RUN, _OF_NEW_RUN, rows.take_new_runs())


def write_fields(connection: Connection, rows: Rows) -> None:
    """Write new fields, their places and spellings, and those of the fields that are there."""
    write_names(connection, rows, schemas=True)
    later = _set_later_schemas(connection, rows.take_schemas())
    rows.spellings.write(connection, rows.new_fields)
    fields, places = rows.take_fields(later)
    add_rows(connection, _FIELD, _OF_FIELD, fields)
    _PLACE(connection, places)


def write_change(
    connection: Connection, rows: Rows, run: int, dataset: int, left: tuple[int, bytes] | None = None
) -> None:
    """Write that a run altered, renamed, emptied or dropped a dataset: it wrote no rows, and owes no lineage.

    ``left`` is the schema that it left: its moment and its digest; the latest counts.
    """
    write_runs(connection, rows)
    row = {"run_id": run, "dataset_id": dataset}
    at, digest = left or (None, None)
    values = {"schema_at": at, "schema_digest": digest}
    present = connection.execute(select(schema.dataset_change).filter_by(**row)).first()
    if present is None:
        connection.execute(insert(schema.dataset_change), row | values)
    elif left is not None and (present.schema_at is None or left > (present.schema_at, present.schema_digest)):
        connection.execute(update(schema.dataset_change).filter_by(**row).values(**values))


def _parts(events: list[Row]) -> Iterator[list[Row]]:
    """The rows of events, so many at once that their text takes little memory."""
    part: list[Row] = []
    left = _MOST_BYTES
    for row in events:
        left -= len(row[-1])
        if left < 0 and part:
            yield part
            part, left = [], _MOST_BYTES - len(row[-1])
        part.append(row)
    yield part


def _update_run(bound: BoundValues) -> Update:
    return update(_RUN).where(_RUN.c.id == bound["row"]).values({name: bound[name] for name in RUN_COLUMNS})


_UPDATE_RUN = Change({"row": _ID, **{name: _RUN.c[name].type for name in RUN_COLUMNS}}, _update_run)


@cache
def _later_attribute(table: Table, name: str) -> Change:
    """Set an attribute unless the row has a later value; of equal times the greater value stays."""
    present, present_at = table.c[name], table.c[f"{name}_at"]

    def set_latest(bound: BoundValues) -> Update:
        value, at = bound["value"], bound["moment"]
        is_later = or_(present_at.is_(None), present_at < at, and_(present_at == at, present < value))
        return update(table).where(table.c.id == bound["row"], is_later).values({name: value, f"{name}_at": at})

    return Change({"row": _ID, "value": Text(), "moment": _MOMENT}, set_latest)


def _run_dataset(new: Upsert) -> Insert:
    added, present = new.excluded, _RUN_DATASET.c
    is_later = or_(
        and_(added.schema_at.is_not(None), present.schema_at.is_(None)),
        added.schema_at > present.schema_at,
        and_(added.schema_at == present.schema_at, added.schema_digest > present.schema_digest),
    )
    latest = {name: case((is_later, added[name]), else_=present[name]) for name in ("schema_digest", "schema_at")}
    return new.on_conflict_do_update(
        index_elements=["run_id", "dataset_id", "written"],
        set_={"has_lineage": or_(present.has_lineage, added.has_lineage), **latest},
        where=or_(and_(added.has_lineage, ~present.has_lineage), is_later),
    )


def _latest_description(new: Upsert) -> Insert:
    present, at, description = _DESCRIPTION.c, new.excluded.at, new.excluded.description
    is_later = or_(at > present.at, and_(at == present.at, description > present.description))
    return new.on_conflict_do_update(index_elements=["id"], set_={"at": at, "description": description}, where=is_later)


def _unless_present(new: Upsert) -> Insert:
    return new.on_conflict_do_nothing()


def _latest_facet(new: Upsert) -> Insert:
    at, event = new.excluded.at, new.excluded.event_digest
    is_later = or_(at > _FACET.c.at, and_(at == _FACET.c.at, event > _FACET.c.event_digest))
    return new.on_conflict_do_update(
        index_elements=["dataset_id", "job_id", "name"], set_={"at": at, "event_digest": event}, where=is_later
    )


_OF_RUN_DATASET = ("run_id", "dataset_id", "written", "has_lineage", "at", "schema_digest", "schema_at")
_ADD_RUN_DATASET = Addition(_RUN_DATASET, _OF_RUN_DATASET, _run_dataset)
"""A row for each dataset of a run; one that is there gets lineage when there is some, and the later schema."""

_NEW_GAP = Addition(schema.gap, ("run_id", "key", "kind", "what", "why", "output"), _unless_present)
"""A row for each gap that is not there yet."""

_NEW_FIELD_NAME = Addition(schema.field_name, ("key", "folded_key", "name"), _unless_present)
"""A row for each name of a field that is not there yet."""

_LATEST_DESCRIPTION = Addition(_DESCRIPTION, ("id", "dataset_id", "description", "at"), _latest_description)
"""The description of a field, unless a later one is there."""

_LATEST_FACET = Addition(_FACET, ("dataset_id", "job_id", "name", "at", "event_digest"), _latest_facet)
"""The event that has a facet, unless a later one is there."""


@cache
def _longer_span(table: Table) -> Change:
    """Stretch the first and the last moment; an event after the row was hidden shows it again."""

    def span(bound: BoundValues) -> Update:
        present, first, last = table.c, bound["first"], bound["last"]
        return (
            update(table)
            .where(present.id == bound["row"])
            .values(
                first_at=case((present.first_at < first, present.first_at), else_=first),
                last_at=case((present.last_at > last, present.last_at), else_=last),
                hidden_at=case((present.hidden_at < last, None), else_=present.hidden_at),
            )
        )

    return Change({"row": _ID, "first": _MOMENT, "last": _MOMENT}, span)


_LATEST_SCHEMA = select(_DATASET.c.id, _DATASET.c.schema_at, _DATASET.c.schema_digest)


def _set_schema(bound: BoundValues) -> Update:
    dataset = update(_DATASET).where(_DATASET.c.id == bound["dataset"])
    return dataset.values(schema_digest=bound["digest"], schema_at=bound["moment"])


def _unplace(bound: BoundValues) -> Update:
    return update(_FIELD).where(_FIELD.c.dataset_id == bound["dataset"]).values(ordinal=None, type="")


def _place(bound: BoundValues) -> Update:
    return update(_FIELD).where(_FIELD.c.id == bound["field"]).values(ordinal=bound["ordinal"], type=bound["type"])


_SET_SCHEMA = Change({"dataset": _ID, "digest": _DIGEST, "moment": _MOMENT}, _set_schema)
_UNPLACE = Change({"dataset": _ID}, _unplace)
_PLACE = Change({"field": _ID, "type": Text(), "ordinal": _FIELD.c.ordinal.type}, _place)
"""The type of a field, and its place among those of its dataset."""


def _set_later_schemas(connection: Connection, schemas: Mapping[int, DatedSchema]) -> dict[int, Place]:
    """Set the schemas that are later than those of the datasets; return the places of their fields, by id."""
    later: dict[int, DatedSchema] = {}
    placed_before: list[tuple[int]] = []
    places: dict[int, Place] = {}
    for dataset, at, digest in rows_for(
        connection, schemas, lambda some: _LATEST_SCHEMA.where(_DATASET.c.id.in_(some))
    ):
        now = schemas[dataset]
        if at is None or (now.at, now.digest) > (at, digest):
            later[dataset] = now
            if now.differs(digest):
                places |= now.places
                placed_before += [(dataset,)] if digest is not None else []
    _SET_SCHEMA(connection, [(dataset, one.digest, one.at) for dataset, one in later.items()])
    _UNPLACE(connection, placed_before)
    return places


def _add_schemas(connection: Connection, schemas: Mapping[bytes, str]) -> None:
    """Add the schemas of versions that are not there yet, each once by its content."""
    present = rows_for(connection, schemas, lambda some: select(_SCHEMA.c.digest).where(_SCHEMA.c.digest.in_(some)))
    new = schemas.keys() - {row.digest for row in present}
    add_rows(connection, _SCHEMA, ("digest", "fields"), [(digest, schemas[digest]) for digest in sorted(new)])


_LINEAGE = schema.lineage
_OF_RUN = and_(
    _LINEAGE.c.run_id == _RUN.c.id,
    _LINEAGE.c.output_id == _RUN_DATASET.c.dataset_id,
    _LINEAGE.c.job_id == _RUN.c.job_id,
)
_NOW = select(
    _RUN.c.id,
    _RUN.c.touched,
    _RUN_DATASET.c.dataset_id,
    _RUN_DATASET.c.written,
    _RUN_DATASET.c.at,
    func.coalesce(_LINEAGE.c.at, _RUN.c.state_at).label("now"),
)
_NOW = _NOW.select_from(_RUN).outerjoin(_RUN_DATASET, _RUN_DATASET.c.run_id == _RUN.c.id).outerjoin(_LINEAGE, _OF_RUN)
_NOW = _NOW.order_by(_RUN.c.id)


def _set_digest(bound: BoundValues) -> Update:
    return update(_RUN).where(_RUN.c.id == bound["row"]).values(touched=bound["digest"])


def _set_moment(bound: BoundValues) -> Update:
    mine = (
        _RUN_DATASET.c.run_id == bound["run"],
        _RUN_DATASET.c.dataset_id == bound["dataset"],
        _RUN_DATASET.c.written,
    )
    return update(_RUN_DATASET).where(*mine).values(at=bound["moment"])


_SET_DIGEST = Change({"row": BigInteger(), "digest": LargeBinary()}, _set_digest)
_SET_MOMENT = Change({"run": BigInteger(), "dataset": BigInteger(), "moment": BigInteger()}, _set_moment)


def update_run_summaries(connection: Connection, rows: Rows) -> None:
    """Write which datasets the runs to summarize read and wrote, and since when there is what they wrote."""
    write(connection, rows)
    found = list(rows_for(connection, rows.take_runs_to_summarize(), lambda some: _NOW.where(_RUN.c.id.in_(some))))
    moments = [(row.id, row.dataset_id, row.now) for row in found if row.written and row.at != row.now]
    _SET_MOMENT(connection, moments)
    digests = [
        (some[0], datasets_of_run(some)) for _, group in groupby(found, key=attrgetter("id")) if (some := list(group))
    ]
    _SET_DIGEST(connection, [(row.id, digest) for row, digest in digests if digest != row.touched])


def datasets_of_run(rows: Iterable[DatabaseRow[Any]]) -> bytes | None:
    """Return a digest of the datasets that a run read, and of those that it wrote; None when there are none."""
    read, written = ([row.dataset_id for row in rows if row.written is side] for side in (False, True))
    return digest_of_datasets(read, written)
