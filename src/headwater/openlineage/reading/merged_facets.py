"""The facets of several events taken together, whole and as they came: each as the latest event has it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from headwater.openlineage.identifiers import ARGUMENTS
from headwater.openlineage.reading.json_values import Record, record, records, text

Facets = dict[str, Any]
Name = tuple[str, str]
"""A namespace and a name."""

_DELETED = "_deleted"


def merged(earlier: Facets, later: Record) -> Facets:
    """Return facets with those of a later event; one that is deleted is none (OpenLineage, "deleting a facet")."""
    return {name: facet for name, facet in (earlier | later).items() if record(facet).get(_DELETED) is not True}


def dataset_entries(event: Record) -> Iterator[Record]:
    """Yield all datasets of an event; those that it writes come last, because their facets count."""
    yield from records(event, "inputs")
    yield from records(event, "outputs")
    if record(event, "dataset"):
        yield record(event, "dataset")


def facets_of_datasets(event: Record) -> list[tuple[Name, Record]]:
    """Return the facets of each dataset of an event, by its name."""
    return [(_name(one), record(one, "facets")) for one in dataset_entries(event)]


def facets_of_job(event: Record) -> Record:
    """Return the facets of the job of an event."""
    return record(event, "job", "facets")


def set_latest(merged: Facets, facet: str, latest: Iterable[Record]) -> None:
    """Set one facet to the last that any of the ``latest`` facets have; remove it where that is deleted."""
    for facets in latest:
        value = facets.get(facet) or next((one for name, one in facets.items() if text(name) == facet), None)
        if value is not None:
            merged[facet] = value
    if record(merged.get(facet)).get(_DELETED) is True:
        del merged[facet]


def source_url(facets: Facets | None) -> str:
    """Return the URL of a dataset's source; empty where no event has it (DatasourceDatasetFacet 1-0-1)."""
    return text(facets, "dataSource", "uri")


@dataclass(slots=True)
class RunEvents:
    """A run by its events; ``inputs`` and ``outputs`` are the facets of its datasets, by their names."""

    first_at: int = 0
    last_at: int = 0
    facets: Facets = field(default_factory=dict)
    job_facets: Facets = field(default_factory=dict)
    inputs: dict[Name, Facets] = field(default_factory=dict)
    outputs: dict[Name, Facets] = field(default_factory=dict)

    @property
    def nominal_start(self) -> str:
        """When the run was due, as an event has it; or empty (NominalTimeRunFacet 1-0-1)."""
        return text(self.facets, "nominalTime", "nominalStartTime")

    @property
    def nominal_end(self) -> str:
        """The end of the time that the run is for."""
        return text(self.facets, "nominalTime", "nominalEndTime")

    @property
    def arguments(self) -> dict[str, str]:
        """The run's arguments as Marquez makes them (OpenLineageDao.createRunArgs): nominal times and the parent."""
        arguments = {text(name): text(value) for name, value in record(self.facets, ARGUMENTS, "args").items()}
        made = {
            "nominal_start_time": self.nominal_start,
            "nominal_end_time": self.nominal_end,
            "run_id": text(self.facets, "parent", "run", "runId"),
            "name": text(self.facets, "parent", "job", "name"),
            "namespace": text(self.facets, "parent", "job", "namespace"),
        }
        return {name: value for name, value in made.items() if value} | arguments

    def add(self, event: Record) -> None:
        """Take a later event in, which overrides the earlier ones."""
        self.facets = merged(self.facets, record(event, "run", "facets"))
        self.job_facets = merged(self.job_facets, facets_of_job(event))
        sides = ((self.inputs, "inputs", "inputFacets"), (self.outputs, "outputs", "outputFacets"))
        for facets, entries, kind in sides:
            for one in records(event, entries):
                facets[_name(one)] = merged(facets.get(_name(one), {}), record(one, kind))


def _name(entry: Record) -> Name:
    return text(entry, "namespace"), text(entry, "name")
