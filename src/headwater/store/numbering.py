"""Lineage in ids. The same lineage between the same ids is the same edges: a job that runs again tells no others."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple
from weakref import ref

from headwater.model import ColumnLineage, Dataset
from headwater.store.timeline import Edge


@dataclass(frozen=True)
class Edges:
    """The edges of one output: of its fields, and of the dataset where they act on all of its fields."""

    fields: frozenset[Edge]
    dataset: frozenset[Edge]

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        edges = f"({_listed(self.fields)}, {_listed(self.dataset)})"
        return blake2b(edges.encode(), digest_size=16).digest()

    def __or__(self, other: "Edges") -> "Edges":
        return Edges(self.fields | other.fields, self.dataset | other.dataset)


def _listed(edges: Iterable[Edge]) -> str:
    """What Python shows of the list, in a fourth of the time."""
    shown = ["Edge(output=%d, input=%d, transformation=%d)" % edge for edge in sorted(edges)]  # noqa: UP031
    return f"[{', '.join(shown)}]"


class Ids(NamedTuple):
    """The ids of all that lineage names, each in the order of the lineage: its output, the fields of that, ``sources``
    with the fields of each, and its transformations."""

    output: int
    fields: tuple[int, ...]
    sources: tuple[tuple[int, ...], ...]
    transformations: tuple[int, ...]


def edges_between(lineage: ColumnLineage, ids: Ids) -> Edges:
    """The edges of lineage between ids; those that it had last are remembered as long as the lineage is."""
    known = _LAST.get(id(lineage))
    if known is None or known[0]() is not lineage or known[1] != ids:
        key = id(lineage)
        known = _LAST[key] = (ref(lineage, lambda _: _LAST.pop(key, None)), ids, _edges(lineage, ids))
    return known[2]


_LAST: dict[int, tuple["ref[ColumnLineage]", Ids, Edges]] = {}


def _edges(lineage: ColumnLineage, ids: Ids) -> Edges:
    outputs: dict[str | None, int] = dict(zip(lineage.fields, ids.fields, strict=True))
    outputs[None] = ids.output
    named = zip(lineage.sources.items(), ids.sources, strict=True)
    inputs: dict[Dataset, dict[str, int]] = {
        dataset: dict(zip(names, numbers, strict=True)) for (dataset, names), numbers in named
    }
    ways = dict(zip(lineage.transformations, ids.transformations, strict=True))
    told = [
        Edge(outputs[name], inputs[one.input.dataset][one.input.name], ways[one.transformation])
        for name, one in lineage.edges
    ]
    of_fields = len(told) - len(lineage.dataset)
    return Edges(frozenset(told[:of_fields]), frozenset(told[of_fields:]))
