"""Column lineage: which input fields an output field depends on, and how.

The closed sets are those of the OpenLineage ``columnLineage`` facet 1-2-0.
"""

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import chain
from types import MappingProxyType

from headwater.model.dataset import Dataset


class TransformationType(str, Enum):
    """Whether the value comes from the input field, or is only influenced by it."""

    DIRECT = "DIRECT"
    INDIRECT = "INDIRECT"


class Subtype(str, Enum):
    """How the input field takes part; DIRECT ones first, weakest to strongest."""

    __hash__ = str.__hash__  # that of Enum is a function of Python's

    IDENTITY = "IDENTITY"
    TRANSFORMATION = "TRANSFORMATION"
    AGGREGATION = "AGGREGATION"
    CONDITIONAL = "CONDITIONAL"
    WINDOW = "WINDOW"
    FILTER = "FILTER"
    JOIN = "JOIN"
    GROUP_BY = "GROUP_BY"
    SORT = "SORT"

    @property
    def type(self) -> TransformationType:
        """The type this subtype belongs to.

        >>> Subtype.JOIN.type.value
        'INDIRECT'
        """
        return TransformationType.DIRECT if self in _STRENGTH else TransformationType.INDIRECT


_STRENGTH = {Subtype.IDENTITY: 0, Subtype.TRANSFORMATION: 1, Subtype.AGGREGATION: 2}


# Not frozen: a wide frame has thousands, and a frozen one takes three times as long to make.
@dataclass(slots=True)
class Transformation:
    """How an input field reaches an output; nobody changes one after it was made.

    ``opaque`` marks a conservative edge: headwater could not see inside the step. ``guess`` marks one that no event
    has, ``reference`` one from a dataset that the sender of the event only names, and does not own.
    """

    subtype: Subtype
    masking: bool = False
    opaque: bool = False
    description: str = ""
    guess: bool = False
    reference: bool = False
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._hash = hash((self.subtype, self.masking, self.opaque, self.description))

    def __hash__(self) -> int:
        """Computed once: extraction puts the same few transformations into very many sets."""
        return self._hash

    @property
    def direct(self) -> bool:
        """True when the value itself comes from the input field."""
        return self.subtype in _STRENGTH


IDENTITY = Transformation(Subtype.IDENTITY)


def compose(outer: Transformation, inner: Transformation) -> Transformation:
    """The transformation of a path whose step nearest to the output is ``outer``.

    An INDIRECT step makes the path INDIRECT, the one nearest to the output names it;
    of two DIRECT steps the strongest wins; masking, opaque and guess are OR-ed
    (OpenLineage Spark integration, "Facet building process").

    >>> compose(Transformation(Subtype.TRANSFORMATION), Transformation(Subtype.FILTER)).subtype.value
    'FILTER'
    >>> compose(Transformation(Subtype.IDENTITY), Transformation(Subtype.AGGREGATION)).subtype.value
    'AGGREGATION'
    """
    if inner == IDENTITY:
        return outer
    if outer == IDENTITY:
        return inner
    return Transformation(
        _nearest(outer.subtype, inner.subtype),
        outer.masking or inner.masking,
        outer.opaque or inner.opaque,
        outer.description or inner.description,
        outer.guess or inner.guess,
    )


def _nearest(outer: Subtype, inner: Subtype) -> Subtype:
    if outer not in _STRENGTH:
        return outer
    if inner not in _STRENGTH:
        return inner
    return max(outer, inner, key=_STRENGTH.__getitem__)


@dataclass(frozen=True, slots=True)
class InputField:
    """A column of a dataset, as the source of an edge."""

    dataset: Dataset
    name: str
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.dataset, self.name)))

    def __hash__(self) -> int:
        """Computed once, as for a transformation."""
        return self._hash


# Not frozen, as a transformation is not.
@dataclass(slots=True, unsafe_hash=True)
class Dependency:
    """An input field and one transformation of it; nobody changes one after it was made."""

    input: InputField
    transformation: Transformation


@dataclass(frozen=True, slots=True)
class NestedField(InputField):
    """A field within a column, by the names on the way to it; of an array or a map, which elements it has."""

    path: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.dataset, self.name, self.path)))

    def __hash__(self) -> int:
        """Computed once, as for a column."""
        return self._hash


@dataclass(slots=True, unsafe_hash=True)
class NestedDependency(Dependency):
    """An edge to a field within an output column, by the names on the way to it."""

    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class EdgesOfFunction(Set[Dependency]):
    """The edges of a field from all that a function receives, which are one set for all its fields, and its own."""

    received: frozenset[Dependency]
    own: frozenset[Dependency]

    def __post_init__(self) -> None:
        object.__setattr__(self, "own", self.own - self.received)

    def __contains__(self, edge: object) -> bool:
        return edge in self.own or edge in self.received

    def __iter__(self) -> Iterator[Dependency]:
        return chain(self.own, self.received)

    def __len__(self) -> int:
        return len(self.own) + len(self.received)

    @classmethod
    def _from_iterable(cls, edges: Iterable[Dependency]) -> frozenset[Dependency]:  # type: ignore[override]
        """The result of ``&``, ``|`` and ``-``."""
        return frozenset(edges)


@dataclass(frozen=True)
class ColumnLineage:
    """The lineage of one output dataset.

    ``fields`` has every output column, in order, also those that depend on nothing;
    ``dataset`` holds what touches every column alike (FILTER, JOIN, GROUP_BY, SORT).
    """

    fields: Mapping[str, Set[Dependency]] = field(default_factory=lambda: MappingProxyType({}))
    dataset: frozenset[Dependency] = frozenset()

    @cached_property
    def edges(self) -> tuple[tuple[str | None, Dependency], ...]:
        """Every output field with each of its dependencies; last, with None, what touches every column alike."""
        of_fields = [(name, one) for name, inputs in self.fields.items() for one in inputs]
        return (*of_fields, *((None, one) for one in self.dataset))

    @cached_property
    def sources(self) -> Mapping[Dataset, tuple[str, ...]]:
        """The names of the fields that edges start from, by dataset."""
        named: dict[Dataset, set[str]] = {}
        for one in self._dependencies():
            named.setdefault(one.input.dataset, set()).add(one.input.name)
        return MappingProxyType({dataset: tuple(sorted(names)) for dataset, names in named.items()})

    @cached_property
    def transformations(self) -> tuple[Transformation, ...]:
        """Every transformation of an edge, once."""
        return tuple(dict.fromkeys(one.transformation for one in self._dependencies()))

    @property
    def inputs(self) -> frozenset[Dataset]:
        """Every dataset that an edge starts from."""
        return frozenset(self.sources)

    def _dependencies(self) -> Iterator[Dependency]:
        """The dependencies of each set once: fields that a function fills from the same columns share theirs."""
        for inputs in dict.fromkeys(part for edges in self.fields.values() for part in parts(edges)):
            yield from inputs
        yield from self.dataset


def names_nested(edges: Set[Dependency]) -> bool:
    """Whether any of the edges is from or to a field within a column."""
    return any(
        (isinstance(edge, NestedDependency) and edge.path) or (isinstance(edge.input, NestedField) and edge.input.path)
        for edge in edges
    )


def parts(edges: Set[Dependency]) -> tuple[frozenset[Dependency], ...]:
    """The edges of a field as sets of which other fields may have the same: those of a function apart."""
    # By its class: isinstance() of an abstract one takes ten times as long, and a wide frame asks for each column.
    return (edges.received, edges.own) if type(edges) is EdgesOfFunction else (frozenset(edges),)
