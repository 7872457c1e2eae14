"""The first step: from events to what they name, without a database."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from headwater.model import Dataset, DatasetDescription, Job, SchemaField, Transformation
from headwater.openlineage.reading.events import Event
from headwater.store.ingest.field_spelling import READ, WRITTEN


class DescribedFields(NamedTuple):
    """The fields of a dataset as an event has them: whether a reader's or a writer's, and when."""

    by: int
    dataset: Dataset
    at: int
    schema: Sequence[SchemaField]

    @property
    def names(self) -> list[str]:
        """The names of the fields, in their order."""
        return [field.name for field in self.schema]


class Batch(NamedTuple):
    """Events with all that they name, each once and in the order of the events.

    ``runs`` are the runs by UUID, each with the job that the first event which names it says. ``plain_names`` are the
    names of datasets that no event of the batch joins with another. ``renames`` is true when an event changes names,
    or shows fields that differ in case only: then the order of events decides about what a name means.
    """

    events: Sequence[Event]
    jobs: tuple[Job, ...]
    runs: dict[str, Job]
    transformations: tuple[Transformation, ...]
    datasets: tuple[Dataset, ...]
    plain_names: tuple[Dataset, ...]
    fields: tuple[DescribedFields, ...]
    renames: bool

    @property
    def by_digest(self) -> dict[bytes, Event]:
        """The events by their digests."""
        return {event.digest: event for event in self.events}


def read_batch(events: Sequence[Event]) -> Batch:
    """Return what events name."""
    runs: dict[str, Job] = {}
    for event in events:
        for uuid, job in _runs(event):
            runs.setdefault(uuid, job)
    lineages = [output.lineage for event in events for output in event.outputs if output.lineage is not None]
    descriptions = [one for event in events for one in _descriptions(event)]
    linked = {link.dataset for one in descriptions for link in one.symlinks}
    named = dict.fromkeys(one.dataset for one in descriptions) | dict.fromkeys(linked)
    return Batch(
        events,
        tuple(dict.fromkeys((*runs.values(), *(event.job for event in events)))),
        runs,
        tuple(dict.fromkeys(one for lineage in lineages for one in lineage.transformations)),
        tuple(named | dict.fromkeys(one for lineage in lineages for one in lineage.sources)),
        tuple(dict.fromkeys(one.dataset for one in descriptions if not one.symlinks and one.dataset not in linked)),
        tuple(one for event in events for one in _fields(event)),
        any(event.renames or event.twins for event in events),
    )


def _runs(event: Event) -> Iterator[tuple[str, Job]]:
    """The runs that an event names: the run's parent comes first."""
    if event.about.parent is not None and event.about.parent.run != event.run:
        yield event.about.parent.run, event.about.parent.job
    yield event.run, event.job


def _descriptions(event: Event) -> Iterable[DatasetDescription]:
    return (*event.inputs, *(output.description for output in event.outputs))


def _fields(event: Event) -> Iterator[DescribedFields]:
    described = [(WRITTEN, output.description) for output in event.outputs]
    for by, one in (*described, *((READ, one) for one in event.inputs)):
        if one.schema:
            yield DescribedFields(by, one.dataset, event.at, one.schema)
