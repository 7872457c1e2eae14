"""Datasets, and what is known of one beside its name."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

_Key = TypeVar("_Key", bound=Hashable)


@dataclass(frozen=True, slots=True, order=True)
class Dataset:
    """A table, a view, a directory of files, a topic: named as the OpenLineage naming specification says."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if not self.name.startswith("/") else f"{self.namespace}:{self.name}"


@dataclass(frozen=True, slots=True)
class SchemaField:
    """A column and its type, the latter in the words of Spark's catalog (``struct<a:int>``)."""

    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class Symlink:
    """Another name of the same dataset; ``type`` is TABLE, VIEW or LOCATION (SymlinksDatasetFacet 1-0-1)."""

    dataset: Dataset
    type: str = "TABLE"


@dataclass(frozen=True, slots=True)
class NameChange:
    """A name that a dataset had, and the one that took its place; ``present`` is None when the dataset was dropped."""

    former: Dataset
    present: Dataset | None = None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A name that a field had, and the one that took its place; empty for a field that a statement dropped."""

    former: str
    present: str


@dataclass(frozen=True, slots=True)
class Facet:
    """A facet that somebody else knows the meaning of: its name, and its content as the text of a JSON object.

    ``of`` is ``dataset`` for a facet of the dataset in every event, ``input`` or ``output`` for one of what this
    run reads or writes of it.
    """

    name: str
    content: str
    of: str = "dataset"


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many rows, bytes and files one run read or wrote of a dataset; None where that was not counted."""

    rows: int | None = None
    size: int | None = None
    files: int | None = None


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """The catalog by which a run reached a dataset, and where it keeps its tables (CatalogDatasetFacet 1-1-0)."""

    framework: str
    type: str
    name: str
    metadata_uri: str = ""
    warehouse_uri: str = ""


@dataclass(frozen=True, slots=True)
class Storage:
    """The table format of a dataset and the format of its files (StorageDatasetFacet 1-0-1)."""

    layer: str
    file_format: str = ""


class ReplacedRows(str, Enum):
    """The rows of a dataset that a write ends: all that were there before it, or some at most."""

    ALL = "ALL_ROWS"
    SOME = "SOME_ROWS"


@dataclass(frozen=True, slots=True)
class DatasetDescription:
    """A dataset with what one run saw of it.

    ``lifecycle`` is a value of LifecycleStateChangeDatasetFacet 1-0-1, or empty;
    ``source`` names the data source (``file``, ``hive``, a JDBC URL without secrets).
    ``names`` and ``fields`` are what the run made other names of, its own and those of its fields.
    ``description`` is what people say of it (DocumentationDatasetFacet).
    ``partition`` has the values of the one partition that the run was about, where it was about one.
    ``facets`` are further ones, of extensions and connectors.
    ``catalog`` is that by which the run reached it, ``storage`` its table format.
    ``statistics`` count what the run read or wrote of it, known when it has ended.
    ``replaces`` are the rows that the run ends by writing, None where it writes none and ends none.
    """

    dataset: Dataset
    schema: tuple[SchemaField, ...] = ()
    symlinks: tuple[Symlink, ...] = ()
    lifecycle: str = ""
    source: str = ""
    version: str = ""
    names: tuple[NameChange, ...] = ()
    fields: tuple[FieldChange, ...] = ()
    description: str = ""
    partition: tuple[tuple[str, str], ...] = ()
    facets: tuple[Facet, ...] = ()
    statistics: Statistics | None = None
    catalog: CatalogEntry | None = None
    storage: Storage | None = None
    replaces: ReplacedRows | None = None


def endings_apart(parts: Mapping[_Key, tuple[str, ...]], least: int = 1) -> dict[_Key, str]:
    """As many of the last parts of each, ``least`` or more, as distinguish it from all others, with slashes between.

    >>> endings_apart({1: ("lake", "bronze", "orders"), 2: ("lake", "silver", "orders"), 3: ("lake", "gold", "sales")})
    {3: 'sales', 1: 'bronze/orders', 2: 'silver/orders'}
    """
    found: dict[_Key, str] = {}
    length, open_ones = least, dict(parts)
    while open_ones:
        endings: dict[str, list[_Key]] = {}
        for key, pieces in open_ones.items():
            endings.setdefault("/".join(pieces[-length:]), []).append(key)
        for ending, keys in endings.items():
            if len(keys) == 1 or length >= max(len(open_ones[one]) for one in keys):
                found |= dict.fromkeys(keys, ending)
        open_ones = {one: pieces for one, pieces in open_ones.items() if one not in found}
        length += 1
    return found
