"""What the events of runs say together: facets, times, arguments."""

from collections.abc import Collection
from dataclasses import dataclass, field

from sqlalchemy import Connection, func, select

from headwater.openlineage.reading.json_values import Record, record, records, text
from headwater.store import schema
from headwater.store.catalog.events import unpacked
from headwater.store.catalog.facets import Facets, merged
from headwater.store.sql.rows import rows_for

ARGUMENTS = "marquez_run"
"""The facet in which a run that is made over HTTP keeps what Marquez calls its arguments."""

Name = tuple[str, str]

_EVENT = schema.event


@dataclass(slots=True)
class RunEvents:
    """What events say of a run; ``inputs`` and ``outputs`` are the facets of that run's datasets, by their names."""

    first_at: int = 0
    last_at: int = 0
    facets: Facets = field(default_factory=dict)
    job_facets: Facets = field(default_factory=dict)
    inputs: dict[Name, Facets] = field(default_factory=dict)
    outputs: dict[Name, Facets] = field(default_factory=dict)

    @property
    def nominal_start(self) -> str:
        """When the run was due, as it was told; or empty (NominalTimeRunFacet 1-0-1)."""
        return text(self.facets, "nominalTime", "nominalStartTime")

    @property
    def nominal_end(self) -> str:
        """The end of the time that the run is for."""
        return text(self.facets, "nominalTime", "nominalEndTime")

    @property
    def arguments(self) -> dict[str, str]:
        """What Marquez makes a run's arguments of (OpenLineageDao.createRunArgs): nominal times and the parent."""
        told = {text(name): text(value) for name, value in record(self.facets, ARGUMENTS, "args").items()}
        made = {
            "nominal_start_time": self.nominal_start,
            "nominal_end_time": self.nominal_end,
            "run_id": text(self.facets, "parent", "run", "runId"),
            "name": text(self.facets, "parent", "job", "name"),
            "namespace": text(self.facets, "parent", "job", "namespace"),
        }
        return {name: value for name, value in made.items() if value} | told


def whole(connection: Connection, runs: Collection[int]) -> dict[int, RunEvents]:
    """What the events of runs say, the later over the earlier."""
    question = select(_EVENT.c.run_id, _EVENT.c.at, _EVENT.c.payload).order_by(_EVENT.c.at, _EVENT.c.digest)
    found: dict[int, RunEvents] = {}
    for row in rows_for(connection, runs, lambda some: question.where(_EVENT.c.run_id.in_(some))):
        told = found.setdefault(row.run_id, RunEvents(row.at))
        told.last_at = row.at
        _add(told, unpacked(row.payload))
    return found


def spans(connection: Connection, runs: Collection[int]) -> dict[int, RunEvents]:
    """Only when events first and last spoke of runs, which needs no event to be read."""
    at = _EVENT.c.at
    question = select(_EVENT.c.run_id, func.min(at), func.max(at)).group_by(_EVENT.c.run_id)
    rows = rows_for(connection, runs, lambda some: question.where(_EVENT.c.run_id.in_(some)))
    return {run: RunEvents(first, last) for run, first, last in rows}


def _add(told: RunEvents, event: Record) -> None:
    told.facets = merged(told.facets, record(event, "run", "facets"))
    told.job_facets = merged(told.job_facets, record(event, "job", "facets"))
    for facets, entries, kind in ((told.inputs, "inputs", "inputFacets"), (told.outputs, "outputs", "outputFacets")):
        for one in records(event, entries):
            name = text(one, "namespace"), text(one, "name")
            facets[name] = merged(facets.get(name, {}), record(one, kind))
