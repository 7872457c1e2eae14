"""Answers for those who may not see everything: what is hidden keeps its place in the graph, not its name."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any, TypeVar

from headwater.model import Dataset, Job, Transformation
from headwater.store.questions import Column, CompactGraph, KnownDataset, KnownJob, Overwrite

HIDDEN = "hidden"
"""The namespace of everything that is hidden."""

Sees = Callable[[str], bool]
"""Whether a namespace may be seen."""
Answer = TypeVar("Answer")


def is_hidden(node: Column | KnownDataset | Job, sees: Sees) -> bool:
    """Whether nothing of a dataset, a column or a job may be seen; one name that may be is enough."""
    if isinstance(node, Job):
        return not sees(node.namespace)
    known = node.dataset if isinstance(node, Column) else node
    return not any(sees(one.namespace) for one in (known.dataset, *known.aliases))


def hide(answer: Answer, sees: Sees) -> Answer:
    """The answer with other names for what is in namespaces that may not be seen, and with no descriptions.

    The names are the same in every answer of a store. They are made from ids, because a name made from a name can be
    found by trying. A description goes even from a step between columns that may be seen: it is the text of an
    expression, which may name others.
    """
    hidden: Answer = _Hiding(sees)(answer)
    return hidden


class _Hiding:
    def __init__(self, sees: Sees) -> None:
        self._sees = sees
        self._kinds: dict[type, Callable[[Any], Any]] = {
            KnownDataset: self._dataset,
            Column: self._column,
            Job: self._job,
            Overwrite: self._overwrite,
            Transformation: lambda one: replace(one, description=""),
            CompactGraph: self._compact,
            tuple: lambda several: tuple(map(self, several)),
            dict: lambda named: {self(key): self(one) for key, one in named.items()},
        }

    def __call__(self, value: Any) -> Any:
        for kind, hidden in self._kinds.items():
            if isinstance(value, kind):
                return hidden(value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{one.name: self(getattr(value, one.name)) for one in fields(value)})
        return value

    def _dataset(self, known: KnownDataset) -> KnownDataset:
        seen = [one for one in (known.dataset, *known.aliases) if self._sees(one.namespace)]
        name, *others = seen or [Dataset(HIDDEN, _name("dataset", known.id))]
        return KnownDataset(name, tuple(others), known.id)

    def _column(self, column: Column) -> Column:
        dataset = self._dataset(column.dataset)
        if is_hidden(column, self._sees):
            return Column(dataset, _name("field", column.id), "", column.id)
        return Column(dataset, column.name, column.type, column.id)

    def _job(self, job: Job) -> Job:
        if self._sees(job.namespace):
            return job
        id_ = job.id if isinstance(job, KnownJob) else 0
        return KnownJob(HIDDEN, _name("job", id_), id_)

    def _overwrite(self, one: Overwrite) -> Overwrite:
        job = self._job(one.job)
        return Overwrite(one.run if self._sees(one.job.namespace) else job.name, job, one.at)

    def _compact(self, graph: CompactGraph) -> CompactGraph:
        owner = graph.closure.dataset_of
        gone = {id_ for id_, known in graph.datasets.items() if is_hidden(known, self._sees)}
        return CompactGraph(
            self(graph.start),
            graph.direction,
            graph.closure,
            {id_: _name("field", id_) if owner[id_] in gone else name for id_, name in graph.fields.items()},
            self(graph.datasets),
            self(graph.transformations),
            self(graph.jobs),
        )


def _name(kind: str, id_: int) -> str:
    return f"hidden-{blake2b(f'{kind} {id_}'.encode(), digest_size=6).hexdigest()}"
