"""Views as documents for the page: tables of parallel arrays that refer to each other by place."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeVar

from headwater.answers.compact import arrays_of, names_of
from headwater.answers.documents import Document
from headwater.model import ColumnLineage, Dataset, Transformation
from headwater.model.time import iso
from headwater.store.questions import Column, Direction, KnownJob, View

Key = TypeVar("Key")
_EDGE = ("input", "output", "transformation", "job", "stale")


def of_view(view: View, as_of: int | None = None, *, up: int | None = None, down: int | None = None) -> Document:
    """Return a view as ``web/src/model/view.ts`` declares it, the nearest columns first.

    Args:
        view: as the reader may see it.
        as_of: the moment of its lineage in microseconds since 1970, None for now.
        up: the depth of the request before the column, None for any.
        down: the same after it.
    """
    graph, distance = view.graph, view.graph.closure.distance
    datasets = _places(graph.datasets)
    columns = _places(sorted(distance, key=lambda one: (distance[one], one)))
    jobs = _jobs(view)
    start = graph.start
    focus = (start.dataset.id, columns[start.id]) if isinstance(start, Column) else (start.id, -1)
    return {
        "focus": {"dataset": datasets[focus[0]], "column": focus[1]},
        "asOf": None if as_of is None else iso(as_of),
        "depth": {"up": up, "down": down},
        "datasets": names_of((id_, one.dataset) for id_, one in graph.datasets.items())
        | {"width": [view.widths.get(id_, 0) for id_ in graph.datasets]},
        "columns": _columns(view, columns, datasets),
        **_transformations(graph.transformations.values()),
        "jobs": names_of(jobs.items()),
        "stale": _overwrites(view, _places(jobs)),
        "edges": _edges(view, columns, datasets, _places(jobs)),
        "truncated": list(graph.closure.truncated),
    }


def of_unwritten(lineage: ColumnLineage, output: Dataset) -> Document:
    """Return the lineage of a dataset that no job has written yet as a view of it; ids are counted from 1."""
    datasets = _places([output, *sorted(lineage.sources)])
    inputs = [(one, name) for one, names in sorted(lineage.sources.items()) for name in names]
    columns = _places([*((output, name) for name in lineage.fields), *inputs])
    kinds, widths = _places(lineage.transformations), Counter(dataset for dataset, _ in columns)
    ends: dict[str | None, int] = {None: -1, **{name: columns[output, name] for name in lineage.fields}}
    edges = [
        (columns[one.input.dataset, one.input.name], ends[name], kinds[one.transformation], 0, -1)
        for name, one in lineage.edges
    ]
    return {
        "focus": {"dataset": 0, "column": -1},
        "asOf": None,
        "depth": {"up": None, "down": None},
        "datasets": names_of((place + 1, one) for one, place in datasets.items())
        | {"width": [widths[one] for one in datasets]},
        "columns": arrays_of(
            ("id", "dataset", "field", "dataType", "within", "up", "down", "moreUp", "moreDown"),
            [
                (
                    place + 1,
                    datasets[one],
                    name,
                    None,
                    None,
                    *((0, 0) if place < len(lineage.fields) else (1, None)),
                    0,
                    0,
                )
                for (one, name), place in columns.items()
            ],
        ),
        **_transformations(kinds),
        "jobs": names_of([(1, output)]),
        "stale": arrays_of(("since", "run", "job"), []),
        "edges": arrays_of(_EDGE, sorted(edges)),
        "truncated": [],
    }


def _places(keys: Iterable[Key]) -> dict[Key, int]:
    return {key: place for place, key in enumerate(keys)}


def _jobs(view: View) -> dict[int, Any]:
    """Return the jobs of edges, then those that only overwrote something, by id."""
    overwriting = (one.job for one in view.overwrites.values())
    return {**view.graph.jobs, **{job.id: job for job in overwriting if isinstance(job, KnownJob)}}


def _columns(view: View, columns: dict[int, int], datasets: dict[int, int]) -> Document:
    closure = view.graph.closure
    up, down = (closure.sides.up, closure.sides.down) if closure.sides is not None else ({}, {})
    return {
        "id": list(columns),
        "dataset": [datasets[closure.dataset_of[one]] for one in columns],
        "field": [view.graph.fields[one] for one in columns],
        "dataType": [view.types.get(one) for one in columns],
        "within": [closure.column_of(one) if one in closure.nodes else None for one in columns],
        "up": [up.get(one) for one in columns],
        "down": [down.get(one) for one in columns],
        "moreUp": [int(one in view.more[Direction.UP]) for one in columns],
        "moreDown": [int(one in view.more[Direction.DOWN]) for one in columns],
    }


def _transformations(kinds: Iterable[Transformation]) -> Document:
    """Return the table of transformations, and that of their descriptions, each text once."""
    kinds = list(kinds)
    texts = _places(dict.fromkeys(one.description for one in kinds if one.description))
    rows = [
        (
            *(one.subtype.type.value, one.subtype.value, one.masking, one.opaque, one.guess),
            texts.get(one.description, -1),
        )
        for one in kinds
    ]
    names = ("type", "subtype", "masking", "opaque", "guess", "description")
    return {"transformations": arrays_of(names, rows), "descriptions": list(texts)}


def _overwrites(view: View, jobs: dict[int, int]) -> Document:
    rows = [
        (iso(one.at), one.run, jobs[one.job.id]) for one in view.overwrites.values() if isinstance(one.job, KnownJob)
    ]
    return arrays_of(("since", "run", "job"), rows)


def _edges(view: View, columns: dict[int, int], datasets: dict[int, int], jobs: dict[int, int]) -> Document:
    closure, kinds, stale = view.graph.closure, _places(view.graph.transformations), _places(view.overwrites)
    rows = []
    for source, output, kind, job in closure.rows:
        dataset = closure.dataset_of[output] if output > 0 else -output
        end = columns[output] if output > 0 else -1 - datasets[dataset]
        rows.append((columns[source], end, kinds[kind], jobs[job], stale.get((job, dataset), -1)))
    return arrays_of(_EDGE, rows)
