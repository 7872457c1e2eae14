"""The lineage of a dataset in events, in the terms of a case, and how far it is what the case expects.

Where two agents are compared nothing counts that only one of them can say: the mark of opaque edges, the case of names,
columns without an edge.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.extract.case_file import Case
from tests.extract.edge_text import Edges, last_component

Found = frozenset[tuple[str, str, str, bool]]
"""Edges as (output column or ``*``, subtype, ``dataset.column``, masking)."""

DIRECT = {"IDENTITY", "TRANSFORMATION", "AGGREGATION"}
SAME = {"GROUPBY": "GROUP_BY", "ORDER": "SORT"}


@dataclass(frozen=True, slots=True)
class Score:
    """The score of an agent for a case: ``missing`` edges that are expected, ``extra`` ones that are not."""

    missing: Found
    extra: Found
    silent: bool = False
    """No columnLineage facet of the output came at all."""

    @property
    def exact(self) -> bool:
        """All edges and no others."""
        return not self.missing and not self.extra

    @property
    def direct(self) -> bool:
        """All DIRECT edges and no others of that type."""
        return not any(subtype in DIRECT for _, subtype, _, _ in self.missing | self.extra)


def score(case: Case, events: Iterable[Mapping[str, Any]]) -> Score:
    """How the events of a case's run compare with what it expects: those of one run, or all, whichever come nearer.

    A case may write its output more than once, and an agent may tell one write as several runs.
    """
    runs = facets_of(case.output, events)
    together = [facet for facets in runs.values() for facet in facets]
    scores = [_compared(case, facets) for facets in (*runs.values(), together)]
    return min(scores, key=lambda one: len(one.missing) + len(one.extra))


def _compared(case: Case, facets: Sequence[Mapping[str, Any]]) -> Score:
    wanted, found = expected(case.expected), frozenset(edge for facet in facets for edge in edges_of(facet))
    return Score(wanted - found, found - wanted, silent=not facets)


def expected(edges: Edges) -> Found:
    """The edges of a case."""
    columns = [*edges.columns, ("*", edges.dataset)]
    return frozenset(
        (column.lower(), edge.kind, f"{edge.dataset}.{edge.field}".lower(), edge.masking)
        for column, found in columns
        for edge in found
    )


def facets_of(output: str, events: Iterable[Mapping[str, Any]]) -> dict[str, list[Mapping[str, Any]]]:
    """The columnLineage facets of each run for the dataset of that last component."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for event in events:
        for dataset in event.get("outputs") or ():
            facet = (dataset.get("facets") or {}).get("columnLineage")
            if facet and output.lower() in set(_names(dataset)):
                found.setdefault(event["run"]["runId"], []).append(facet)
    return found


def edges_of(facet: Mapping[str, Any]) -> Iterator[tuple[str, str, str, bool]]:
    """The edges of a facet."""
    for column, field in facet["fields"].items():
        yield from _edges(column.lower(), field["inputFields"])
    yield from _edges("*", facet.get("dataset") or ())


def _edges(column: str, inputs: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str, str, bool]]:
    for source in inputs:
        field = f"{last_component(source['name'])}.{source['field']}".lower()
        for transformation in source.get("transformations") or ():
            subtype = transformation.get("subtype", "")
            yield column, SAME.get(subtype, subtype), field, bool(transformation.get("masking"))


def _names(dataset: Mapping[str, Any]) -> Iterator[str]:
    yield last_component(dataset["name"]).lower()
    links = (dataset.get("facets") or {}).get("symlinks") or {}
    for link in links.get("identifiers", ()):
        yield last_component(link["name"]).lower()
