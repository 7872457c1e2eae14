"""Lineage in ids. The same lineage between the same ids is the same edges: a job that runs again adds none."""

from collections.abc import Iterable
from functools import cached_property
from hashlib import blake2b
from itertools import chain
from typing import NamedTuple
from weakref import ref

from headwater.openlineage.reading.encoded_lineage import EncodedLineage
from headwater.store.graph.timeline import Edge

EdgesOfOutput = tuple[tuple[Edge, ...], tuple[Edge, ...]]
"""Edges of fields, and those that act on all fields of a dataset; sorted, each once."""


class Ids(NamedTuple):
    """The ids of all that lineage names, each in the order of the lineage: its output, the fields of that, the inputs,
    and its transformations."""

    output: int
    fields: tuple[int, ...]
    inputs: tuple[int, ...]
    transformations: tuple[int, ...]


class Edges:
    """The edges of one output between ids; made when they are needed, which is seldom.

    As long as lineage is in memory, so are the ids that it had last, and the digest.
    ``more`` are edges that the store has by their ids.
    """

    def __init__(self, *lineages: tuple[EncodedLineage, Ids], more: EdgesOfOutput = ((), ())) -> None:
        self._lineages = lineages
        self._more = more

    def __or__(self, other: "Edges") -> "Edges":
        more = tuple((*mine, *others) for mine, others in zip(self._more, other._more, strict=True))
        return Edges(*self._lineages, *other._lineages, more=(more[0], more[1]))

    @property
    def fields(self) -> tuple[Edge, ...]:
        """Those of its fields."""
        return self._all[0]

    @property
    def dataset(self) -> tuple[Edge, ...]:
        """Those that act on all of its fields."""
        return self._all[1]

    @cached_property
    def digest(self) -> bytes:
        """Equal for equal edges."""
        if len(self._lineages) != 1 or any(self._more):
            return _digest(*self._all)
        [(lineage, ids)] = self._lineages
        key = id(lineage)
        known = _LAST.get(key)
        if known is None or known[0]() is not lineage or known[1] != ids:
            known = _LAST[key] = (ref(lineage, lambda _: _LAST.pop(key, None)), ids, _digest(*self._all))
        return known[2]

    @cached_property
    def _all(self) -> EdgesOfOutput:
        if len(self._lineages) == 1 and not any(self._more):
            return _edges(*self._lineages[0])
        each = (self._more, *(_edges(lineage, ids) for lineage, ids in self._lineages))
        fields, datasets = zip(*each, strict=True)
        return _sorted(chain.from_iterable(fields)), _sorted(chain.from_iterable(datasets))


_LAST: dict[int, tuple["ref[EncodedLineage]", Ids, bytes]] = {}


def _digest(fields: tuple[Edge, ...], dataset: tuple[Edge, ...]) -> bytes:
    return blake2b(f"({_shown(fields)}, {_shown(dataset)})".encode(), digest_size=16).digest()


def _shown(edges: tuple[Edge, ...]) -> str:
    """The text of which digests have been made from the first version on."""
    each = ["Edge(output=%d, input=%d, transformation=%d)"] * len(edges)
    return f"[{', '.join(each)}]" % tuple(chain.from_iterable(edges))


def _edges(lineage: EncodedLineage, ids: Ids) -> EdgesOfOutput:
    output, fields, inputs, transformations = ids
    of_fields = [
        (fields[field], inputs[one], transformations[transformation]) for field, one, transformation in lineage.edges
    ]
    return _sorted(of_fields), _sorted(
        [(output, inputs[one], transformations[transformation]) for one, transformation in lineage.dataset]
    )


def _sorted(edges: Iterable[Edge]) -> tuple[Edge, ...]:
    return tuple(sorted(set(edges)))
