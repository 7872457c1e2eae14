"""The events of runs taken together: facets, times, arguments."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from headwater.openlineage.identifiers import ARGUMENTS
from headwater.openlineage.reading.json_values import Record, record, records, text
from headwater.store import schema
from headwater.store.catalog.events import unpacked
from headwater.store.catalog.facets import Facets, merged
from headwater.store.sql.rows import rows_for

Name = tuple[str, str]

_EVENT = schema.event


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


def whole(connection: Connection, runs: Collection[int]) -> dict[int, RunEvents]:
    """Return runs as their events describe them; later events override earlier ones."""
    question = select(_EVENT.c.run_id, _EVENT.c.at, _EVENT.c.payload).order_by(_EVENT.c.at, _EVENT.c.digest)
    found: dict[int, RunEvents] = {}
    for row in rows_for(connection, runs, lambda some: question.where(_EVENT.c.run_id.in_(some))):
        run = found.setdefault(row.run_id, RunEvents(row.at))
        run.last_at = row.at
        _add(run, unpacked(row.payload))
    return found


def spans(connection: Connection, runs: Collection[int]) -> dict[int, RunEvents]:
    """Only when events first and last spoke of runs, which needs no event to be read."""
    at = _EVENT.c.at
    question = select(_EVENT.c.run_id, func.min(at), func.max(at)).group_by(_EVENT.c.run_id)
    rows = rows_for(connection, runs, lambda some: question.where(_EVENT.c.run_id.in_(some)))
    return {run: RunEvents(first, last) for run, first, last in rows}


def _add(run: RunEvents, event: Record) -> None:
    run.facets = merged(run.facets, record(event, "run", "facets"))
    run.job_facets = merged(run.job_facets, record(event, "job", "facets"))
    for facets, entries, kind in ((run.inputs, "inputs", "inputFacets"), (run.outputs, "outputs", "outputFacets")):
        for one in records(event, entries):
            name = text(one, "namespace"), text(one, "name")
            facets[name] = merged(facets.get(name, {}), record(one, kind))
