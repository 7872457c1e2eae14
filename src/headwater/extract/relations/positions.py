"""Names of columns in files that keep none: the position is the identity there, for who writes and who reads."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from headwater.extract.relations.naming import Facts, options_with_values
from headwater.model import Output
from headwater.plan import Operator

_NOTHING: Mapping[str, str] = MappingProxyType({})
# The short names of formats, and the classes of the v1 and the v2 API. LibSVM has two columns, by position as well.
_FIXED: Mapping[str, tuple[str, ...]] = {"text": ("value",), "libsvm": ("label", "features")}
_CSV = ("csv", "csvfileformat", "csvtable", "lazysimpleserde", "opencsvserde")


def names_in_files(format_: str, header: object, names: Sequence[str]) -> tuple[str, ...]:
    """The names that a reader without a schema has for the columns of a file: ``names`` where the format keeps them.

    >>> names_in_files("CSVFileFormat", None, ["a", "b"]), names_in_files("text", None, ["line"])
    (('_c0', '_c1'), ('value',))
    >>> names_in_files("LibSVMFileFormat", None, ["y", "x"])
    ('label', 'features')
    >>> names_in_files("csv", "true", ["a", "b"])
    ('a', 'b')
    """
    kind = format_.rpartition(".")[2].lower()
    if kind in _CSV:
        named = str(header).lower() == "true"
        return tuple(names) if named else tuple(f"_c{place}" for place in range(len(names)))
    fixed = _FIXED.get(kind.removesuffix("fileformat").removesuffix("table"), ())
    return fixed if len(fixed) == len(names) else tuple(names)


def written_names(
    format_: str, header: object, names: Sequence[str] | None, partitions: Iterable[str]
) -> Sequence[str] | None:
    """The names of columns that are written to files; those of partitions are in their folders' names."""
    folders = {name.lower() for name in partitions}
    own = [name for name in names or () if name.lower() not in folders]
    stored = dict(zip(own, names_in_files(format_, header, own), strict=True))
    return [stored.get(name, name) for name in names] if names else names


def also_by_position(
    outputs: Iterable[Output], format_: str, header: object, partitions: Iterable[str]
) -> Sequence[Output]:
    """The outputs of a write to a table, whose columns have other names for who reads its files by path.

    Either name is one of the table's dataset: the two readers do not know of each other.
    """
    folders = {name.lower() for name in partitions}
    return [_by_position(output, format_, header, folders) for output in outputs]


def _by_position(output: Output, format_: str, header: object, folders: Collection[str]) -> Output:
    own = [column.name for column in output.description.schema if column.name.lower() not in folders]
    fields, stored = output.lineage.fields, names_in_files(format_, header, own)
    more = {name: fields[one] for one, name in zip(own, stored, strict=True) if one in fields and name not in fields}
    return replace(output, lineage=replace(output.lineage, fields={**fields, **more})) if more else output


def read_names(node: Operator) -> Mapping[str, str]:
    """The names in the files by those of a reader's schema, where the two can differ: of a path, not of a table."""
    relation = node.facts("relation") or node.facts("table")
    if node.facts("catalogTable") or not relation.get("positions"):
        return _NOTHING
    names = [name for name in relation["positions"] if name != relation.get("corrupt")]
    stored = names_in_files(str(relation.get("format")), relation.get("header"), names)
    header = relation.get("names") or ()
    return dict(zip(names, (*header[: len(names)], *stored[len(header) :]), strict=True))


def streamed_names(node: Operator, source: Facts) -> Mapping[str, str]:
    """The names in the files that a stream reads, by those of its schema."""
    if source.get("catalogTable"):
        return _NOTHING
    folders = {str(name).lower() for name in source.get("partitions") or ()}
    names = [column.label for column in node.expressions("output") if column.label.lower() not in folders]
    header = options_with_values(source.get("options") or {}).get("header")
    return dict(zip(names, names_in_files(str(source.get("format")), header, names), strict=True))
