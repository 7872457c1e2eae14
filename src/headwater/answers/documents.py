"""Answers as JSON documents."""

from collections.abc import Iterable
from typing import Any

from headwater.model import Dataset, Job, Transformation
from headwater.model.time import iso
from headwater.redaction import redact
from headwater.store.questions import (
    Column,
    Coverage,
    DatasetGraph,
    Difference,
    End,
    FoundText,
    Graph,
    Hop,
    Impact,
    KnownDataset,
    Overwrite,
    Paths,
    PathTransformation,
    Roots,
    Sides,
    VersionPage,
)

Document = dict[str, Any]


def of_dataset(dataset: KnownDataset) -> Document:
    """Return a dataset with its other names."""
    return _named(dataset.dataset) | {"symlinks": [_named(alias) for alias in dataset.aliases]}


def of_column(column: Column) -> Document:
    """Return a column with the name of its dataset."""
    return _named(column.dataset.dataset) | _of_field(column)


def _of_field(column: Column) -> Document:
    """Return the name of a column; for a field within one the names of all fields from the column inwards too."""
    return {"field": column.name} | ({"path": list(column.path)} if column.path else {})


def of_job(job: Job) -> Document:
    """Return the name of a job."""
    return {"namespace": job.namespace, "name": job.name}


def of_transformation(transformation: Transformation) -> Document:
    """Return a transformation as the columnLineage facet writes it, with ``guess`` where it is one."""
    document = {
        "type": transformation.subtype.type.value,
        "subtype": transformation.subtype.value,
        "masking": transformation.masking,
        "opaque": transformation.opaque,
        "description": transformation.description,
    }
    return document | {"guess": True} if transformation.guess else document


def of_path_transformation(transformation: PathTransformation) -> Document:
    """Return the transformation of a path."""
    return of_kind(transformation.transformation) | {"wholeDataset": transformation.whole_dataset}


def of_kind(transformation: Transformation) -> Document:
    """Return a transformation without its description."""
    document = of_transformation(transformation)
    del document["description"]
    return document


def of_overwrite(run: Overwrite) -> Document:
    """Return a run that overwrote a dataset."""
    return {"run": run.run, "job": of_job(run.job), "at": iso(run.at)}


def _overwritten(runs: Iterable[Overwrite]) -> Document:
    """Return the runs that may have replaced the rows; nothing where there are none."""
    found = [of_overwrite(run) for run in runs]
    return {"possiblyReplaced": found} if found else {}


def of_hop(hop: Hop) -> Document:
    """Return a step; its output has no ``field`` when it acts on every column of the dataset."""
    output = of_column(hop.output) if hop.output is not None else _named(hop.output_dataset.dataset)
    return {
        "input": of_column(hop.input),
        "output": output,
        "transformations": [of_transformation(one) for one in hop.transformations],
        "job": of_job(hop.job),
    } | _overwritten([hop.possibly_replaced] if hop.possibly_replaced is not None else [])


def of_roots(answer: Roots) -> Document:
    """Return the roots of a column."""
    return {
        "column": of_column(answer.column),
        "origin": answer.origin.value if answer.origin is not None else None,
        "evidence": answer.evidence.value if answer.evidence is not None else None,
        "near": [of_column(one) for one in answer.near],
        "roots": [
            {
                "column": of_column(root.column),
                "origin": root.origin.value,
                "evidence": root.evidence.value if root.evidence is not None else None,
                "near": [of_column(one) for one in root.near],
                "transformations": [of_path_transformation(each) for each in root.transformations],
                "distance": root.distance,
                "jobs": [of_job(job) for job in root.jobs],
                "applications": [of_job(application) for application in root.applications],
            }
            | _overwritten(root.possibly_replaced)
            for root in answer.roots
        ],
        "truncated": list(answer.truncated),
    }


def of_graph(answer: Graph) -> Document:
    """Return a walk."""
    return {
        "start": of_start(answer.start),
        "direction": answer.direction.value,
        "columns": [
            of_column(column) | {"distance": far} | of_sides(answer.sides, column.id) | _of_end(answer.ends.get(column))
            for column, far in answer.columns.items()
        ],
        "hops": [of_hop(hop) for hop in answer.hops],
        "truncated": list(answer.truncated),
    }


def _of_end(end: End | None) -> Document:
    """Return the evidence on a column that nothing is before; of others nothing."""
    return {} if end is None else {"evidence": end.evidence.value, "near": [of_column(one) for one in end.near]}


def of_dataset_graph(answer: DatasetGraph) -> Document:
    """Return a walk collapsed to datasets; ``edges`` counts those between columns."""
    return {
        "start": of_start(answer.start),
        "direction": answer.direction.value,
        "datasets": [
            of_dataset(one) | {"distance": far} | of_sides(answer.sides, one.id) for one, far in answer.datasets.items()
        ],
        "hops": [
            {
                "input": _named(hop.input.dataset),
                "output": _named(hop.output.dataset),
                "transformations": [of_kind(one) for one in hop.transformations],
                "jobs": [of_job(job) for job in hop.jobs],
                "edges": hop.edges,
            }
            for hop in answer.hops
        ],
        "truncated": list(answer.truncated),
    }


def of_sides(sides: Sides | None, id_: int) -> Document:
    """Return the distances of a walk up and down, None on the side where the node is not; of another walk nothing."""
    return {} if sides is None else {"up": sides.up.get(id_), "down": sides.down.get(id_)}


def of_difference(answer: Difference) -> Document:
    """Return a difference: what was added, removed and changed."""
    about = answer.about
    return {
        "about": {"job": of_job(about)} if isinstance(about, Job) else of_start(about),
        "added": [of_hop(hop) for hop in answer.added],
        "removed": [of_hop(hop) for hop in answer.removed],
        "changed": [
            of_hop(one.after) | {"before": [of_transformation(before) for before in one.before.transformations]}
            for one in answer.changed
        ],
        "columns": {
            "added": [_typed(one) for one in answer.columns.added],
            "removed": [_typed(one) for one in answer.columns.removed],
            "changed": [
                _typed(one.after) | {"before": {"field": one.before.name, "type": one.before.type}}
                for one in answer.columns.changed
            ],
        },
        "truncated": list(answer.truncated),
    }


def of_versions(answer: VersionPage) -> Document:
    """Return the versions of a dataset."""
    return {
        "dataset": of_dataset(answer.dataset),
        "versions": [
            {
                "version": str(one.id),
                "at": iso(one.at),
                "run": one.run or None,
                "state": one.state,
                "job": of_job(one.job) if one.job.name else None,
                "columns": [{"field": column.name, "type": column.type} for column in one.columns],
            }
            for one in answer.versions
        ],
    }


def of_found_text(text_match: FoundText) -> Document:
    """Return a search result: a dataset, a column or a job, the place of the match, and an excerpt."""
    place = {"in": text_match.place.value, "excerpt": redact(text_match.excerpt)}
    if isinstance(text_match.about, Job):
        return {"kind": "job", **of_job(text_match.about), **place}
    if isinstance(text_match.about, KnownDataset):
        return {"kind": "dataset", **_named(text_match.about.dataset), **place}
    return {"kind": "column", **of_column(text_match.about), **place}


def _typed(column: Column) -> Document:
    return of_column(column) | {"type": column.type}


def of_coverage(coverage: Coverage) -> Document:
    """Return the coverage of an output, and its gaps."""
    return {
        "coverage": coverage.covered.value,
        "output": _named(coverage.output.dataset) if coverage.output is not None else None,
        "job": of_job(coverage.job),
        "run": coverage.run,
        "gaps": [{"kind": gap.kind, "what": gap.what, "why": gap.why} for gap in coverage.gaps],
    }


def of_impact(answer: Impact) -> Document:
    """Return everything that depends on the start."""
    return {
        "start": of_start(answer.start),
        "datasets": [
            of_dataset(one.dataset)
            | {
                "distance": one.distance,
                "jobs": [of_job(job) for job in one.jobs],
                "columns": [
                    {
                        **_of_field(impacted.column),
                        "distance": impacted.distance,
                        "transformations": [of_path_transformation(each) for each in impacted.transformations],
                    }
                    for impacted in one.columns
                ],
            }
            | (
                {}
                if one.columns
                else {"transformations": [of_path_transformation(each) for each in one.transformations]}
            )
            | _overwritten(one.possibly_replaced)
            for one in answer.datasets
        ],
        "truncated": list(answer.truncated),
    }


def of_paths(answer: Paths) -> Document:
    """Return the paths between two columns."""
    return {
        "source": of_column(answer.source),
        "target": of_column(answer.target),
        "paths": [
            {
                "columns": [of_column(column) for column in path.columns],
                "steps": [[of_hop(hop) for hop in step] for step in path.steps],
            }
            for path in answer.paths
        ],
        "truncated": list(answer.truncated),
    }


def of_start(start: Column | KnownDataset) -> Document:
    """Return the start of a walk."""
    return of_column(start) if isinstance(start, Column) else of_dataset(start)


def _named(dataset: Dataset) -> Document:
    return {"namespace": dataset.namespace, "name": dataset.name}
