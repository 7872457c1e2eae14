"""Two datasets that turn out to be one: an event has both names for one table."""

from typing import Any

from sqlalchemy import Select, delete, select, update

from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.field_spelling import CURRENT, WRITTEN, DatedSchema, spelled
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.replacements import pairs_of_dataset, retract_lineage, retract_replacements
from headwater.store.ingest.tags import FACET, PEOPLE, FacetTags, Tagging, put_tags
from headwater.store.ingest.write import write_change

_NAME = schema.dataset_name
_FIELD = schema.field


def merge_datasets(ids: IdResolver, stays: int, goes: int) -> None:
    """Make one dataset of two: the first stays, with the names, runs and descriptions of both."""
    ids.flush()
    pairs = pairs_of_dataset(ids.connection, stays) | pairs_of_dataset(ids.connection, goes)
    ids.rows.recompute(retract_lineage(ids.connection, pairs))
    ids.rows.recompute(retract_replacements(ids.connection, (stays, goes)))
    if ids.fields.renames(stays) or ids.fields.renames(goes) or ids.fields.twins(stays) != ids.fields.twins(goes):
        ids.merged_with_renames |= {stays} & _with_fields(ids, stays, goes)
    if goes in ids.merged_with_renames:
        ids.merged_with_renames = (ids.merged_with_renames - {goes}) | {stays}
    _merge_runs(ids, stays, goes)
    for rename in ids.fields.every_rename(goes):
        ids.fields.rename(stays, rename)
    table = schema.field_rename
    ids.connection.execute(delete(table).where(table.c.dataset_id == goes))
    _merge_attributes(ids, stays, goes)
    _merge_tags(ids, stays, goes)
    _merge_facets(ids, stays, goes)
    _merge_field_descriptions(ids, stays, goes)
    _merge_fields(ids, stays, goes)
    ids.connection.execute(update(_NAME).where(_NAME.c.dataset_id == goes).values(dataset_id=stays))
    ids.connection.execute(delete(schema.dataset).where(schema.dataset.c.id == goes))
    ids.forget()


def _merge_fields(ids: IdResolver, stays: int, goes: int) -> None:
    if not ids.fields.renames(stays):
        for _, (_, best, by) in spelled(ids.connection, goes):
            ids.fields.ids(stays, [best], BEGINNING, min(by, WRITTEN))
    ids.flush()
    for table in (_FIELD, schema.field_twin):
        ids.connection.execute(delete(table).where(table.c.dataset_id == goes))


def _with_fields(ids: IdResolver, stays: int, goes: int) -> set[int]:
    """The dataset that stays, when it or the other has fields already: they may be other ones after joining."""
    present = ids.connection.execute(select(_FIELD.c.id).where(_FIELD.c.dataset_id.in_((stays, goes))).limit(1))
    return {stays} if present.first() else set()


def _merge_runs(ids: IdResolver, stays: int, goes: int) -> None:
    table = schema.run_dataset
    for row in ids.connection.execute(select(table).where(table.c.dataset_id == goes)).all():
        ids.rows.add_run_dataset((row.run_id, stays, row.written), has_lineage=row.has_lineage)
        if row.schema_digest is not None:
            place = (row.run_id, stays, row.written)
            ids.rows.set_version_schema(place, row.schema_at, row.schema_digest)
    ids.connection.execute(delete(table).where(table.c.dataset_id == goes))
    changed = schema.dataset_change
    for row in ids.connection.execute(select(changed).where(changed.c.dataset_id == goes)).all():
        left = None if row.schema_at is None else (row.schema_at, row.schema_digest)
        write_change(ids.connection, ids.rows, row.run_id, stays, left)
    ids.connection.execute(delete(changed).where(changed.c.dataset_id == goes))


def _merge_tags(ids: IdResolver, stays: int, goes: int) -> None:
    """Give the tags of a dataset to the one that stays; to be called before its facets and fields are merged."""
    connection, tagging, facet = ids.connection, schema.tagging, schema.facet
    mine = select(tagging, _FIELD.c.name.label("field")).outerjoin(_FIELD, _FIELD.c.id == tagging.c.field_id)
    of_facet: set[Tagging] = set()
    for row in connection.execute(mine.where(tagging.c.dataset_id == goes)).all():
        field_id = ids.fields.id(stays, row.field, BEGINNING) if row.field else 0
        tag = Tagging(field_id, row.tag, row.value, row.source, row.path)
        if row.source in PEOPLE:
            put_tags(connection, [((stays, 0), row.at, tag)])
        else:
            of_facet.add(tag)
    last = select(facet.c.at, facet.c.event_digest).where(facet.c.dataset_id == goes, facet.c.name == FACET)
    if (latest := connection.execute(last).first()) is not None:
        ids.rows.set_tags((stays, 0), FacetTags(latest.at, latest.event_digest, frozenset(of_facet)))
    connection.execute(delete(tagging).where(tagging.c.dataset_id == goes))


def _merge_facets(ids: IdResolver, stays: int, goes: int) -> None:
    table = schema.facet
    mine = table.c.dataset_id == goes
    for row in ids.connection.execute(select(table).where(mine)).all():
        ids.rows.add_facet((stays, 0), row.name, row.at, row.event_digest)
    ids.connection.execute(delete(table).where(mine))


def _merge_field_descriptions(ids: IdResolver, stays: int, goes: int) -> None:
    table = schema.field_description
    mine = table.c.dataset_id == goes
    described = select(_FIELD.c.name, table.c.description, table.c.at).join(_FIELD, _FIELD.c.id == table.c.id)
    for row in ids.connection.execute(described.where(mine)).all():
        ids.rows.describe_field(ids.fields.id(stays, row.name, BEGINNING), stays, row.description, row.at)
    ids.connection.execute(delete(table).where(mine))


def _merge_attributes(ids: IdResolver, stays: int, goes: int) -> None:
    dataset = schema.dataset
    row = ids.connection.execute(select(dataset).where(dataset.c.id == goes)).one()._mapping
    for name in ("source", "lifecycle", "version", "description"):
        ids.rows.propose_attribute((dataset, name), stays, row[name], row[f"{name}_at"])
    for moment in filter(None, (row["first_at"], row["last_at"])):
        ids.rows.span(dataset, stays, moment)
    placed = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == goes, _FIELD.c.ordinal.is_not(None))
    _propose_schema(ids, stays, placed.order_by(_FIELD.c.ordinal), (row["schema_at"], row["schema_digest"]))
    current = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == goes, _FIELD.c.spelled_by == CURRENT)
    _propose_schema(ids, stays, current, (row["written_at"], row["written_digest"]), written=True)


def _propose_schema(
    ids: IdResolver,
    stays: int,
    fields: Select[Any],
    moment: tuple[int | None, bytes | None],
    *,
    written: bool = False,
) -> None:
    """Give a dataset the schema of the other, with its moment."""
    at, digest = moment
    if at is None or digest is None:
        return
    rows = ids.connection.execute(fields).all()
    placed = tuple((ids.fields.id(stays, row.name, BEGINNING), row.type, row.name) for row in rows)
    if written:
        ids.rows.spellings.schema(stays, DatedSchema(at, digest, placed))
    else:
        ids.rows.propose_schema(stays, DatedSchema(at, digest, placed), written=False)
