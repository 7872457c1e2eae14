"""Lineage in ids. The same lineage between the same ids is the same edges: a job that runs again tells no others."""

from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple
from weakref import ref

from headwater.model import ColumnLineage, Dataset
from headwater.store.timeline import Edge

Sets = tuple[frozenset[Edge], frozenset[Edge]]


class Ids(NamedTuple):
    """The ids of all that lineage names, each in the order of the lineage: its output, the fields of that, ``sources``
    with the fields of each, and its transformations."""

    output: int
    fields: tuple[int, ...]
    sources: tuple[tuple[int, ...], ...]
    transformations: tuple[int, ...]


class Edges:
    """The edges of one output that lineage tells between ids; made when they are asked for, which is seldom.

    As long as lineage is remembered, so are the ids that it had last, and the digest.
    """

    def __init__(self, *told: tuple[ColumnLineage, Ids]) -> None:
        self._told = told

    def __or__(self, other: "Edges") -> "Edges":
        return Edges(*self._told, *other._told)

    @property
    def fields(self) -> frozenset[Edge]:
        """Those of its fields."""
        return self._sets[0]

    @property
    def dataset(self) -> frozenset[Edge]:
        """Those that act on all of its fields."""
        return self._sets[1]

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        if len(self._told) > 1:
            return _digest(*self._sets)
        [(lineage, ids)] = self._told
        key = id(lineage)
        known = _LAST.get(key)
        if known is None or known[0]() is not lineage or known[1] != ids:
            known = _LAST[key] = (ref(lineage, lambda _: _LAST.pop(key, None)), ids, _digest(*self._sets))
        return known[2]

    @cached_property
    def _sets(self) -> Sets:
        fields, datasets = zip(*(_edges(lineage, ids) for lineage, ids in self._told), strict=True)
        return frozenset().union(*fields), frozenset().union(*datasets)


_LAST: dict[int, tuple["ref[ColumnLineage]", Ids, bytes]] = {}


def _digest(fields: Iterable[Edge], dataset: Iterable[Edge]) -> bytes:
    return blake2b(f"({_listed(fields)}, {_listed(dataset)})".encode(), digest_size=16).digest()


def _listed(edges: Iterable[Edge]) -> str:
    """What Python shows of the list, in a fourth of the time."""
    shown = ["Edge(output=%d, input=%d, transformation=%d)" % edge for edge in sorted(edges)]  # noqa: UP031
    return f"[{', '.join(shown)}]"


def _edges(lineage: ColumnLineage, ids: Ids) -> Sets:
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
    return frozenset(told[:of_fields]), frozenset(told[of_fields:])
