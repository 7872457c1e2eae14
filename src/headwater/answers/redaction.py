"""Redaction of answers for callers who may not see every namespace.

What is hidden keeps its place in graphs, so that they stay connected, under tokens that are the same in every answer
of a store. Whoever may see one name of a dataset may see the dataset, under that name.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from hashlib import blake2b
from typing import Any, TypeVar
from uuid import UUID

from headwater.model import Dataset, Job, Transformation
from headwater.openlineage.reading.json_values import record
from headwater.store.questions import Column, CompactGraph, KnownDataset, KnownJob, Overwrite, View
from headwater.store.questions.walk.closure import Closure
from headwater.store.read_model.visibility import Sees

HIDDEN = "hidden"
"""The namespace of everything that is hidden."""

_HIDDEN_FIELD = dict.fromkeys(("namespace", "name", "field"), HIDDEN)

Answer = TypeVar("Answer")

_STEPS, _OLD = "transformations", "transformationDescription"
"""The members of a columnLineage facet that describe steps: since 1-1-0, and in 1-0-0."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """Replaces what a caller may not see.

    Args:
        sees: whether the caller may see a namespace; None where the caller may see all.
        secret: the store's. Tokens are keyed with it, so that none can be found by trying names or ids.
        other_names: returns the other names of a dataset by its name; looked up only where that is hidden.
    """

    sees: Sees
    secret: bytes = b""
    other_names: Callable[[Dataset], Iterable[Dataset]] = lambda _: ()
    _shown: dict[Dataset, Dataset | None] = field(default_factory=dict, compare=False, repr=False)

    def hides(self, node: Column | KnownDataset | Dataset | Job) -> bool:
        """Whether nothing of a dataset, a column or a job may be seen."""
        if isinstance(node, Job):
            return self._hides(node.namespace)
        known = node.dataset if isinstance(node, Column) else node
        return self._visible(known) is None

    def dataset(self, dataset: Dataset) -> Dataset:
        """Return the name of a dataset that may be seen, or a token."""
        return self._visible(dataset) or Dataset(HIDDEN, self._token("dataset", dataset.namespace, dataset.name))

    def field(self, owner: Dataset, name: str) -> str:
        """Return the name of a dataset's field, or a token."""
        return self._token("field", owner.namespace, owner.name, name) if self.hides(owner) else name

    def job(self, job: Job) -> Job:
        """Return the name of a job, or a token."""
        return Job(HIDDEN, self._token("job", job.namespace, job.name)) if self.hides(job) else job

    def version(self, of: Dataset | Job, version: UUID | None) -> str | None:
        """Return a version of a dataset or job; of hidden ones another UUID, because a version is made from names."""
        if version is None or not self.hides(of):
            return None if version is None else str(version)
        return str(UUID(bytes=blake2b(version.bytes, digest_size=16, key=self.secret).digest()))

    def run(self, of: Job, run: str) -> str:
        """Return the id of a run; of that of a hidden job another UUID."""
        digest = blake2b(run.encode("utf-8", "replace"), digest_size=16, key=self.secret).digest
        return str(UUID(bytes=digest())) if self.hides(of) else run

    def description(self, text: str) -> str:
        """Return the description of a step, or nothing: the text of an expression may name what is hidden."""
        return text if self.sees is None else ""

    def json(self, value: Any) -> Any:
        """Return JSON of events without the names of hidden objects and without descriptions of steps.

        An object is hidden by its ``namespace``. All of them become ``hidden`` and not tokens: whoever sends events
        could try names. So does the id of a run beside a hidden job, as that of a parent. A list has one hidden field
        at most, so that those within hidden columns are not counted.
        """
        if self.sees is None:
            return value
        if isinstance(value, list):
            shown = [self.json(one) for one in value]
            return [one for place, one in enumerate(shown) if one != _HIDDEN_FIELD or shown.index(one) == place]
        if not isinstance(value, dict):
            return value
        namespace, name = value.get("namespace"), value.get("name")
        if isinstance(namespace, str) and isinstance(name, str) and self._hides(namespace):
            return {member: HIDDEN for member in ("namespace", "name", "field") if isinstance(value.get(member), str)}
        members = {key: self._json_member(key, one) for key, one in value.items() if key != _OLD}
        run, job = members.get("run"), record(value.get("job")).get("namespace")
        if isinstance(run, dict) and "runId" in run and isinstance(job, str) and self._hides(job):
            members["run"] = run | {"runId": HIDDEN}
        return members

    def answer(self, answer: Answer) -> Answer:
        """Return an answer with tokens for what is hidden, and without descriptions of steps."""
        redacted: Answer = answer if self.sees is None else _Answers(self)(answer)
        return redacted

    def _hides(self, namespace: str) -> bool:
        return self.sees is not None and not self.sees(namespace)

    def _visible(self, dataset: Dataset | KnownDataset) -> Dataset | None:
        """The first name of a dataset that may be seen."""
        if isinstance(dataset, KnownDataset):
            return next((one for one in dataset.names if not self._hides(one.namespace)), None)
        if not self._hides(dataset.namespace):
            return dataset
        if dataset not in self._shown:
            others = (one for one in self.other_names(dataset) if not self._hides(one.namespace))
            self._shown[dataset] = next(others, None)
        return self._shown[dataset]

    def _json_member(self, key: str, value: Any) -> Any:
        if key != _STEPS or not isinstance(value, list):
            return self.json(value)
        steps = map(record, value)
        return [{name: self.json(one) for name, one in step.items() if name != "description"} for step in steps]

    def _token(self, *parts: str) -> str:
        text = "\0".join(parts).encode("utf-8", "replace")
        return f"{HIDDEN}-{blake2b(text, digest_size=6, key=self.secret).hexdigest()}"


def _shown_parts(transformation: Transformation) -> tuple[str, bool, bool, bool]:
    """Return the parts of a transformation that everybody may see, to sort by."""
    return transformation.subtype.value, transformation.masking, transformation.opaque, transformation.guess


class _Answers:
    """Redacts the values that answers of `headwater.store.questions` are made of."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._kinds: dict[type, Callable[[Any], Any]] = {
            KnownDataset: self._dataset,
            Column: self._column,
            Job: self._job,
            Overwrite: self._overwrite,
            Transformation: lambda one: replace(one, description="", reference=False),
            CompactGraph: self._compact,
            View: self._view,
            tuple: lambda several: tuple(map(self, several)),
            dict: lambda named: {self(key): self(one) for key, one in named.items()},
        }

    def __call__(self, value: Any) -> Any:
        for kind, redacted in self._kinds.items():
            if isinstance(value, kind):
                return redacted(value)
        if is_dataclass(value) and not isinstance(value, type):
            return replace(value, **{one.name: self(getattr(value, one.name)) for one in fields(value)})
        return value

    def _dataset(self, dataset: KnownDataset) -> KnownDataset:
        seen = [one for one in dataset.names if not self._redaction.hides(one)]
        name, *others = seen or [self._redaction.dataset(dataset.dataset)]
        return KnownDataset(name, tuple(others), dataset.id)

    def _column(self, column: Column) -> Column:
        dataset = self._dataset(column.dataset)
        if self._redaction.hides(column):
            return Column(dataset, self._redaction.field(column.dataset.dataset, column.name), "", column.id)
        return replace(column, dataset=dataset)

    def _job(self, job: Job) -> Job:
        if not self._redaction.hides(job):
            return job
        shown = self._redaction.job(job)
        return KnownJob(shown.namespace, shown.name, job.id if isinstance(job, KnownJob) else 0)

    def _overwrite(self, overwrite: Overwrite) -> Overwrite:
        job = self._job(overwrite.job)
        return Overwrite(job.name if self._redaction.hides(overwrite.job) else overwrite.run, job, overwrite.at)

    def _compact(self, graph: CompactGraph) -> CompactGraph:
        owner = graph.closure.dataset_of
        hidden = {id_: known.dataset for id_, known in graph.datasets.items() if self._redaction.hides(known)}
        names = {
            id_: self._redaction.field(hidden[owner[id_]], name) if owner[id_] in hidden else name
            for id_, name in graph.fields.items()
        }
        closure, transformations = self._renumbered(graph.closure, self(graph.transformations))
        datasets, jobs = self(graph.datasets), self(graph.jobs)
        return CompactGraph(self(graph.start), graph.direction, closure, names, datasets, transformations, jobs)

    @staticmethod
    def _renumbered(closure: Closure, shown: Mapping[int, Transformation]) -> tuple[Closure, dict[int, Transformation]]:
        """Return links with transformations numbered by what is shown of them.

        Whoever sends events could otherwise find out by the ids of a store whether others have a description.
        """
        every = dict(enumerate(sorted(set(shown.values()), key=_shown_parts), 1))
        places = {one: number for number, one in every.items()}
        number = {id_: places[one] for id_, one in shown.items()}
        rows = {(source, output, number[how], job) for source, output, how, job in closure.rows}
        return replace(closure, rows=tuple(sorted(rows))), every

    def _view(self, view: View) -> View:
        """Return a view without types and numbers of hidden columns, as if only those of the walk were there."""
        owner = view.graph.closure.dataset_of
        hidden = {id_ for id_, known in view.graph.datasets.items() if self._redaction.hides(known)}
        types = {id_: type_ for id_, type_ in view.types.items() if owner[id_] not in hidden}
        widths = {id_: width for id_, width in view.widths.items() if id_ not in hidden}
        return View(self(view.graph), types, widths, self(view.overwrites), view.more)
