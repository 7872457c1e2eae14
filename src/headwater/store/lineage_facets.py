"""The facets that say what columns are made of, as values: columnLineage of all versions, and explicit lineage."""

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from headwater.errors import EventError
from headwater.model import Dataset, Subtype, Transformation
from headwater.store.facets import dataset
from headwater.store.jsonvalues import Record, record, records, remembered_by_content, text
from headwater.store.told import ToldLineage, told_lineage

_OLD_TYPES = {"IDENTITY": ("IDENTITY", False), "MASKED": ("TRANSFORMATION", True)}

Value = TypeVar("Value")
Told = tuple[Any, ...]
"""What a JSON text says of an input, or of a transformation."""


def column_lineage(output: Record, entry: Record) -> ToldLineage | None:
    """What an event says an output is made of, None when it does not say.

    The explicit ``lineage`` of the dataset or of the job, of which ``entry`` is the one for this output, goes before
    columnLineage (LineageFacet 1-0-0, "Consumers").

    Raises:
        EventError: a facet is there but is not what the specification says.
    """
    told = record(output, "facets", "lineage") or entry
    if _names_columns(told):
        return _explicit(told)
    facet = record(output, "facets").get("columnLineage")
    return None if facet is None else _column_lineage(facet)


def _names_columns(told: Record) -> bool:
    """An entry may say of datasets alone what feeds them; that is not lineage of columns."""
    return bool(record(told, "fields")) or any(text(one, "field") for one in records(told, "inputs"))


@remembered_by_content(48 << 20)
def _explicit(told: Record) -> ToldLineage:
    reading = _Reading()
    for name, field in record(told, "fields").items():
        reading.field(text(name), _columns(records(field, "inputs")), {})
    return reading.lineage(_columns(records(told, "inputs")))


def _columns(inputs: list[Record]) -> list[Record]:
    """Those that are a column."""
    return [one for one in inputs if text(one, "field")]


@remembered_by_content(48 << 20)
def _column_lineage(facet: object) -> ToldLineage:
    """The columnLineage facet of an output dataset.

    Versions 1-0-0 to 1-2-0 are read; an input field without transformations counts as TRANSFORMATION,
    because its producer says that the value depends on it and not how.

    Raises:
        EventError: the facet is not an object with ``fields`` or ``dataset``.
    """
    if not isinstance(record(facet).get("fields", {}), dict) or not isinstance(facet, dict):
        raise EventError("The columnLineage facet is no object with an object `fields`. Correct the producer.")
    reading = _Reading()
    for name, field in record(facet, "fields").items():
        reading.field(text(name), records(field, "inputFields"), record(field))
    return reading.lineage(records(facet, "dataset"))


class _Reading:
    """Reads a facet, in which the same few inputs and transformations stand again and again."""

    def __init__(self) -> None:
        self._fields: dict[str, int] = {}
        self._inputs = _Places(_input)
        self._ways = _Places(_transformation)
        self._edges: list[tuple[int, int, int]] = []

    def field(self, name: str, inputs: list[Record], field: Record) -> None:
        """Reads what a field is made of; ``field`` is what is told of it besides."""
        place = self._fields.setdefault(name, len(self._fields))
        self._edges += [(place, *one) for one in self._places(inputs, field, "CONDITIONAL")]

    def lineage(self, inputs: list[Record]) -> ToldLineage:
        """The lineage of the fields that were read, and of inputs that act on all of them."""
        of_all = self._places(inputs, {}, "FILTER")
        fields, ways = tuple(self._fields), tuple(self._ways.values)
        return told_lineage(fields, self._inputs.values, ways, self._edges, of_all)

    def _places(self, inputs: list[Record], field: Record, unnamed: str) -> list[tuple[int, int]]:
        """The place of each input with that of each of its transformations."""
        return [(self._input(value), way) for value in inputs for way in self._ways_of(value, field, unnamed)]

    def _input(self, value: Record) -> int:
        return self._inputs.of((value.get("namespace"), value.get("name"), value.get("field")))

    def _ways_of(self, value: Record, field: Record, unnamed: str) -> list[int]:
        told = [self._ways.of(_way(one, unnamed)) for one in records(value.get("transformations"))]
        return told or [self._ways.of(_old_way(field))]


class _Places(Generic[Value]):
    """What was read, each with its place among the ``values``, by what was told of it."""

    def __init__(self, read: Callable[[Told], Value]) -> None:
        self.values: list[Value] = []
        self._read = read
        self._known: dict[Told, int] = {}

    def of(self, told: Told) -> int:
        """The place of what is told so."""
        try:
            place = self._known.get(told)
        except TypeError:  # a list or an object, which says nothing here and has no hash
            return self.of(tuple([one if isinstance(one, str | bool) else None for one in told]))
        if place is None:
            self.values.append(self._read(told))
            place = self._known[told] = len(self._known)
        return place


def _input(told: Told) -> tuple[Dataset, str]:
    namespace, name, field = told
    owner = dataset({"namespace": namespace, "name": name})
    named = text(field)
    if not named:
        raise EventError(
            f"An input field of {owner} has field {field!r}: expected a column's name. Correct the producer."
        )
    return owner, named


def _way(told: Record, unnamed: str) -> Told:
    marks = told.get("masking") is True, told.get("opaque") is True
    return (told.get("type"), told.get("subtype"), *marks, told.get("description"), unnamed)


def _old_way(field: Record) -> Told:
    """`transformationType` and `transformationDescription` of facet 1-0-0, which stand on the output field."""
    subtype, masking = _OLD_TYPES.get(text(field, "transformationType").upper(), ("TRANSFORMATION", False))
    return "", subtype, masking, False, text(field, "transformationDescription"), ""


def _transformation(told: Told) -> Transformation:
    """What is told of one; last stands what an indirect one is whose subtype is none."""
    kind, subtype, masking, opaque, description, unnamed = told
    found = _subtype(text(kind), text(subtype), unnamed)
    return Transformation(found, masking is True, opaque is True, text(description))


def _subtype(kind: str, subtype: str, unnamed: str) -> Subtype:
    try:
        return Subtype(subtype.upper())
    except ValueError:
        return Subtype(unnamed) if kind.upper() == "INDIRECT" else Subtype.TRANSFORMATION
