"""The datasets of an event: which one each name means, and the descriptions that the event has of it.

One dataset under all its names: a table with a location and a name in a catalog is one row. An event that changes a
name lets it mean another dataset, from its moment on.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import and_, bindparam, insert, select, update

from headwater.model import Dataset, DatasetDescription, Symlink
from headwater.model.names import FieldRename, caseless, folded, key_of, own_name
from headwater.model.nested_fields import field_within, name_parts, nested_name
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.openlineage.reading.facets import descriptions_of, schema_digest, schema_of_version, twins_of
from headwater.store import schema
from headwater.store.ingest.dataset_merge import merge_datasets
from headwater.store.ingest.field_spelling import READ, WRITTEN, DatedSchema
from headwater.store.ingest.ids import IdResolver, Meaning
from headwater.store.ingest.replacements import pairs_of_dataset
from headwater.store.ingest.tags import FACET, FacetTags, dataset_tags
from headwater.store.ingest.write import write_change, write_fields, write_names

_EVENT = schema.event.c
_NAME = schema.dataset_name
_NEW_NAME = insert(_NAME).returning(_NAME.c.id)
_NEW_DATASET = insert(schema.dataset).returning(schema.dataset.c.id)
_END = update(_NAME).where(_NAME.c.id == bindparam("row")).values(until=bindparam("moment"))
_PAIR = and_(schema.symlink.c.name_id == bindparam("name_id"), schema.symlink.c.other_id == bindparam("other_id"))
_JOINED = select(schema.symlink.c.type).where(_PAIR)

_OF_TABLES = frozenset({"ALTER", "DROP", "RENAME", "TRUNCATE"})
"""Lifecycle changes of a table that write no rows."""

_LONGEST_TEXT = 20_000  # of a description; the whole of it stays in the event
_FIELD = schema.field.c
_CALL = update(schema.field).where(_FIELD.id == bindparam("row"))
_CALL = _CALL.values(
    name=bindparam("shown"), folded_key=bindparam("folded"), spelling=bindparam("shown"), spelled_by=WRITTEN
)
_NAME_OF = select(_FIELD.name).where(_FIELD.id == bindparam("row"))


def dataset_id(ids: IdResolver, dataset: Dataset, at: int, symlinks: Iterable[Symlink] = ()) -> int:
    """Return the id of the dataset that a name means at a moment, after joining it with its other names."""
    meaning = _meaning(ids, dataset, at)
    owner = meaning.dataset
    for link in symlinks:
        if link.dataset != dataset:
            owner = _join(ids, (meaning.id, owner), link, at)
    return owner


def claim(ids: IdResolver, dataset: Dataset, at: int, owner: int) -> int:
    """Let a name mean a dataset from a moment on, which is joined with that of the name; return the dataset."""
    found = next((one for one in ids.meanings(dataset) if one.covers(at)), None)
    if found is None:
        _add(ids, dataset, owner, (at, _free_span(ids.meanings(dataset), at)[1]))
    elif found.dataset != owner:
        merge_datasets(ids, owner, found.dataset)
    return owner


def end(ids: IdResolver, dataset: Dataset, at: int) -> None:
    """End what a name means at a moment: from then on it is the name of another dataset, or of none."""
    meanings = ids.meanings(dataset)
    for place, one in enumerate(meanings):
        if one.spans(at):
            ids.connection.execute(_END, {"row": one.id, "moment": at})
            meanings[place] = one._replace(until=at)
            name_by_location(ids, one.dataset)


def _meaning(ids: IdResolver, dataset: Dataset, at: int, owner: int | None = None) -> Meaning:
    for one in ids.meanings(dataset):
        if one.covers(at):
            return one
    return _add(ids, dataset, owner, _free_span(ids.meanings(dataset), at))


def _add(ids: IdResolver, dataset: Dataset, owner: int | None, span: tuple[int, int]) -> Meaning:
    names, first = {"namespace": dataset.namespace, "name": dataset.name}, key_of(dataset.namespace, dataset.name)
    write_names(ids.connection, ids.rows)
    if owner is None:
        owner = int(ids.connection.execute(_NEW_DATASET, names).scalar_one())
    since, until = span
    if since == BEGINNING:
        keys = {"key": first, "first_key": None}
    else:
        keys = {"key": key_of(dataset.namespace, dataset.name, str(since)), "first_key": first}
    values = {**names, **keys, "folded": folded(dataset), "dataset_id": owner, "since": since, "until": until}
    added = Meaning(int(ids.connection.execute(_NEW_NAME, values).scalar_one()), owner, since, until)
    ids.meanings(dataset).append(added)
    return added


def _free_span(meanings: list[Meaning], at: int) -> tuple[int, int]:
    """The time around a moment in which a name has no meaning yet.

    >>> _free_span([Meaning(1, 1, 10, 20), Meaning(2, 2, 30, FOREVER)], 25)
    (20, 30)
    """
    since = max((one.until for one in meanings if one.until <= at), default=BEGINNING)
    return since, min((one.since for one in meanings if one.since > at), default=FOREVER)


def _join(ids: IdResolver, declaring: tuple[int, int], link: Symlink, at: int) -> int:
    name_id, owner = declaring
    write_names(ids.connection, ids.rows)
    other_id, other_owner, *_ = _meaning(ids, link.dataset, at, owner)
    pair = {"name_id": name_id, "other_id": other_id}
    if ids.connection.execute(_JOINED, pair).first() is not None:
        return owner
    ids.connection.execute(insert(schema.symlink).values(**pair, type=link.type))
    if other_owner != owner:
        merge_datasets(ids, owner, other_owner)
    name_by_location(ids, owner)
    return owner


def name_by_location(ids: IdResolver, owner: int) -> None:
    """Name the dataset by that of its latest names that declares the others; of several the first in the alphabet.

    Producers name a table by its location and its catalog names as symlinks (OpenLineage, "Dataset naming").
    """
    named = ids.connection.execute(select(_NAME).where(_NAME.c.dataset_id == owner)).all()
    latest = max(row.until for row in named)
    names = [row for row in named if row.until == latest]
    links = select(schema.symlink.c.other_id).join(_NAME, _NAME.c.id == schema.symlink.c.other_id)
    declared = set(ids.connection.execute(links.where(_NAME.c.dataset_id == owner)).scalars())
    declaring = [row for row in names if row.id not in declared] or names
    first = min(declaring, key=lambda row: (row.namespace, row.name))
    values = {"namespace": first.namespace, "name": first.name}
    ids.connection.execute(update(schema.dataset).where(schema.dataset.c.id == owner).values(**values))


def resolve_names(ids: IdResolver, events: Sequence[Event]) -> None:
    """Add the names of an event's datasets, or the changes of names in all events of one moment.

    Changes at one moment happen at once: former names are those of just before it, whichever event comes first.
    """
    changes = [(output, event.at) for event in events if event.state in SUCCESSFUL for output in event.outputs]
    if any(event.renames for event in events):
        formers = [_former(ids, output, at) for output, at in changes]
        for output, at in changes:
            for change in output.description.names:
                for ended in filter(None, (change.former, change.present)):
                    end(ids, ended, at)
        for former, (output, at) in zip(formers, changes, strict=True):
            _begin(ids, former, output, at)
        return
    for event in events:
        for seen in (*event.inputs, *(output.description for output in event.outputs)):
            dataset_id(ids, seen.dataset, event.at, seen.symlinks)


def datasets_across_renames(ids: IdResolver, event: Event) -> set[int]:
    """Return the datasets that events in the store name which are later than this event's changes of names."""
    if not event.renames or event.state not in SUCCESSFUL:
        return set()
    owners = {one.dataset for named in _changed(event) for one in ids.meanings(named) if one.spans(event.at)}
    for output in event.outputs:
        if output.description.fields:
            meanings = ids.meanings(output.description.dataset)
            # What has the name from that very moment on is the dataset whose fields are renamed, too.
            owners |= {one.dataset for one in meanings if one.covers(event.at - 1) or one.covers(event.at)}
    return {owner for owner in owners if _has_later(ids, owner, event)}


def joined_twins(ids: IdResolver, event: Event) -> set[int]:
    """The datasets whose fields were taken for one so far, though an event shows that they differ in case only.

    Of datasets without fields it is noted at once, so that nothing has to be read again.
    """
    if not event.twins or (event.renames and event.state not in SUCCESSFUL):
        return set()
    seen = [(one.dataset, event.at, twins_of(one)) for one in (() if event.renames else event.inputs)]
    seen += [(one.description.dataset, one.named_at(event.at), one.twins) for one in event.outputs]
    joined: set[int] = set()
    for named, at, twins in seen:
        owner = dataset_id(ids, named, at)
        if twins <= ids.fields.twins(owner):
            continue
        if ids.fields.has_any(owner):
            joined.add(owner)
        else:
            ids.fields.add_twins(owner, twins)
    return joined


def _former(ids: IdResolver, output: WrittenDataset, at: int) -> Dataset:
    """A name of the dataset just before, which all its former names mean."""
    former = _former_name(output)
    dataset_id(ids, former, at - 1, [Symlink(change.former) for change in output.description.names])
    return former


def _former_name(output: WrittenDataset) -> Dataset:
    described = output.description
    return {change.present: change.former for change in described.names}.get(described.dataset, described.dataset)


def _begin(ids: IdResolver, former: Dataset, output: WrittenDataset, at: int) -> None:
    described = output.description
    for change in described.names:
        if change.present is not None:
            claim(ids, change.present, at, dataset_id(ids, former, at - 1))
    if output.named_at(at) == at:
        dataset_id(ids, described.dataset, at, described.symlinks)
    owner = dataset_id(ids, former, at - 1)
    name_by_location(ids, owner)
    for renamed in described.fields:
        ids.fields.rename(owner, FieldRename(at, renamed.former, renamed.present))


def _changed(event: Event) -> Iterator[Dataset]:
    for output in event.outputs:
        for change in output.description.names:
            yield from filter(None, (change.former, change.present))


def names_of_changes(event: Event) -> set[Dataset]:
    """All names in an event that changes names; none where it does not, or its run failed."""
    if not event.renames or event.state not in SUCCESSFUL:
        return set()
    outputs = [one.description for one in event.outputs]
    linked = (link.dataset for one in outputs for link in one.symlinks)
    return {*(one.dataset for one in outputs), *linked, *_changed(event)}


def _has_later(ids: IdResolver, owner: int, event: Event) -> bool:
    """Whether another event from that moment on is of a run that is about a dataset, or has lineage of it."""
    ids.flush()
    lineage, in_run, changed = schema.lineage.c, schema.run_dataset.c, schema.dataset_change.c
    later = select(_EVENT.id).where(_EVENT.at >= event.at, _EVENT.digest != event.digest)
    outputs = {output for _, output in pairs_of_dataset(ids.connection, owner)}
    questions = (
        later.join(table, of_run == _EVENT.run_id).where(about)
        for table, of_run, about in (
            (schema.run_dataset, in_run.run_id, in_run.dataset_id == owner),
            (schema.dataset_change, changed.run_id, changed.dataset_id == owner),
            # Names in lineage mean what they do at its event, which may come after the end of its run.
            (schema.lineage, lineage.run_id, lineage.output_id.in_(outputs)),
        )
    )
    return any(ids.connection.execute(question.limit(1)).first() for question in questions)


def describe(ids: IdResolver, event: Event, run_id: int) -> None:
    """Add what an event contains of its datasets; one that renames, and failed, counts for nothing."""
    if event.renames and event.state not in SUCCESSFUL:
        return
    for seen in () if event.renames else event.inputs:
        ids.rows.add_run_dataset((run_id, _described(ids, seen, event, event.at), False), has_lineage=False)
    for output in event.outputs:
        owner = _described(ids, output.description, event, output.named_at(event.at), written=True)
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
        if output.description.fields:  # of the dataset that had the name, which may be another's from this moment on
            former = dataset_id(ids, _former_name(output), event.at - 1)
            if former != owner:
                write_change(ids.connection, ids.rows, run_id, former)
            _call_fields(ids, former, output, event.at)


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
    if renamed := bool(ids.fields.renames(dataset)):
        placed = [(*one[:2], one[2] if ids.fields.still_named(dataset, one[2], at) else "") for one in placed]
    ids.rows.propose_schema(dataset, DatedSchema(at, schema_digest(seen), tuple(placed), renamed), written=written)
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
    counted = ids.fields.renames(owner)
    for renamed in output.description.fields:
        if FieldRename(at, renamed.former, renamed.present) not in counted:
            continue
        row = ids.fields.id(owner, renamed.former, at - 1)
        own = ids.fields.present_name(owner, renamed.former, at - 1)
        shown = ids.fields.spelling_of_rename(owner, own) or renamed.present
        write_fields(ids.connection, ids.rows)
        named = ids.connection.execute(_NAME_OF, {"row": row}).scalar_one()
        if own_name(named, ids.fields.twins(owner)) != own:
            ids.connection.execute(_CALL, {"row": row, "shown": shown, "folded": key_of(shown.casefold())})
        ids.rows.spell(row, WRITTEN, shown)
