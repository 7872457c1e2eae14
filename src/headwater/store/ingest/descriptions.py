"""What an event says of its datasets, whose names are known by now: schema, lifecycle, version, who touched them."""

from sqlalchemy import bindparam, select, update

from headwater.model import DatasetDescription
from headwater.model.field_names import own_name
from headwater.model.name_keys import key_of
from headwater.openlineage.reading.dataset_facets import schema_of_version
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.store import schema
from headwater.store.ingest.attributes import add_change, add_run_dataset, propose_attribute, propose_schema
from headwater.store.ingest.field_spelling import WRITTEN
from headwater.store.ingest.ids import Writer
from headwater.store.ingest.name_changes import moment_of
from headwater.store.ingest.symlinks import dataset_id
from headwater.store.ingest.tags import FACET, FacetTags, dataset_tags

_OF_TABLES = frozenset({"ALTER", "DROP", "RENAME", "TRUNCATE"})
"""Lifecycle changes of a table that write no rows."""

_LONGEST_TEXT = 20_000  # of a description; the whole of it stays in the event
_FIELD = schema.field.c
_CALL = update(schema.field).where(_FIELD.id == bindparam("row"))
_CALL = _CALL.values(
    name=bindparam("shown"), folded_key=bindparam("folded"), spelling=bindparam("shown"), spelled_by=WRITTEN
)
_NAME_OF = select(_FIELD.name).where(_FIELD.id == bindparam("row"))


def describe(writer: Writer, event: Event, run_id: int) -> None:
    """Notes what an event says of its datasets; one that renames, and failed, says nothing."""
    if event.renames and event.state not in SUCCESSFUL:
        return
    for seen in () if event.renames else event.inputs:
        add_run_dataset(writer, run_id, _described(writer, seen, event, event.at), written=False, has_lineage=False)
    for output in event.outputs:
        owner = _described(writer, output.description, event, moment_of(output, event.at), written=True)
        version = schema_of_version(output.description)
        if output.lineage is None and output.description.lifecycle in _OF_TABLES:
            if version is not None:
                writer.pending.keep_schema(version)
            add_change(writer, run_id, owner, None if version is None else (event.at, version.digest))
        else:
            owes_none = output.lineage is not None or _made_without_rows(event, output)
            add_run_dataset(writer, run_id, owner, written=True, has_lineage=owes_none)
            if version is not None:
                writer.pending.version_schema((run_id, owner, True), event.at, version)
        _call_fields(writer, owner, output, event.at)


def _made_without_rows(event: Event, output: WrittenDataset) -> bool:
    """Whether a run made a table and put nothing into it, as CREATE TABLE does: no lineage of it is missing."""
    return output.description.lifecycle == "CREATE" and not event.inputs and event.state in SUCCESSFUL


def _described(writer: Writer, seen: DatasetDescription, event: Event, at: int, *, written: bool = False) -> int:
    owner = dataset_id(writer, seen.dataset, at)
    if seen.dataset in event.references:
        return owner
    propose_schema(writer, owner, seen.schema, at, written=written)
    for name in ("source", "lifecycle", "version", "description"):
        if value := getattr(seen, name):
            propose_attribute(writer, (schema.dataset, name), owner, value[:_LONGEST_TEXT], at)
    writer.pending.seen(schema.dataset, owner, at)
    for facet in event.facets.get(seen.dataset, ()):
        writer.pending.facet((owner, 0), facet, at, event.digest)
        if facet == FACET:
            _tag(writer, owner, event, at)
    return owner


def _tag(writer: Writer, owner: int, event: Event, at: int) -> None:
    """Add the tags that an event's facets have of a dataset and its fields, under whichever of its names."""
    tags = frozenset(
        tag._replace(field_id=writer.field(owner, field, at) if field else 0)
        for named, of_entry in dataset_tags(event)
        if dataset_id(writer, named, at) == owner
        for field, tag in of_entry
    )
    writer.pending.tags((owner, 0), FacetTags(at, event.digest, tags))


def _call_fields(writer: Writer, owner: int, output: WrittenDataset, at: int) -> None:
    """Gives renamed fields the names that they have now."""
    for renamed in output.description.fields:
        row = writer.field(owner, renamed.former, at - 1)
        own = writer.present_name(owner, renamed.former, at - 1)
        shown = writer.spelling_of_rename(owner, own) or renamed.present
        writer.pending.write_fields(writer.connection)
        named = writer.connection.execute(_NAME_OF, {"row": row}).scalar_one()
        if own_name(named, writer.twins(owner)) != own:
            writer.connection.execute(_CALL, {"row": row, "shown": shown, "folded": key_of(shown.casefold())})
        writer.pending.spell(row, WRITTEN, shown)
