"""Large walks as documents of parallel arrays: one array for each property, one place in all of them for each thing."""

from collections.abc import Collection, Iterable
from typing import Any

from headwater.answers.documents import Document, of_start
from headwater.model import Dataset, Job, Transformation
from headwater.store.questions import CompactGraph, Reached, Sides

_LINK = ("input", "output", "transformation", "job")


def of_reached(answer: Reached, columns: Collection[int]) -> Document:
    """Return ids of columns with their distances, and which are reached by guesses only."""
    arrays = {"id": list(columns), "distance": [answer.distance[one] for one in columns]}
    guesses = _guesses(one in answer.guessed for one in columns) if answer.guessed else {}
    return {
        "start": of_start(answer.start),
        "direction": answer.direction.value,
        "columns": arrays | _sides(answer.sides, columns) | guesses,
        "truncated": list(answer.truncated),
    }


def of_compact(answer: CompactGraph, columns: Collection[int], links: Collection[tuple[int, ...]]) -> Document:
    """Return some columns and links of a graph with the names of all that they refer to."""
    owner, distance, fields = answer.closure.dataset_of, answer.closure.distance, answer.fields
    # Not by zip(*links): its iterators, one for each link, set off the garbage collector.
    arrays = [[link[place] for link in links] for place in range(len(_LINK))]
    _, outputs, transformations, jobs = arrays
    owners = [owner[one] for one in columns]
    named = {*owners, *(-one for one in outputs if one < 0)}
    return {
        "start": of_start(answer.start),
        "direction": answer.direction.value,
        "datasets": names_of((id_, answer.datasets[id_].dataset) for id_ in sorted(named)),
        "columns": {
            "id": list(columns),
            "dataset": owners,
            "field": [fields[one] for one in columns],
            "distance": [distance[one] for one in columns],
            **_sides(answer.closure.sides, columns),
        },
        "transformations": _transformations((id_, answer.transformations[id_]) for id_ in sorted(set(transformations))),
        "jobs": names_of((id_, answer.jobs[id_]) for id_ in sorted(set(jobs))),
        "edges": dict(zip(_LINK, arrays, strict=True)),
        "truncated": list(answer.closure.truncated),
    }


def names_of(names: Iterable[tuple[int, Dataset | Job]]) -> dict[str, Any]:
    """Return ids and names as a table of arrays."""
    return arrays_of(("id", "namespace", "name"), [(id_, one.namespace, one.name) for id_, one in names])


def _transformations(transformations: Iterable[tuple[int, Transformation]]) -> dict[str, Any]:
    transformations = list(transformations)
    rows = [
        (id_, one.subtype.type.value, one.subtype.value, one.masking, one.opaque, one.description)
        for id_, one in transformations
    ]
    arrays = arrays_of(("id", "type", "subtype", "masking", "opaque", "description"), rows)
    return arrays | _guesses(one.guess for _, one in transformations)


def _sides(sides: Sides | None, columns: Collection[int]) -> dict[str, list[int | None]]:
    if sides is None:
        return {}
    return {"up": [sides.up.get(one) for one in columns], "down": [sides.down.get(one) for one in columns]}


def _guesses(which: Iterable[bool]) -> dict[str, list[bool]]:
    """Return the flags of guesses; nothing where none is one."""
    guesses = list(which)
    return {"guess": guesses} if any(guesses) else {}


def arrays_of(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return rows as a table of arrays, one for each name."""
    arrays = list(zip(*rows, strict=True)) or [()] * len(names)
    return dict(zip(names, arrays, strict=True))
