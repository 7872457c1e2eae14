"""The graph of columns (Marquez, ColumnLineageResource and ColumnLineageService), with its quirks.

``inEdges`` lead from a node to those before it; a node that is only an input has the type ``""``; the members
``transformation…`` of a node are those of one of its input fields.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query
from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from headwater.answers.redaction import Redaction
from headwater.model import Dataset
from headwater.server.marquez import graph_schemas, nodes
from headwater.server.marquez.answers import Json, missing, truncation
from headwater.server.marquez.documents import Document, first_transformation, input_field
from headwater.server.marquez.nodes import Node
from headwater.server.marquez.query_params import redaction_of, sight
from headwater.server.routes import GuardedRoute
from headwater.server.server import Reader, TheServer
from headwater.store.catalog import field_lineage, job_versions, jobs, name_ids, runs
from headwater.store.catalog.field_lineage import ColumnGraph, ColumnNode, InputColumn
from headwater.store.questions.answers import Bounds, Column
from headwater.store.read_model import versions

router = APIRouter(prefix="/api/v1", tags=["lineage"], responses={400: {}, 404: {}}, route_class=GuardedRoute)

Start = tuple[list[int], int | None]
"""The fields to start at, and the moment of the lineage."""


@router.get("/column-lineage", response_model=graph_schemas.ColumnLineageGraph)
def graph(
    node_id: Annotated[str, Query(alias="nodeId")],
    caller: Reader,
    server: TheServer,
    depth: Annotated[int, Query(ge=0, le=10_000)] = 20,
    with_downstream: Annotated[bool, Query(alias="withDownstream")] = False,
) -> Json:
    """Return the columns before those of a field, a dataset or a job, and with ``withDownstream`` also those after."""
    limits = server.settings
    bounds = field_lineage.within(
        Bounds(columns=limits.node_limit, seconds=limits.time_limit), min(depth, limits.depth_limit)
    )
    with server.seen_by(caller).read() as connection:
        node = nodes.find(connection, node_id, sight(caller))
        if node.kind == "run":
            raise HTTPException(
                400, f"Unsupported NodeId: {node_id[:100]!r}: expected one of a dataset, a field or a job."
            )
        if node.version is not None and with_downstream:
            raise HTTPException(400, "Node version cannot be specified when withDownstream is true")
        fields, moment = _start(connection, node) or missing("Node", node_id)
        found = field_lineage.around(connection, fields, replace(bounds, as_of=moment), downstream=with_downstream)
        shown = _Nodes(found, redaction_of(caller, connection), versioned=node.version is not None).nodes()
    return Json({"graph": shown}, headers=truncation(found.truncated))


def _start(connection: Connection, node: Node) -> Start | None:
    start = _start_at_job(connection, node) if node.job is not None else _start_at_dataset(connection, node)
    return start if start is not None and start[0] else None


def _start_at_dataset(connection: Connection, node: Node) -> Start | None:
    fields = [node.field_id] if node.field_id else name_ids.field_ids(connection, node.id)
    if node.version is None:
        return fields, None
    named = versions.named(connection, node.id)
    found = versions.find(connection, node.id, named, node.version)
    return None if found is None else (fields, found.at)


def _start_at_job(connection: Connection, node: Node) -> Start | None:
    """Return the columns that the newest run of a job, or of a version of it, wrote."""
    if node.job is None or node.version is None:
        newest = runs.newest(connection, [node.id], 1).get(node.id)
        return None if newest is None else (field_lineage.written_by(connection, newest[0]), None)
    location = jobs.outlines(connection, [node.id])[node.id].location
    found = job_versions.find_version(connection, node.id, node.job, location, node.version)
    if found is None or found.run is None:
        return None
    return field_lineage.written_by(connection, found.run), found.newest_at


class _Nodes:
    """Columns as nodes of Marquez, in the order of their ids."""

    def __init__(self, graph: ColumnGraph, redaction: Redaction, *, versioned: bool) -> None:
        self._graph, self._redaction, self._versioned = graph, redaction, versioned
        self._onward: dict[str, set[str]] = {}
        for node in graph.nodes:
            for source in node.inputs:
                self._onward.setdefault(self._id(source.column), set()).add(self._id(node.column))

    def nodes(self) -> list[Document]:
        """Return the nodes with their edges."""
        return sorted((self._node(node) for node in self._graph.nodes), key=lambda node: str(node["id"]))

    def _node(self, node: ColumnNode) -> Document:
        own = self._id(node.column)
        return {
            "id": own,
            "type": "DATASET_FIELD",
            "data": self._data(node),
            "inEdges": _edges(own, {self._id(source.column) for source in node.inputs}),
            "outEdges": _edges(own, self._onward.get(own, ())),
        }

    def _data(self, node: ColumnNode) -> Document:
        owner = node.column.dataset.dataset
        shown, hidden = self._redaction.dataset(owner), self._redaction.hides(owner)
        kind = None if hidden else node.column.type or None
        return {
            "namespace": shown.namespace,
            "dataset": shown.name,
            "datasetVersion": self._version(node.column),
            "field": self._redaction.field(owner, node.column.name),
            "fieldType": kind if node.inputs else "",
            **first_transformation(node.inputs, self._redaction),
            "inputFields": [self._input(one) for one in node.inputs],
        }

    def _input(self, source: InputColumn) -> Document:
        document = input_field(source, self._redaction)
        names = ("namespace", "dataset")
        version = {"datasetVersion": self._version(source.column)}
        return {name: document[name] for name in names} | version | document

    def _id(self, column: Column) -> str:
        owner: Dataset = column.dataset.dataset
        version = self._graph.versions.get(column.dataset.id) if self._versioned else None
        return nodes.of_field(self._redaction.dataset(owner), self._redaction.field(owner, column.name), version)

    def _version(self, column: Column) -> str | None:
        version = self._graph.versions.get(column.dataset.id)
        return self._redaction.version(column.dataset.dataset, version)


def _edges(origin: str, ends: Iterable[str]) -> list[Document]:
    return [{"origin": origin, "destination": end} for end in sorted(ends)]
