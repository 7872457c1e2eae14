"""Dataset facets as values, of any producer and of older versions of the specification."""

from functools import lru_cache

from headwater.errors import EventError
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Dependency,
    FieldChange,
    InputField,
    NameChange,
    SchemaField,
    Subtype,
    Symlink,
    Transformation,
)
from headwater.store.jsonvalues import Record, record, records, text

_OLD_TYPES = {"IDENTITY": Transformation(Subtype.IDENTITY), "MASKED": Transformation(Subtype.TRANSFORMATION, True)}
_LIFECYCLE = "lifecycleStateChange"
_NAMES = "headwater_names"


def dataset(value: Record) -> Dataset:
    """The dataset that ``namespace`` and ``name`` of a JSON object name.

    Raises:
        EventError: one of them is missing, empty or no string.
    """
    named = _dataset(text(value, "namespace"), text(value, "name"))
    if not named.namespace or not named.name:
        raise EventError(
            f"A dataset has namespace {value.get('namespace')!r} and name {value.get('name')!r}: "
            "expected two strings that are not empty. Correct the producer."
        )
    return named


# The edges of an event name few datasets and few transformations, many times.
_dataset = lru_cache(maxsize=1000)(Dataset)
_way = lru_cache(maxsize=1000)(Transformation)


def description(value: Record) -> DatasetDescription:
    """A dataset of an event with its schema, other names, source, lifecycle and version.

    Raises:
        EventError: the dataset has no name.
    """
    facets = record(value, "facets")
    named = dataset(value)
    return DatasetDescription(
        named,
        tuple(_schema(facets)),
        tuple(_symlinks(facets)),
        text(facets, _LIFECYCLE, _LIFECYCLE),
        text(facets, "dataSource", "name"),
        text(facets, "version", "datasetVersion") or text(facets, "datasetVersion", "datasetVersion"),
        tuple(_name_changes(facets, named)),
        tuple(_field_changes(facets)),
    )


def column_lineage(value: Record) -> ColumnLineage | None:
    """The columnLineage facet of an output dataset, None when it has none.

    Versions 1-0-0 to 1-2-0 are read; an input field without transformations counts as TRANSFORMATION,
    because its producer says that the value depends on it and not how.

    Raises:
        EventError: the facet is there but not an object with ``fields`` or ``dataset``.
    """
    facet = record(value, "facets").get("columnLineage")
    if facet is None:
        return None
    if not isinstance(record(facet).get("fields", {}), dict) or not isinstance(facet, dict):
        raise EventError("The columnLineage facet is no object with an object `fields`. Correct the producer.")
    fields = {
        text(name): frozenset(_dependencies(records(field, "inputFields"), record(field), Subtype.CONDITIONAL))
        for name, field in record(facet, "fields").items()
    }
    return ColumnLineage(fields, frozenset(_dependencies(records(facet, "dataset"), {}, Subtype.FILTER)))


def _name_changes(facets: Record, named: Dataset) -> list[NameChange]:
    """The changes of ``headwater_names``, else the one that the standard facet of a rename tells."""
    told = records(facets, _NAMES, "names")
    if told or text(facets, _LIFECYCLE, _LIFECYCLE) != "RENAME":
        pairs = [(record(one, "previous"), record(one, "current")) for one in told]
        return [NameChange(dataset(former), dataset(present) if present else None) for former, present in pairs]
    former = record(facets, _LIFECYCLE, "previousIdentifier")
    if not text(former, "namespace") or not text(former, "name") or dataset(former) == named:
        return []
    return [NameChange(dataset(former), named)]


def _field_changes(facets: Record) -> list[FieldChange]:
    told = [FieldChange(text(one, "previous"), text(one, "current")) for one in records(facets, _NAMES, "fields")]
    return [change for change in told if change.former and change.present and change.former != change.present]


def _schema(facets: Record) -> list[SchemaField]:
    fields = records(facets, "schema", "fields")
    return [SchemaField(text(field, "name"), text(field, "type")) for field in fields if text(field, "name")]


def _symlinks(facets: Record) -> list[Symlink]:
    named = [value for value in records(facets, "symlinks", "identifiers") if text(value, "name")]
    return [Symlink(dataset(value), text(value, "type") or "TABLE") for value in named if text(value, "namespace")]


def _dependencies(inputs: list[Record], field: Record, unnamed: Subtype) -> list[Dependency]:
    return [
        Dependency(InputField(dataset(value), _field_name(value)), transformation)
        for value in inputs
        for transformation in _transformations(value, field, unnamed)
    ]


def _field_name(value: Record) -> str:
    name = text(value, "field")
    if not name:
        raise EventError(
            f"An input field of {dataset(value)} has field {value.get('field')!r}: expected a column's name. "
            "Correct the producer."
        )
    return name


def _transformations(value: Record, field: Record, unnamed: Subtype) -> list[Transformation]:
    given = records(value, "transformations")
    return [_transformation(one, unnamed) for one in given] if given else [_old_transformation(field)]


def _transformation(value: Record, unnamed: Subtype) -> Transformation:
    subtype = _subtype(text(value, "type"), text(value, "subtype"), unnamed)
    return _way(subtype, value.get("masking") is True, value.get("opaque") is True, text(value, "description"))


@lru_cache(maxsize=1000)
def _subtype(kind: str, subtype: str, unnamed: Subtype) -> Subtype:
    try:
        return Subtype(subtype.upper())
    except ValueError:
        return unnamed if kind.upper() == "INDIRECT" else Subtype.TRANSFORMATION


def _old_transformation(field: Record) -> Transformation:
    """`transformationType` and `transformationDescription` of facet 1-0-0, which stand on the output field."""
    kind = _OLD_TYPES.get(text(field, "transformationType").upper(), Transformation(Subtype.TRANSFORMATION))
    return Transformation(kind.subtype, kind.masking, kind.opaque, text(field, "transformationDescription"))
