"""The descriptions that an event has of its datasets, once names are resolved: schema, lifecycle, version, runs."""

from collections.abc import Mapping

from sqlalchemy import bindparam, select, update

from headwater.model import DatasetDescription
from headwater.model.names import caseless, key_of, own_name
from headwater.model.nested_fields import field_within, name_parts, nested_name
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.openlineage.reading.facets import descriptions_of, schema_digest, schema_of_version
from headwater.store import schema
from headwater.store.ingest.field_spelling import READ, WRITTEN, DatedSchema
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.names import dataset_id, moment_of
from headwater.store.ingest.tags import FACET, FacetTags, dataset_tags
from headwater.store.ingest.write import write_change, write_fields

_OF_TABLES = frozenset({"ALTER", "DROP", "RENAME", "TRUNCATE"})
"""Lifecycle changes of a table that write no rows."""

_LONGEST_TEXT = 20_000  # of a description; the whole of it stays in the event
_FIELD = schema.field.c
_CALL = update(schema.field).where(_FIELD.id == bindparam("row"))
_CALL = _CALL.values(
    name=bindparam("shown"), folded_key=bindparam("folded"), spelling=bindparam("shown"), spelled_by=WRITTEN
)
_NAME_OF = select(_FIELD.name).where(_FIELD.id == bindparam("row"))


def describe(ids: IdResolver, event: Event, run_id: int) -> None:
    """Add what an event contains of its datasets; one that renames, and failed, counts for nothing."""
    if event.renames and event.state not in SUCCESSFUL:
        return
    for seen in () if event.renames else event.inputs:
        ids.rows.add_run_dataset((run_id, _described(ids, seen, event, event.at), False), has_lineage=False)
    for output in event.outputs:
        owner = _described(ids, output.description, event, moment_of(output, event.at), written=True)
        version = schema_of_version(output.description)
        if output.lineage is None and output.description.lifecycle in _OF_TABLES:
            if version is not None:
                ids.rows.add_schema(version)
            write_change(
                ids.connection, ids.rows, run_id, owner, None if version is None else (event.at, version.digest)
            )
        else:
            owes_none = output.lineage is not None or _made_without_rows(event, output)
            ids.rows.add_run_dataset((run_id, owner, True), has_lineage=owes_none)
            if version is not None:
                ids.rows.add_version_schema((run_id, owner, True), event.at, version)
        _call_fields(ids, owner, output, event.at)


def _made_without_rows(event: Event, output: WrittenDataset) -> bool:
    """Whether a run made a table and put nothing into it, as CREATE TABLE does: no lineage of it is missing."""
    return output.description.lifecycle == "CREATE" and not event.inputs and event.state in SUCCESSFUL


def _described(ids: IdResolver, seen: DatasetDescription, event: Event, at: int, *, written: bool = False) -> int:
    owner = dataset_id(ids, seen.dataset, at)
    if seen.dataset in event.references:
        return owner
    if seen.schema:
        _propose_schema(ids, owner, seen, at, written=written)
    for name in ("source", "lifecycle", "version", "description"):
        if value := getattr(seen, name):
            ids.rows.propose_attribute((schema.dataset, name), owner, value[:_LONGEST_TEXT], at)
    ids.rows.span(schema.dataset, owner, at)
    for facet in event.facets.get(seen.dataset, ()):
        ids.rows.add_facet((owner, 0), facet, at, event.digest)
        if facet == FACET:
            _tag(ids, owner, seen, event, at)
    return owner


def _propose_schema(ids: IdResolver, dataset: int, seen: DatasetDescription, at: int, *, written: bool) -> None:
    """Make these the fields of a dataset, in this order, unless it has a later schema; and describe them."""
    fields = seen.schema
    by_name = ids.fields.ids(dataset, [field.name for field in fields], at, WRITTEN if written else READ)
    placed = [(by_name[field.name], field.type, field.name) for field in fields]
    if ids.fields.renames(dataset):
        placed = [(*one[:2], one[2] if ids.fields.still_named(dataset, one[2], at) else "") for one in placed]
    ids.rows.propose_schema(dataset, DatedSchema(at, schema_digest(seen), tuple(placed)), written=written)
    for name, description in descriptions_of(seen).items():
        ids.rows.describe_field(by_name[name], dataset, description[:_LONGEST_TEXT], at)


def _tag(ids: IdResolver, owner: int, seen: DatasetDescription, event: Event, at: int) -> None:
    """Add the tags that an event's facets have of a dataset and its fields, under whichever of its names."""
    types = {caseless(one.name): one.type for one in seen.schema or ()}
    named = (
        (tag, *_field_of(types, field))
        for one, own in dataset_tags(event)
        if dataset_id(ids, one, at) == owner
        for field, tag in own
    )
    tags = frozenset(
        tag._replace(field_id=ids.fields.id(owner, column, at) if column else 0, path=path)
        for tag, column, path in named
    )
    ids.rows.set_tags((owner, 0), FacetTags(at, event.digest, tags))


def _field_of(types: Mapping[str, str], name: str) -> tuple[str, str]:
    """Return the column that a name in a facet means, and the path within it: by the types of the same event."""
    column, *path = name_parts(name) or ("",)
    within = field_within(types.get(caseless(column), ""), path) if path and caseless(name) not in types else None
    return (name, "") if within is None else (column, nested_name(within[0]))


def _call_fields(ids: IdResolver, owner: int, output: WrittenDataset, at: int) -> None:
    """Give renamed fields the names that they have now."""
    for renamed in output.description.fields:
        row = ids.fields.id(owner, renamed.former, at - 1)
        own = ids.fields.present_name(owner, renamed.former, at - 1)
        shown = ids.fields.spelling_of_rename(owner, own) or renamed.present
        write_fields(ids.connection, ids.rows)
        named = ids.connection.execute(_NAME_OF, {"row": row}).scalar_one()
        if own_name(named, ids.fields.twins(owner)) != own:
            ids.connection.execute(_CALL, {"row": row, "shown": shown, "folded": key_of(shown.casefold())})
        ids.rows.spell(row, WRITTEN, shown)
