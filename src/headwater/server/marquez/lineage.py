"""The graph of jobs and datasets, and the runs before a run (Marquez, OpenLineageResource and LineageService)."""

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from sqlalchemy import Connection

from headwater.answers.redaction import Redaction
from headwater.model import Job
from headwater.server.marquez import documents, graph_schemas, nodes
from headwater.server.marquez.answers import Json, missing, truncation
from headwater.server.marquez.documents import Document, instant
from headwater.server.marquez.nodes import Node
from headwater.server.marquez.query_params import redaction_of, sight
from headwater.server.marquez.runs import known_run
from headwater.server.routes import GuardedRoute
from headwater.server.server import Reader, TheServer, TheStore
from headwater.store.catalog import datasets, events, field_lineage, job_graph, jobs, runs
from headwater.store.catalog.datasets import StoredDataset
from headwater.store.catalog.job_graph import JobGraph
from headwater.store.catalog.job_versions import job_uuid
from headwater.store.catalog.jobs import StoredJob
from headwater.store.catalog.runs import StoredRun

router = APIRouter(prefix="/api/v1", tags=["lineage"], responses={400: {}, 404: {}}, route_class=GuardedRoute)

Depth = Annotated[int, Query(ge=0, le=10_000)]


@router.get("/lineage", response_model=graph_schemas.Lineage)
def graph(
    node_id: Annotated[str, Query(alias="nodeId")],
    caller: Reader,
    server: TheServer,
    depth: Depth = 20,
    with_column_lineage: Annotated[bool, Query(alias="withColumnLineage")] = False,
) -> Json:
    """Return the jobs and datasets around one of them, by the present inputs and outputs of jobs.

    With ``withColumnLineage`` datasets have their ``columnLineage``, which Marquez does not offer.
    """
    with server.seen_by(caller).read() as connection:
        node = nodes.find(connection, node_id, sight(caller))
        if node.kind not in ("dataset", "job"):
            missing("Node of type dataset or job", node_id)
        found = _around(connection, node, min(depth, server.settings.depth_limit), server.settings.node_limit)
        shown = _Nodes(connection, found, redaction_of(caller, connection), with_column_lineage).nodes()
    limits = ("nodes",) if found.truncated else ()
    return Json({"graph": shown}, headers=truncation(limits))


@router.get("/runlineage/upstream", response_model=graph_schemas.UpstreamRunLineage)
def upstream(run_id: Annotated[str, Query(alias="runId")], caller: Reader, store: TheStore, depth: Depth = 20) -> Json:
    """Return a run and the runs that wrote its inputs, and so on."""
    with store.read() as connection:
        start = known_run(connection, caller, run_id)
        redaction = redaction_of(caller, connection)
        shown = [_upstream_run(one, redaction) for one in runs.upstream(connection, start.id, depth)]
    return Json({"runs": shown})


def _around(connection: Connection, node: Node, depth: int, most: int) -> JobGraph:
    around = job_graph.around_job if node.kind == "job" else job_graph.around_dataset
    return around(connection, node.id, depth, most)


class _Nodes:
    """A graph of ids as nodes of Marquez, in the order of their ids."""

    def __init__(self, connection: Connection, graph: JobGraph, redaction: Redaction, with_columns: bool) -> None:
        self._graph, self._redaction = graph, redaction
        self._jobs = jobs.outlines(connection, graph.jobs)
        self._datasets = datasets.outlines(connection, graph.datasets)
        self._facets = events.of_jobs(connection, graph.jobs)
        newest = runs.newest(connection, graph.jobs, 1)
        stored = runs.outlines(connection, [one for some in newest.values() for one in some])
        self._runs = {job: stored[some[0]] for job, some in newest.items()}
        self._columns = field_lineage.of_datasets(connection, graph.datasets) if with_columns else None

    def nodes(self) -> list[Document]:
        """Return the nodes with their edges, in the direction of the data."""
        ends = self._edges()
        shown = [self._job(job, ends) for job in self._jobs.values()]
        shown += [self._dataset(dataset, ends) for dataset in self._datasets.values()]
        return sorted(shown, key=lambda node: str(node["id"]))

    def _edges(self) -> "_Edges":
        edges = _Edges()
        for job, touch in self._graph.jobs.items():
            node = nodes.of_job(self._redaction.job(self._jobs[job].named))
            for one in touch.read.keys() & self._graph.datasets:
                edges.add(self._node_of(one), node)
            for one in touch.written.keys() & self._graph.datasets:
                edges.add(node, self._node_of(one))
        return edges

    def _node_of(self, dataset: int) -> str:
        return nodes.of_dataset(self._redaction.dataset(self._datasets[dataset].dataset))

    def _job(self, stored: StoredJob, edges: "_Edges") -> Document:
        shown = self._redaction.job(stored.named)
        data = _hidden_job(shown, stored) if shown != stored.named else self._job_data(stored)
        return edges.node(nodes.of_job(shown), "JOB", data)

    def _job_data(self, stored: StoredJob) -> Document:
        known = documents.with_facets(stored, self._facets[stored.id])
        run = self._runs.get(stored.id)
        return {
            **documents.job_outline(known, None if stored.parent is None else job_uuid(stored.parent), self._redaction),
            "latestRun": None if run is None else documents.run_document(run, self._redaction),
            "currentRunUuid": None if run is None else run.uuid,
        }

    def _dataset(self, stored: StoredDataset, edges: "_Edges") -> Document:
        shown = self._redaction.dataset(stored.dataset)
        hidden = self._redaction.hides(stored.dataset)
        data = documents.dataset_outline(documents.bare_dataset(stored, shown) if hidden else stored, shown)
        if self._columns is not None:
            lineage = {} if hidden else self._columns.get(stored.id, {})
            data["columnLineage"] = documents.column_lineage(lineage, self._redaction)
        return edges.node(nodes.of_dataset(shown), "DATASET", data)


class _Edges:
    def __init__(self) -> None:
        self._into: dict[str, set[str]] = {}
        self._out_of: dict[str, set[str]] = {}

    def add(self, origin: str, destination: str) -> None:
        self._out_of.setdefault(origin, set()).add(destination)
        self._into.setdefault(destination, set()).add(origin)

    def node(self, node: str, kind: str, data: Document) -> Document:
        return {
            "id": node,
            "type": kind,
            "data": data,
            "inEdges": [{"origin": one, "destination": node} for one in sorted(self._into.get(node, ()))],
            "outEdges": [{"origin": node, "destination": one} for one in sorted(self._out_of.get(node, ()))],
        }


def _hidden_job(shown: Job, stored: StoredJob) -> Document:
    data = documents.job_outline(documents.bare_job(stored, shown), None, Redaction(None))
    return data | {"latestRun": None, "currentRunUuid": None}


def _upstream_run(stored: StoredRun, redaction: Redaction) -> Document:
    job = redaction.job(stored.job)
    run: Mapping[str, Any] = {
        "id": stored.uuid,
        "start": instant(stored.started_at),
        "end": instant(stored.ended_at),
        "status": stored.state,
    }
    inputs = [
        documents.dataset_name(redaction.dataset(one.named))
        | {"version": redaction.version(one.named, one.version), "producedByRunId": one.run or None}
        for one in stored.inputs
    ]
    named = {"namespace": job.namespace, "name": job.name, "version": redaction.version(stored.job, stored.version)}
    return {"job": named, "run": run, "inputs": inputs}
