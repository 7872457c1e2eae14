"""The facets that say what columns are made of, as values: columnLineage of all versions, and explicit lineage."""

from collections.abc import Sequence

from headwater.errors import EventError
from headwater.model import ColumnLineage, Dependency, InputField, Subtype, Transformation
from headwater.store.facets import dataset
from headwater.store.jsonvalues import Record, record, records, remembered, remembered_by_content, text

_OLD_TYPES = {"IDENTITY": Transformation(Subtype.IDENTITY), "MASKED": Transformation(Subtype.TRANSFORMATION, True)}

_OF_WAY = ("type", "subtype", "masking", "opaque", "description")


def column_lineage(output: Record, entry: Record) -> ColumnLineage | None:
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


@remembered_by_content(24 << 20)
def _explicit(told: Record) -> ColumnLineage:
    fields = {
        text(name): _edges(records(field, "inputs"), Subtype.CONDITIONAL)
        for name, field in record(told, "fields").items()
    }
    return ColumnLineage(fields, _edges(records(told, "inputs"), Subtype.FILTER))


def _edges(inputs: list[Record], unnamed: Subtype) -> frozenset[Dependency]:
    """Those that start from a column."""
    return frozenset(_dependencies([one for one in inputs if text(one, "field")], {}, unnamed))


@remembered_by_content(24 << 20)
def _column_lineage(facet: object) -> ColumnLineage:
    """The columnLineage facet of an output dataset.

    Versions 1-0-0 to 1-2-0 are read; an input field without transformations counts as TRANSFORMATION,
    because its producer says that the value depends on it and not how.

    Raises:
        EventError: the facet is not an object with ``fields`` or ``dataset``.
    """
    if not isinstance(record(facet).get("fields", {}), dict) or not isinstance(facet, dict):
        raise EventError("The columnLineage facet is no object with an object `fields`. Correct the producer.")
    fields = {
        text(name): frozenset(_dependencies(records(field, "inputFields"), record(field), Subtype.CONDITIONAL))
        for name, field in record(facet, "fields").items()
    }
    return ColumnLineage(fields, frozenset(_dependencies(records(facet, "dataset"), {}, Subtype.FILTER)))


def _dependencies(inputs: list[Record], field: Record, unnamed: Subtype) -> list[Dependency]:
    return [
        Dependency(_input(value.get("namespace"), value.get("name"), value.get("field")), transformation)
        for value in inputs
        for transformation in _transformations(value, field, unnamed)
    ]


@remembered(2000)
def _input(namespace: object, name: object, field: object) -> InputField:
    owner = dataset({"namespace": namespace, "name": name})
    if not text(field):
        raise EventError(
            f"An input field of {owner} has field {field!r}: expected a column's name. Correct the producer."
        )
    return InputField(owner, text(field))


def _transformations(value: Record, field: Record, unnamed: Subtype) -> Sequence[Transformation]:
    ways = records(value, "transformations")
    told = [_transformation(*map(one.get, _OF_WAY), unnamed) for one in ways]
    return told or (_old_transformation(field),)


@remembered(1000)
def _transformation(*told: object) -> Transformation:
    """What the values at `_OF_WAY` say, and what a subtype stands for that is none."""
    kind, subtype, masking, opaque, description, unnamed = told
    found = _subtype(text(kind), text(subtype), Subtype(unnamed))
    return Transformation(found, masking is True, opaque is True, text(description))


def _subtype(kind: str, subtype: str, unnamed: Subtype) -> Subtype:
    try:
        return Subtype(subtype.upper())
    except ValueError:
        return unnamed if kind.upper() == "INDIRECT" else Subtype.TRANSFORMATION


def _old_transformation(field: Record) -> Transformation:
    """`transformationType` and `transformationDescription` of facet 1-0-0, which stand on the output field."""
    kind = _OLD_TYPES.get(text(field, "transformationType").upper(), Transformation(Subtype.TRANSFORMATION))
    return Transformation(kind.subtype, kind.masking, kind.opaque, text(field, "transformationDescription"))
