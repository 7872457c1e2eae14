"""Events of keys with limits: what a key owns they change, what they name beside it is a reference and changes nothing.

Such an event carries the namespaces that its key was granted, so that it means the same whenever it is read again. A
reference is a name alone: no facet of it counts, and the edges and fields that it needs are marked as mentioned.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

from headwater.model import Dataset, DatasetDescription, NameChange
from headwater.model.names import run_within
from headwater.openlineage.identifiers import GRANT
from headwater.openlineage.reading.facets import About, Parent
from headwater.openlineage.reading.lineage_facets import EncodedLineage


@dataclass(frozen=True, slots=True)
class Grant:
    """The namespaces that a key owns, as patterns of the shell (``s3://sales-*``)."""

    namespaces: tuple[str, ...]

    def covers(self, namespace: str) -> bool:
        """Whether a namespace is among them."""
        return any(fnmatchcase(namespace, pattern) for pattern in self.namespaces)

    def owns(self, dataset: Dataset) -> bool:
        """Whether a dataset is in one of them."""
        return self.covers(dataset.namespace)


def granted(value: Mapping[str, Any], namespaces: Collection[str]) -> dict[str, Any]:
    """An event's JSON with the namespaces of the key that sent it; what the sender wrote there is replaced."""
    return {**value, GRANT: sorted(namespaces)}


def grant_of(patterns: object) -> Grant:
    """The grant that an event says it was sent under; one that is no list covers nothing."""
    return Grant(tuple(map(str, patterns if isinstance(patterns, list) else ())))


def own_names(described: DatasetDescription, grant: Grant) -> DatasetDescription:
    """A dataset of the key without other names that the key does not own, and without changes of such names."""
    return replace(
        described,
        symlinks=tuple(link for link in described.symlinks if grant.owns(link.dataset)),
        names=tuple(change for change in described.names if _owns_change(change, grant)),
    )


def _owns_change(change: NameChange, grant: Grant) -> bool:
    return grant.owns(change.former) and (change.present is None or grant.owns(change.present))


def own_about(about: About, grant: Grant) -> About:
    """The facets of an event's run and job; a parent of another's job is left out."""
    parent = about.parent
    if parent is None:
        return about
    if not grant.covers(parent.job.namespace):
        return replace(about, parent=None)
    return replace(about, parent=Parent(run_within(parent.run, parent.job.namespace), parent.job))


def own_lineage(lineage: EncodedLineage, grant: Grant) -> EncodedLineage:
    """Lineage in which the edges from datasets of others are marked as references."""
    foreign = frozenset(source for source in lineage.sources if not grant.owns(source))
    if not foreign:
        return lineage
    sources, count = tuple(lineage.sources), len(lineage.transformations)
    marked = [sources[place] in foreign for place, _ in lineage.inputs]
    return replace(
        lineage,
        transformations=(*lineage.transformations, *(replace(one, reference=True) for one in lineage.transformations)),
        edges=tuple((field, source, step + count * marked[source]) for field, source, step in lineage.edges),
        dataset=tuple((source, step + count * marked[source]) for source, step in lineage.dataset),
        references=foreign,
    )
