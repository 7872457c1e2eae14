"""Lineage of an output as an event has it, by places: names that occur again and again are stored once."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from headwater.model import Dataset, InputField, Transformation


class Named(NamedTuple):
    """An edge by names; ``field`` is None for one that acts on all fields of the output."""

    field: str | None
    input: InputField
    transformation: Transformation


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class EncodedLineage:
    """The lineage of one output of an event.

    ``fields`` are the output's; ``sources`` has the names of the fields that edges start from, by dataset; ``inputs``
    are the same fields, each as the place of its dataset in ``sources`` and its name. Each of the ``edges`` is the
    place of a field, of an input and of a transformation; those of ``dataset``, which act on all fields, have no field.
    ``twins`` are the names in lower case that several of the fields have, ``references`` the datasets that the
    sender of the event does not own.
    """

    fields: tuple[str, ...]
    sources: Mapping[Dataset, tuple[str, ...]]
    inputs: tuple[tuple[int, str], ...]
    transformations: tuple[Transformation, ...]
    edges: tuple[tuple[int, int, int], ...]
    dataset: tuple[tuple[int, int], ...]
    twins: frozenset[str] = frozenset()
    references: frozenset[Dataset] = frozenset()

    def named(self) -> tuple[Named, ...]:
        """The edges by names, each once; last, without a field, those that act on all of them."""
        return tuple(dict.fromkeys(self._named()))

    def _named(self) -> Iterator[Named]:
        datasets = tuple(self.sources)
        inputs = [InputField(datasets[place], name) for place, name in self.inputs]
        for field, source, step in self.edges:
            yield Named(self.fields[field], inputs[source], self.transformations[step])
        for source, step in self.dataset:
            yield Named(None, inputs[source], self.transformations[step])
