"""The lineage of fields within columns, which an output's facet ``headwater_nestedLineage`` has beside columnLineage.

An output column of which the facet speaks is there with all its leaves that are made of something, each with all its
inputs; of an output column of which it does not, columnLineage has all that is known.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from headwater.errors import EventError
from headwater.model import Dataset, Subtype, Transformation
from headwater.model.names import caseless
from headwater.model.nested_fields import name_parts
from headwater.openlineage.identifiers import NESTED, WRITE
from headwater.openlineage.reading.facets import dataset
from headwater.openlineage.reading.json_values import Record, record, records, remembered_by_content, text
from headwater.openlineage.reading.lineage_facets import transformation

Path = tuple[str, ...]
"""The names of fields from a column inwards; empty for the column itself."""

_UNNAMED = (Transformation(Subtype.TRANSFORMATION),)


class NestedInput(NamedTuple):
    """A column, by its name in lower case, or a field within it, as the source of a leaf."""

    dataset: Dataset
    column: str
    path: Path
    transformations: tuple[Transformation, ...]


class Leaf(NamedTuple):
    """A field within an output column, and its inputs."""

    path: Path
    inputs: tuple[NestedInput, ...]


class NestedLineage(NamedTuple):
    """The leaves of output columns by the columns' names in lower case; ``dataset`` acts on all columns alike.

    ``types`` are those that the columns had then: a leaf of one that is not in ``fields`` is made of nothing.
    """

    fields: Mapping[str, tuple[Leaf, ...]]
    dataset: tuple[NestedInput, ...]
    types: Mapping[str, str]


def nested_lineage(output: Record) -> NestedLineage | None:
    """Return the nested lineage of an output of an event, None where it has none that can be read.

    There is none beside lineage that earlier runs have left in the output (``headwater_write``), known by columns.
    """
    facet = record(output, "facets", NESTED)
    if not facet or record(output, "outputFacets", WRITE, "earlier"):
        return None
    schema = records(output, "facets", "schema", "fields")
    try:
        return NestedLineage(*_read(facet), {caseless(text(one, "name")): text(one, "type") for one in schema})
    except EventError:
        return None


@remembered_by_content(16 << 20)
def _read(facet: Record) -> tuple[Mapping[str, tuple[Leaf, ...]], tuple[NestedInput, ...]]:
    leaves: dict[str, list[Leaf]] = {}
    for name, field in record(facet, "fields").items():
        column, *path = _parts(name)
        leaf = Leaf(tuple(path), _inputs(records(field, "inputFields"), "CONDITIONAL"))
        leaves.setdefault(caseless(column), []).append(leaf)
    return {column: tuple(some) for column, some in leaves.items()}, _inputs(records(facet, "dataset"), "FILTER")


def _inputs(inputs: Iterable[Record], unnamed: str) -> tuple[NestedInput, ...]:
    return tuple(_input(one, _parts(one.get("field")), unnamed) for one in inputs)


def _input(entry: Record, path: Path, unnamed: str) -> NestedInput:
    steps = tuple(transformation(step, unnamed) for step in records(entry, "transformations"))
    return NestedInput(dataset(entry), caseless(path[0]), path[1:], steps or _UNNAMED)


def _parts(name: object) -> Path:
    """The parts of a name.

    Raises:
        EventError: it is none.
    """
    if parts := name_parts(text(name)):
        return parts
    raise EventError(f"The name of a field is {str(name)[:60]!r}: expected that of a column, or of a field within one.")
