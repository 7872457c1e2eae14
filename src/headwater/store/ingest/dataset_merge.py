"""Two datasets that turn out to be one: an event says that they are names of one table."""

from typing import Any

from sqlalchemy import Select, delete, select, update

from headwater.model.time import BEGINNING
from headwater.store import schema
from headwater.store.ingest.field_spelling import CURRENT, WRITTEN, DatedSchema, spelled
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.retraction import pairs_of_dataset, retract_lineage, retract_replacements
from headwater.store.ingest.tags import API, FACET, FacetTags, Tagging, put_tags
from headwater.store.ingest.write import write_change

_NAME = schema.dataset_name
_FIELD = schema.field


def merge_datasets(ids: IdResolver, kept: int, gone: int) -> None:
    """Make one dataset of two: the first stays, with the names, runs and descriptions of both."""
    ids.flush()
    pairs = pairs_of_dataset(ids.connection, kept) | pairs_of_dataset(ids.connection, gone)
    ids.rows.recompute(retract_lineage(ids.connection, pairs))
    ids.rows.recompute(retract_replacements(ids.connection, (kept, gone)))
    if ids.fields.renames(kept) or ids.fields.renames(gone) or ids.fields.twins(kept) != ids.fields.twins(gone):
        ids.merged_with_renames |= {kept} & _with_fields(ids, kept, gone)
    if gone in ids.merged_with_renames:
        ids.merged_with_renames = (ids.merged_with_renames - {gone}) | {kept}
    _merge_runs(ids, kept, gone)
    _merge_renames(ids, kept, gone)
    _merge_attributes(ids, kept, gone)
    _merge_tags(ids, kept, gone)
    _merge_facets(ids, kept, gone)
    _merge_fields(ids, kept, gone)
    ids.connection.execute(update(_NAME).where(_NAME.c.dataset_id == gone).values(dataset_id=kept))
    ids.connection.execute(delete(schema.dataset).where(schema.dataset.c.id == gone))
    ids.forget()


def _merge_fields(ids: IdResolver, kept: int, gone: int) -> None:
    if not ids.fields.renames(kept):
        for _, (_, best, by) in spelled(ids.connection, gone):
            ids.fields.ids(kept, [best], BEGINNING, min(by, WRITTEN))
    ids.flush()
    for table in (_FIELD, schema.field_twin):
        ids.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _with_fields(ids: IdResolver, kept: int, gone: int) -> set[int]:
    """The dataset that stays, when it or the other has fields already: they may be other ones after joining."""
    known = ids.connection.execute(select(_FIELD.c.id).where(_FIELD.c.dataset_id.in_((kept, gone))).limit(1))
    return {kept} if known.first() else set()


def _merge_renames(ids: IdResolver, kept: int, gone: int) -> None:
    for rename in ids.fields.renames(gone):
        ids.fields.rename(kept, rename)
    table = schema.field_rename
    ids.connection.execute(delete(table).where(table.c.dataset_id == gone))


def _merge_runs(ids: IdResolver, kept: int, gone: int) -> None:
    table = schema.run_dataset
    for row in ids.connection.execute(select(table).where(table.c.dataset_id == gone)).all():
        ids.rows.add_run_dataset((row.run_id, kept, row.written), has_lineage=row.has_lineage)
        if row.schema_digest is not None:
            place = (row.run_id, kept, row.written)
            ids.rows.set_version_schema(place, row.schema_at, row.schema_digest)
    ids.connection.execute(delete(table).where(table.c.dataset_id == gone))
    changed = schema.dataset_change
    for row in ids.connection.execute(select(changed).where(changed.c.dataset_id == gone)).all():
        left = None if row.schema_at is None else (row.schema_at, row.schema_digest)
        write_change(ids.connection, ids.rows, row.run_id, kept, left)
    ids.connection.execute(delete(changed).where(changed.c.dataset_id == gone))


def _merge_tags(ids: IdResolver, kept: int, gone: int) -> None:
    """Give the tags of a dataset to the one that stays; to be called before its facets and fields are merged."""
    connection, tagging, facet = ids.connection, schema.tagging, schema.facet
    mine = select(tagging, _FIELD.c.name.label("field")).outerjoin(_FIELD, _FIELD.c.id == tagging.c.field_id)
    of_facet: set[Tagging] = set()
    for row in connection.execute(mine.where(tagging.c.dataset_id == gone)).all():
        field_id = ids.fields.id(kept, row.field, BEGINNING) if row.field else 0
        tag = Tagging(field_id, row.tag, row.value, row.source)
        if row.source == API:
            put_tags(connection, [((kept, 0), row.at, tag)])
        else:
            of_facet.add(tag)
    last = select(facet.c.at, facet.c.event_digest).where(facet.c.dataset_id == gone, facet.c.name == FACET)
    if (latest := connection.execute(last).first()) is not None:
        ids.rows.set_tags((kept, 0), FacetTags(latest.at, latest.event_digest, frozenset(of_facet)))
    connection.execute(delete(tagging).where(tagging.c.dataset_id == gone))


def _merge_facets(ids: IdResolver, kept: int, gone: int) -> None:
    table = schema.facet
    mine = table.c.dataset_id == gone
    for row in ids.connection.execute(select(table).where(mine)).all():
        ids.rows.add_facet((kept, 0), row.name, row.at, row.event_digest)
    ids.connection.execute(delete(table).where(mine))


def _merge_attributes(ids: IdResolver, kept: int, gone: int) -> None:
    dataset = schema.dataset
    row = ids.connection.execute(select(dataset).where(dataset.c.id == gone)).one()._mapping
    for name in ("source", "lifecycle", "version", "description"):
        ids.rows.propose_attribute((dataset, name), kept, row[name], row[f"{name}_at"])
    for moment in filter(None, (row["first_at"], row["last_at"])):
        ids.rows.span(dataset, kept, moment)
    placed = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.ordinal.is_not(None))
    _propose_schema(ids, kept, placed.order_by(_FIELD.c.ordinal), (row["schema_at"], row["schema_digest"]))
    current = select(_FIELD.c.name, _FIELD.c.type).where(_FIELD.c.dataset_id == gone, _FIELD.c.spelled_by == CURRENT)
    _propose_schema(ids, kept, current, (row["written_at"], row["written_digest"]), written=True)


def _propose_schema(
    ids: IdResolver,
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
    rows = ids.connection.execute(fields).all()
    placed = tuple((ids.fields.id(kept, row.name, BEGINNING), row.type, row.name) for row in rows)
    if written:
        ids.rows.spellings.schema(kept, DatedSchema(at, digest, placed))
    else:
        ids.rows.propose_schema(kept, DatedSchema(at, digest, placed), written=False)
