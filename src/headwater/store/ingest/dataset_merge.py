"""Two datasets that turn out to be one: an event says that they are names of one table."""

from typing import Any

from sqlalchemy import Select, delete, select, update

from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.attributes import add_change, add_run_dataset, propose_attribute
from headwater.store.ingest.field_spelling import CURRENT, WRITTEN, spelled
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.retraction import pairs_of_dataset, retract_lineage, retract_replacements
from headwater.store.ingest.statements import DatedSchema
from headwater.store.ingest.tags import API, FACET, FacetTags, Tagging, put_tags

_NAME = schema.dataset_name
_FIELD = schema.field


def merge_datasets(writer: Writer, kept: int, gone: int) -> None:
    """Make one dataset of two: the first stays, with the names, runs and descriptions of both."""
    writer.flush()
    pairs = pairs_of_dataset(writer.connection, kept) | pairs_of_dataset(writer.connection, gone)
    writer.runs_to_recompute |= retract_lineage(writer.connection, pairs)
    writer.runs_to_recompute |= retract_replacements(writer.connection, (kept, gone))
    if writer.renames(kept) or writer.renames(gone) or writer.twins(kept) != writer.twins(gone):
        writer.merged_with_renames |= {kept} & _with_fields(writer, kept, gone)
    if gone in writer.merged_with_renames:
        writer.merged_with_renames = (writer.merged_with_renames - {gone}) | {kept}
    _merge_runs(writer, kept, gone)
    _merge_renames(writer, kept, gone)
    _merge_attributes(writer, kept, gone)
    _merge_tags(writer, kept, gone)
    _merge_facets(writer, kept, gone)
    _merge_fields(writer, kept, gone)
    writer.connection.execute(update(_NAME).where(_NAME.c.dataset_id == gone).values(dataset_id=kept))
    writer.connection.execute(delete(schema.dataset).where(schema.dataset.c.id == gone))
    writer.forget()


def _merge_fields(writer: Writer, kept: int, gone: int) -> None:
    if not writer.renames(kept):
        for _, (_, best, by) in spelled(writer.connection, gone):
            writer.fields(kept, [best], BEGINNING, min(by, WRITTEN))
    writer.flush()
    for table in (_FIELD, schema.field_twin):
        writer.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _with_fields(writer: Writer, kept: int, gone: int) -> set[int]:
    """The dataset that stays, when it or the other has fields already: they may be other ones after joining."""
    known = writer.connection.execute(select(_FIELD.c.id).where(_FIELD.c.dataset_id.in_((kept, gone))).limit(1))
    return {kept} if known.first() else set()


def _merge_renames(writer: Writer, kept: int, gone: int) -> None:
    for rename in writer.renames(gone):
        writer.rename_field(kept, rename)
    table = schema.field_rename
    writer.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _merge_runs(writer: Writer, kept: int, gone: int) -> None:
    table = schema.run_dataset
    for row in writer.connection.execute(select(table).where(table.c.dataset_id == gone)).all():
        add_run_dataset(writer, row.run_id, kept, written=row.written, has_lineage=row.has_lineage)
        if row.schema_digest is not None:
            place = (row.run_id, kept, row.written)
            writer.pending.add_version_schema(place, row.schema_at, row.schema_digest)
    writer.connection.execute(delete(table).where(table.c.dataset_id == gone))
    changed = schema.dataset_change
    for row in writer.connection.execute(select(changed).where(changed.c.dataset_id == gone)).all():
        left = None if row.schema_at is None else (row.schema_at, row.schema_digest)
        add_change(writer, row.run_id, kept, left)
    writer.connection.execute(delete(changed).where(changed.c.dataset_id == gone))


def _merge_tags(writer: Writer, kept: int, gone: int) -> None:
    """Give the tags of a dataset to the one that stays; to be called before its facets and fields are merged."""
    connection, tagging, facet = writer.connection, schema.tagging, schema.facet
    mine = select(tagging, _FIELD.c.name.label("field")).outerjoin(_FIELD, _FIELD.c.id == tagging.c.field_id)
    of_facet: set[Tagging] = set()
    for row in connection.execute(mine.where(tagging.c.dataset_id == gone)).all():
        field_id = writer.field(kept, row.field, BEGINNING) if row.field else 0
        tag = Tagging(field_id, row.tag, row.value, row.source)
        if row.source == API:
            put_tags(connection, [((kept, 0), row.at, tag)])
        else:
            of_facet.add(tag)
    last = select(facet.c.at, facet.c.event_digest).where(facet.c.dataset_id == gone, facet.c.name == FACET)
    if (latest := connection.execute(last).first()) is not None:
        writer.pending.tags((kept, 0), FacetTags(latest.at, latest.event_digest, frozenset(of_facet)))
    connection.execute(delete(tagging).where(tagging.c.dataset_id == gone))


def _merge_facets(writer: Writer, kept: int, gone: int) -> None:
    table = schema.facet
    mine = table.c.dataset_id == gone
    for row in writer.connection.execute(select(table).where(mine)).all():
        writer.pending.facet((kept, 0), row.name, row.at, row.event_digest)
    writer.connection.execute(delete(table).where(mine))


def _merge_attributes(writer: Writer, kept: int, gone: int) -> None:
    dataset = schema.dataset
    row = writer.connection.execute(select(dataset).where(dataset.c.id == gone)).one()._mapping
    for name in ("source", "lifecycle", "version", "description"):
        propose_attribute(writer, (dataset, name), kept, row[name], row[f"{name}_at"])
    for moment in filter(None, (row["first_at"], row["last_at"])):
        writer.pending.seen(dataset, kept, moment)
    placed = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.ordinal.is_not(None))
    _propose_schema(writer, kept, placed.order_by(_FIELD.c.ordinal), (row["schema_at"], row["schema_digest"]))
    current = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.spelled_by == CURRENT)
    _propose_schema(writer, kept, current, (row["written_at"], row["written_digest"]), written=True)


def _propose_schema(
    writer: Writer,
    kept: int,
    fields: Select[Any],
    moment: tuple[int | None, bytes | None],
    *,
    written: bool = False,
) -> None:
    """Gives a dataset the schema of another, as it was when it was told."""
    at, digest = moment
    if at is None or digest is None:
        return
    rows = writer.connection.execute(fields).all()
    placed = tuple((writer.field(kept, row.name, BEGINNING), row.type, row.name) for row in rows)
    if written:
        writer.pending.spellings.schema(kept, DatedSchema(at, digest, placed))
    else:
        writer.pending.schema(kept, DatedSchema(at, digest, placed), written=False)
