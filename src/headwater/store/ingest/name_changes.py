"""The names that an event has of a dataset, and its changes of names: from then on a name means another dataset."""

from collections.abc import Iterator, Sequence

from sqlalchemy import select

from headwater.model import Dataset, Symlink
from headwater.model.field_names import FieldRename
from headwater.openlineage.reading.dataset_facets import twins_of
from headwater.openlineage.reading.events import SUCCESSFUL, Event, WrittenDataset
from headwater.store import schema
from headwater.store.ingest.ids import IdResolver
from headwater.store.ingest.replacements import pairs_of_dataset
from headwater.store.ingest.symlinks import claim, dataset_id, end, name_by_location

_EVENT = schema.event.c


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


def moment_of(output: WrittenDataset, at: int) -> int:
    """Return when the name of an event's output means that dataset: of one that is dropped, until just before."""
    return at - 1 if any(change.present is None for change in output.description.names) else at


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
    seen += [(one.description.dataset, moment_of(one, event.at), one.twins) for one in event.outputs]
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
    described = output.description
    former_of = {change.present: change.former for change in described.names}
    former = former_of.get(described.dataset, described.dataset)
    dataset_id(ids, former, at - 1, [Symlink(change.former) for change in described.names])
    return former


def _begin(ids: IdResolver, former: Dataset, output: WrittenDataset, at: int) -> None:
    described = output.description
    for change in described.names:
        if change.present is not None:
            claim(ids, change.present, at, dataset_id(ids, former, at - 1))
    if moment_of(output, at) == at:
        dataset_id(ids, described.dataset, at, described.symlinks)
    owner = dataset_id(ids, former, at - 1)
    name_by_location(ids, owner)
    for renamed in described.fields:
        ids.fields.rename(owner, FieldRename(at, renamed.former, renamed.present))


def _changed(event: Event) -> Iterator[Dataset]:
    for output in event.outputs:
        for change in output.description.names:
            yield from filter(None, (change.former, change.present))


def _has_later(ids: IdResolver, owner: int, event: Event) -> bool:
    """Whether another event from that moment on, or lineage that holds from then on, is about a dataset."""
    ids.flush()
    lineage, in_run, changed = schema.lineage.c, schema.run_dataset.c, schema.dataset_change.c
    later = select(_EVENT.id).where(_EVENT.at >= event.at, _EVENT.digest != event.digest)
    questions = [
        later.join(table, of_run == _EVENT.run_id).where(of_dataset == owner)
        for table, of_run, of_dataset in (
            (schema.run_dataset, in_run.run_id, in_run.dataset_id),
            (schema.dataset_change, changed.run_id, changed.dataset_id),
        )
    ]
    outputs = {output for _, output in pairs_of_dataset(ids.connection, owner)}
    questions.append(select(lineage.run_id).where(lineage.output_id.in_(outputs), lineage.at >= event.at))
    return any(ids.connection.execute(question.limit(1)).first() for question in questions)
