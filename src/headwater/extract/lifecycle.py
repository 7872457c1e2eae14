"""Statements that change a table and none of its rows: the table, its names and its columns.

What the catalogs know of the table is in the command under ``changed``, its columns under ``columns``
(``capture/jvm/Altered.java``).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.extract.edges import lineage
from headwater.extract.relations import naming
from headwater.extract.scope import Attribute, Extraction, attribute
from headwater.extract.trace import Paths
from headwater.model import ColumnLineage, Dataset, DatasetDescription, NameChange, Output, SchemaField
from headwater.plan import Operator

TABLES_WITHOUT_ROWS = (
    "CreateDataSourceTableCommand",
    "CreateTable",
    "CreateTableCommand",
    "CreateTableLike",
    "CreateTableLikeCommand",
    "ReplaceTable",
)
"""The commands that make a table and write no row to it."""

TRUNCATIONS = ("TruncateDeltaTableCommand", "TruncateTable", "TruncateTableCommand")
"""The commands that remove all rows of a table, or of a partition."""


def altered(
    table: DatasetDescription,
    lifecycle: str,
    columns: Iterable[Attribute] = (),
    *,
    names: tuple[NameChange, ...] = (),
    traces: Mapping[str, Paths] | None = None,
) -> Sequence[Output]:
    """The output of a statement that leaves rows alone: ``columns`` are those afterwards, ``traces`` what they were."""
    schema = tuple(SchemaField(column.name, column.type) for column in columns)
    changed = replace(table, schema=schema, lifecycle=lifecycle, version="", names=names or table.names)
    return (Output(changed, lineage(traces, traces.values(), frozenset()) if traces else ColumnLineage()),)


_IN_OWN_FOLDER = frozenset(
    ("", "avro", "csv", "delta", "hive", "hudi", "iceberg", "json", "orc", "parquet", "text", "xml")
)
"""Providers of tables that keep their rows in a folder, which is new with the table unless its user has named it."""


def owns_rows(table: Mapping[str, Any]) -> bool:
    """Whether rows come and go with a table of a catalog: not at a location of its user's choice, or behind JDBC."""
    return table.get("kind") != "EXTERNAL" and str(table.get("provider") or "").lower() in _IN_OWN_FOLDER


def names_of(table: DatasetDescription) -> tuple[Dataset, ...]:
    """Every name that a table has."""
    return (table.dataset, *(link.dataset for link in table.symlinks))


def table_of(node: Operator, extraction: Extraction) -> DatasetDescription | None:
    """The table that a command is about; None for a temporary view and for one that is not there."""
    if node.inputs:
        return of_catalog(node.inputs[0], extraction, node)
    known = naming.table_description(node.facts("changed"), extraction)
    if known or node.values.get("ifExists") is not False or node.values.get("isView"):
        return known
    identifier = node.values.get("tableName")
    return naming.named(identifier, "", extraction) if isinstance(identifier, tuple) and identifier else None


def of_catalog(child: Operator, extraction: Extraction, node: Operator | None = None) -> DatasetDescription | None:
    """The table of a catalog of the v2 API; one only named by what its catalog knows, or would do."""
    changed = node.facts("changed") if node else {}
    if changed.get("identifier"):
        return naming.table_description(changed, extraction)
    if child.name == "ResolvedIdentifier" and not changed and node and node.values.get("ifExists") is not False:
        return None
    values = {**child.values, "table": child.values.get("table") or changed or {"location": child.text("location")}}
    return next(iter(naming.v2_descriptions(values, extraction)), None)


def columns_of(node: Operator) -> tuple[Attribute, ...]:
    """The columns that a catalog had of the table, as ``columns`` has them."""
    return tuple(Attribute(-1, str(one["name"]), str(one["type"])) for one in node.values.get("columns") or ())


def own_columns(table: Operator) -> tuple[Attribute, ...]:
    """The columns of a table that a plan has resolved."""
    return tuple(map(attribute, table.expressions("outputAttributes")))
