"""Schemas of datasets that a dry run cannot reach: from a file of a catalog, or from a store of lineage."""

import csv
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from headwater.errors import SettingError
from headwater.model import Dataset
from headwater.yaml_map import YamlMap, read_yaml

if TYPE_CHECKING:
    from headwater.store.catalog.datasets import NamedSchema  # a dry run starts without the modules of a store


@dataclass(frozen=True, slots=True)
class Schema:
    """The types of columns by their names, in order, as Spark's DDL writes them; ``location`` is that of a table."""

    columns: Mapping[str, str] = field(default_factory=dict)
    location: str = ""

    @property
    def lines(self) -> str:
        """Each column as DDL, on a line of its own.

        >>> Schema({"id": "bigint", "a b": "string"}).lines
        '`id` bigint\\n`a b` string'
        """
        return "\n".join(f"`{name.replace('`', '``')}` {type_}" for name, type_ in self.columns.items())


Schemas = Mapping[str, Schema]
"""By the name of a table (``sales.orders``), or by a path in the form of `path_key`."""


def path_key(path: str) -> str:
    """A path as the key of its schema: absolute, without a final slash, without the scheme of local files.

    >>> path_key("file:///lake/orders/"), path_key("s3://lake/orders")
    ('/lake/orders', 's3://lake/orders')
    """
    parts = urlsplit(path)
    if parts.scheme not in ("", "file"):
        return path.rstrip("/")
    return os.path.abspath(parts.path if parts.scheme else path)


def read_schemas(file: Path) -> dict[str, Schema]:
    """The schemas of a YAML or JSON file: columns by the name of a table or a path; of a CSV file, a table of columns.

    An entry is a mapping of columns to types, or one with ``columns`` and ``location``. A CSV file is what a catalog
    answers to ``SELECT * FROM information_schema.columns``.

    Raises:
        SettingError: the file cannot be read, or is of another form; the message names the line and the column.
    """
    if file.suffix.lower() == ".csv":
        return _columns_table(file)
    whole = read_yaml(file)
    return {_key(name.text): _schema(whole.map(name.text)) for name in whole.names()}


def _columns_table(file: Path) -> dict[str, Schema]:
    """Return the schemas of tables whose columns have a row each; Unity Catalog has the type in full as well."""
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            rows = [{str(name).casefold(): value for name, value in row.items()} for row in csv.DictReader(lines)]
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise SettingError(f"{file} cannot be read: {fault}") from fault
    found: dict[str, dict[str, str]] = {}
    for row in sorted(rows, key=lambda row: (row.get("ordinal_position") or "").rjust(9)):
        if missing := [name for name in _COLUMNS if not row.get(name)]:
            raise SettingError(f"{file}: {row} has no {missing[0]}; expected {', '.join(_COLUMNS)} in each row.")
        schema, table, column, type_ = (row[name] for name in _COLUMNS)
        found.setdefault(f"{schema}.{table}", {})[column] = row.get("full_data_type") or type_
    return {table: Schema(columns) for table, columns in found.items()}


_COLUMNS = ("table_schema", "table_name", "column_name", "data_type")


def _key(name: str) -> str:
    return path_key(name) if "/" in name else name


def _schema(entry: YamlMap) -> Schema:
    """Return the schema of an entry; one may have a column that is called ``columns``."""
    own = entry.map("columns") if "columns" in entry and isinstance(entry.value("columns"), dict) else entry
    return Schema({name.text: own.text(name.text) for name in own.names()}, entry.text("location"))


def stored_schemas(schemas: "list[NamedSchema]") -> dict[str, Schema]:
    """The schemas of a store, by paths and by names of tables."""
    return {key: schema for one in schemas for key, schema in _stored(one)}


def _stored(stored: "NamedSchema") -> Iterator[tuple[str, Schema]]:
    columns = {
        name: type_
        for name, type_ in stored.columns.items()
        if name.partition(".")[0] not in stored.columns or "." not in name
    }
    location = next(filter(None, map(_location, stored.names)), "")
    if location:
        yield path_key(location), Schema(columns)
    for named in stored.names:
        if not _location(named):
            yield ".".join(named.name.split(".")[-2:]), Schema(columns, location)


def _location(dataset: Dataset) -> str:
    """The URI of a dataset of files; empty for others."""
    if dataset.namespace == "file":
        return f"file:{dataset.name}"
    if "://" in dataset.namespace and "." not in dataset.name.partition("/")[0] and "jdbc" not in dataset.namespace:
        return f"{dataset.namespace}/{dataset.name.lstrip('/')}"
    return ""


def write_schemas(schemas: Schemas, file: Path) -> None:
    """Write schemas for `load_schemas`, in another process."""
    file.write_text(json.dumps({name: asdict(one) for name, one in schemas.items()}), "utf-8")


def load_schemas(file: Path) -> dict[str, Schema]:
    """The schemas of a file of `write_schemas`."""
    return {name: Schema(**one) for name, one in json.loads(file.read_text("utf-8")).items()}
