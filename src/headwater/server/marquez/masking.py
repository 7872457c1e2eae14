"""What somebody may not see: kept in graphs, so that they stay connected, under names that tell nothing."""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any
from uuid import UUID

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

    def version(self, namespace: str, version: UUID | None) -> str | None:
        """The version of a dataset or job as it may be shown: the store's are made from names, which can be tried."""
        if version is None or not self.hides(namespace):
            return None if version is None else str(version)
        return str(UUID(bytes=blake2b(version.bytes, digest_size=16, key=self.secret).digest()))

    def field(self, owner: Dataset, name: str) -> str:
        """The name of a dataset's field as it may be shown."""
        return self._token(owner.namespace, owner.name, name) if self.hides(owner.namespace) else name

    def description(self, told: str) -> str:
        """What a step of lineage does as it may be shown: the text of an expression may name what is hidden."""
        return told if self.sees is None else ""

    def value(self, told: Any) -> Any:
        """JSON of events in which every object with a hidden ``namespace`` and a ``name`` has names that tell nothing.

        Not even which are the same: whoever sends events could try names. Descriptions of steps are left out.
        """
        if self.sees is None:
            return told
        if isinstance(told, list):
            return [self.value(one) for one in told]
        if not isinstance(told, dict):
            return told
        namespace, name = told.get("namespace"), told.get("name")
        if isinstance(namespace, str) and isinstance(name, str) and self.hides(namespace):
            return _nameless(told)
        return {key: self._steps(one) if key == _STEPS else self.value(one) for key, one in told.items() if key != _OLD}

    def _steps(self, told: Any) -> Any:
        if not isinstance(told, list):
            return self.value(told)
        return [
            {key: self.value(one) for key, one in step.items() if key != "description"} for step in map(record, told)
        ]

    def _token(self, *parts: str) -> str:
        told = "\0".join(parts).encode("utf-8", "replace")
        return f"{HIDDEN}-{blake2b(told, digest_size=6, key=self.secret).hexdigest()}"


def _nameless(told: dict[str, Any]) -> dict[str, str]:
    return {member: HIDDEN for member in ("namespace", "name", "field") if isinstance(told.get(member), str)}
