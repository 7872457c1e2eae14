"""Node ids: ``dataset:NAMESPACE:NAME``, ``datasetField:NAMESPACE:NAME:FIELD``, ``job:NAMESPACE:NAME``, ``run:UUID``.

All but a run's may end in ``#`` and the UUID of a version (Marquez, NodeId.java). Names hold colons and hashes
themselves: of the possible readings of an id the first known one counts, the longest namespace and name first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from uuid import UUID

from sqlalchemy import Connection
from starlette.exceptions import HTTPException

from headwater.model import Dataset, Job
from headwater.openlineage.reading.json_values import text
from headwater.store.catalog import name_ids
from headwater.store.read_model.visibility import Sees

KINDS = ("dataset", "datasetField", "job", "run")
_MOST_COLONS = 60  # each is a place where a name may end; of a field's id there are as many readings as pairs


@dataclass(frozen=True, slots=True)
class Node:
    """A known node: the ids of the dataset, of its field, or of the job; ``run`` is a UUID as sent."""

    kind: str
    dataset: Dataset | None = None
    job: Job | None = None
    id: int = 0
    field_id: int = 0
    run: str = ""
    version: UUID | None = None

    @property
    def namespace(self) -> str:
        """The namespace of the dataset or job."""
        named = self.dataset or self.job
        return named.namespace if named is not None else ""


def of_dataset(dataset: Dataset, version: UUID | None = None) -> str:
    """Return the id of a dataset's node."""
    return _versioned(f"dataset:{dataset.namespace}:{dataset.name}", version)


def of_field(dataset: Dataset, field: str, version: UUID | None = None) -> str:
    """Return the id of the node of a dataset's field."""
    return _versioned(f"datasetField:{dataset.namespace}:{dataset.name}:{field}", version)


def of_job(job: Job) -> str:
    """Return the id of a job's node."""
    return f"job:{job.namespace}:{job.name}"


def find(connection: Connection, written: str, sees: Sees = None) -> Node:
    """Return the node with an id.

    Raises:
        HTTPException: 400, when the text is not an id; 404, when nothing that the caller may see has it.
    """
    written = text(written)
    kind, separator, rest = written.partition(":")
    if kind not in KINDS or not separator or written.count(":") > _MOST_COLONS:
        raise HTTPException(
            400,
            f"nodeId is {written[:100]!r}: expected dataset:NAMESPACE:NAME, datasetField:NAMESPACE:NAME:FIELD, "
            "job:NAMESPACE:NAME or run:UUID.",
        )
    node = _find(connection, kind, rest) or _find_version(connection, kind, rest)
    if node is None or not (node.kind == "run" or sees is None or sees(node.namespace)):
        raise HTTPException(404, f"Node {written[:200]!r} not found.")
    return node


def _find_version(connection: Connection, kind: str, rest: str) -> Node | None:
    """Return a node whose id ends in a version."""
    name, _, version = rest.rpartition("#")
    try:
        uuid = UUID(version)
    except ValueError:
        return None
    node = _find(connection, kind, name)
    return None if node is None else replace(node, version=uuid)


def _find(connection: Connection, kind: str, rest: str) -> Node | None:
    if kind == "run":
        return Node(kind, run=rest)
    if kind == "job":
        jobs = [Job(*pair) for pair in _pairs(rest)]
        ids = name_ids.job_ids(connection, jobs)
        return next((Node("job", job=one, id=ids[one]) for one in jobs if one in ids), None)
    return _find_dataset(connection, rest) if kind == "dataset" else _find_field(connection, rest)


def _find_dataset(connection: Connection, rest: str) -> Node | None:
    datasets = [Dataset(*pair) for pair in _pairs(rest)]
    ids = name_ids.dataset_ids(connection, datasets)
    return next((Node("dataset", one, id=ids[one]) for one in datasets if one in ids), None)


def _find_field(connection: Connection, rest: str) -> Node | None:
    readings = [(Dataset(*pair), field) for owner, field in _pairs(rest) for pair in _pairs(owner)]
    ids = name_ids.dataset_ids(connection, {owner for owner, _ in readings})
    for owner, field in readings:
        found = name_ids.field_ids(connection, ids[owner], field) if owner in ids else []
        if found:
            return Node("datasetField", owner, id=ids[owner], field_id=found[0])
    return None


def _pairs(written: str) -> Iterator[tuple[str, str]]:
    """Return every reading of a text as two names with a colon between, the longest first name first.

    >>> list(_pairs("s3://b:c"))
    [('s3://b', 'c'), ('s3', '//b:c')]
    """
    place = written.rfind(":")
    while place > 0:
        if place < len(written) - 1:
            yield written[:place], written[place + 1 :]
        place = written.rfind(":", 0, place)


def _versioned(written: str, version: UUID | None) -> str:
    return written if version is None else f"{written}#{version}"
