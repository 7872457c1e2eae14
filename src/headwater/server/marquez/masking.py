"""What somebody may not see: kept in graphs, so that they stay connected, under names that tell nothing."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from headwater.model import Dataset, Job
from headwater.store.catalog.pages import Sees
from headwater.store.jsonvalues import record

HIDDEN = "hidden"
"""The namespace of what is hidden."""

_STEPS, _OLD = "transformations", "transformationDescription"
"""Where a columnLineage facet describes steps, since 1-1-0 and in 1-0-0."""


@dataclass(frozen=True, slots=True)
class Mask:
    """Hides the names of namespaces that somebody may not see; with one secret the same names become the same.

    Without the secret a name that was guessed could be tried.
    """

    sees: Sees
    secret: bytes = b""

    def hides(self, namespace: str) -> bool:
        """Whether what is in a namespace is hidden."""
        return self.sees is not None and not self.sees(namespace)

    def dataset(self, named: Dataset) -> Dataset:
        """A dataset's name as it may be shown."""
        return Dataset(HIDDEN, self._token(named.namespace, named.name)) if self.hides(named.namespace) else named

    def job(self, named: Job) -> Job:
        """A job's name as it may be shown."""
        return Job(HIDDEN, self._token(named.namespace, named.name)) if self.hides(named.namespace) else named

    def field(self, owner: Dataset, name: str) -> str:
        """The name of a dataset's field as it may be shown."""
        return self._token(owner.namespace, owner.name, name) if self.hides(owner.namespace) else name

    def description(self, told: str) -> str:
        """What a step of lineage does as it may be shown: the text of an expression may name what is hidden."""
        return told if self.sees is None else ""

    def value(self, told: Any) -> Any:
        """JSON of events in which every object with a hidden ``namespace`` and a ``name`` is only a masked name.

        Descriptions of steps are left out.
        """
        if self.sees is None:
            return told
        if isinstance(told, list):
            return [self.value(one) for one in told]
        if not isinstance(told, dict):
            return told
        namespace, name = told.get("namespace"), told.get("name")
        if isinstance(namespace, str) and isinstance(name, str) and self.hides(namespace):
            return self._only_name(Dataset(namespace, name), told.get("field"))
        return {key: self._steps(one) if key == _STEPS else self.value(one) for key, one in told.items() if key != _OLD}

    def _steps(self, told: Any) -> Any:
        if not isinstance(told, list):
            return self.value(told)
        return [
            {key: self.value(one) for key, one in step.items() if key != "description"} for step in map(record, told)
        ]

    def _only_name(self, named: Dataset, field: object) -> dict[str, str]:
        masked = self.dataset(named)
        of_field = {"field": self.field(named, field)} if isinstance(field, str) else {}
        return {"namespace": masked.namespace, "name": masked.name, **of_field}

    def _token(self, *parts: str) -> str:
        told = "\0".join(parts).encode("utf-8", "replace")
        return f"{HIDDEN}-{blake2b(told, digest_size=6, key=self.secret).hexdigest()}"
