"""Statements that change a table and none of its rows: DROP, RENAME, ALTER, TRUNCATE; and LOAD DATA, which moves files.

They tell of the table's lifecycle, and of the names that are others from then on. What the catalogs knew of the table
is in the command under ``changed``, its columns under ``columns`` (``capture/jvm/Tables.java``).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from headwater.extract.edges import lineage
from headwater.extract.relations import naming
from headwater.extract.relations.leaves import note
from headwater.extract.relations.moving import renamed_session_table, renamed_v2_table
from headwater.extract.scope import Attribute, Extraction, attribute
from headwater.extract.trace import Paths, source
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    FieldChange,
    InputField,
    NameChange,
    Output,
    SchemaField,
    Subtype,
    Transformation,
)
from headwater.plan import Operator

Alteration: TypeAlias = Callable[[Operator, Extraction], Sequence[Output]]
"""From a command and the extraction around it to what it does to a table."""

LOADED = Transformation(Subtype.IDENTITY, opaque=True)


def drop(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``DROP TABLE``, ``DROP VIEW``: the names end; files that are not the catalog's own keep theirs.

    A table that is not there, and need not be, is not told of; nor is a temporary view.
    """
    table = _table(node, extraction)
    if table is None:
        return ()
    changed = node.facts("changed")
    external = (changed.get("catalogTable") or changed).get("kind") == "EXTERNAL"
    ended = _names(table)[1:] if external else _names(table)
    return _altered(table, "DROP", names=tuple(map(NameChange, ended)))


def rename(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER TABLE a RENAME TO b``: where the data has another name now, its columns come from those of the former."""
    child = node.operator("child") or next(iter(node.inputs), None)
    pair = renamed_v2_table(node, child, extraction) if child else renamed_session_table(node, extraction)
    if pair is None:
        return ()
    former, present = pair
    columns = _columns(node) or (_own_columns(child) if child else ())
    traces: Mapping[str, Paths] = {}
    if former.dataset != present.dataset:
        note(former, columns, extraction)
        traces = {column.name: source(InputField(former.dataset, column.name)) for column in columns}
    names = zip(_names(former), _names(present), strict=True)
    changes = tuple(NameChange(one, other) for one, other in names if one != other)
    return _altered(replace(present, names=changes), "RENAME", columns, traces=traces)


def rename_column(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER TABLE t RENAME COLUMN a TO b``: ``b`` is what ``a`` was; a field within a struct is no column."""
    child = node.inputs[0]
    table = _of_catalog(child, extraction)
    column, present = node.expression("column"), node.text("newName")
    if table is None or column is None:
        return ()
    if column.values.get("path"):
        return _altered(table, "ALTER")
    former = str(column.facts("field").get("name"))
    columns = [
        Attribute(own.expr_id, present if own.name == former else own.name, own.type) for own in _own_columns(child)
    ]
    fields = (FieldChange(former, present),)
    return _altered(
        replace(table, fields=fields), "ALTER", columns, traces={present: source(InputField(table.dataset, former))}
    )


def alter_columns(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER TABLE … ADD / DROP / REPLACE / ALTER COLUMNS``: the columns that the table has afterwards."""
    table = _table(node, extraction)
    if table is None:
        return ()
    known = list(_columns(node) or (_own_columns(node.inputs[0]) if node.inputs else ()))
    if node.name == "ReplaceColumns":
        known = []
    gone = {
        str(column.facts("field").get("name"))
        for column in node.expressions("columnsToDrop")
        if not column.values.get("path")
    }
    names = {column.name for column in known}
    added = [column for column in _added(node) if column.name not in names]
    return _altered(table, "ALTER", [column for column in (*known, *added) if column.name not in gone])


def truncate(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``TRUNCATE TABLE``; of single partitions nothing is told, for the table goes on."""
    table = None if node.values.get("partitionSpec") else _table(node, extraction)
    return _altered(table, "TRUNCATE") if table else ()


def load(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``LOAD DATA``: nobody looks into the files, so each column is taken for that of its name there, and marked.

    The values arrive as they are; those of the partition are literals.
    """
    files = node.text("files")
    table = _table(node, extraction)
    if table is None or not files:
        return ()
    found = naming.path_descriptions((files,), extraction)
    for description in found:
        note(description, (), extraction)
    extraction.report("opaque", "LOAD DATA", "the files are not looked into: their columns are taken for the table's")
    fixed = {name.lower() for name in node.facts("partition")}
    columns = _columns(node)
    traces = {column.name: _loaded(column.name, () if column.name.lower() in fixed else found) for column in columns}
    return _altered(table, "OVERWRITE" if node.values.get("isOverwrite") is True else "", columns, traces=traces)


def _loaded(name: str, files: Iterable[DatasetDescription]) -> Paths:
    return frozenset((InputField(file.dataset, name), LOADED) for file in files)


def _altered(
    table: DatasetDescription,
    lifecycle: str,
    columns: Iterable[Attribute] = (),
    *,
    names: tuple[NameChange, ...] = (),
    traces: Mapping[str, Paths] | None = None,
) -> Sequence[Output]:
    schema = tuple(SchemaField(column.name, column.type) for column in columns)
    told = replace(table, schema=schema, lifecycle=lifecycle, version="", names=names or table.names)
    return (Output(told, lineage(traces, traces.values(), frozenset()) if traces else ColumnLineage()),)


def _names(table: DatasetDescription) -> tuple[Dataset, ...]:
    return (table.dataset, *(link.dataset for link in table.symlinks))


def _table(node: Operator, extraction: Extraction) -> DatasetDescription | None:
    """The table that a command is about; None for a temporary view and for one that is not there."""
    if node.inputs:
        return _of_catalog(node.inputs[0], extraction, node)
    known = naming.table_description(node.facts("changed"), extraction)
    if known or node.values.get("ifExists") is not False or node.values.get("isView"):
        return known
    identifier = node.values.get("tableName")
    return naming.named(identifier, "", extraction) if isinstance(identifier, tuple) and identifier else None


def _of_catalog(child: Operator, extraction: Extraction, node: Operator | None = None) -> DatasetDescription | None:
    """The table of a catalog of the v2 API; one only named by what its catalog knows, or would do."""
    changed = node.facts("changed") if node else {}
    if changed.get("identifier"):
        return naming.table_description(changed, extraction)
    if child.name == "ResolvedIdentifier" and not changed and node and node.values.get("ifExists") is not False:
        return None
    values = {**child.values, "table": child.values.get("table") or changed or {"location": child.text("location")}}
    return next(iter(naming.v2_descriptions(values, extraction)), None)


def _columns(node: Operator) -> tuple[Attribute, ...]:
    """The columns that a catalog had of the table, as ``columns`` tells them."""
    return tuple(Attribute(-1, str(one["name"]), str(one["type"])) for one in node.values.get("columns") or ())


def _own_columns(table: Operator) -> tuple[Attribute, ...]:
    return tuple(map(attribute, table.expressions("outputAttributes")))


def _added(node: Operator) -> list[Attribute]:
    """The columns of ``ADD COLUMNS``: expressions since Spark 4, facts before; fields within a struct are none."""
    found = [
        Attribute(-1, column.text("colName"), column.text("dataType"))
        for column in node.expressions("columnsToAdd")
        if not column.references.get("path")
    ]
    for facts in (*(node.values.get("columnsToAdd") or ()), *(node.values.get("colsToAdd") or ())):
        path = (facts["name"],) if isinstance(facts["name"], str) else tuple(facts["name"])
        found += [Attribute(-1, path[0], str(facts["type"]))] if len(path) == 1 else []
    return found


ALTERATIONS: Mapping[str, Alteration] = {
    **dict.fromkeys(
        (
            "AddColumns",
            "AlterColumn",
            "AlterColumns",
            "AlterTableAddColumnsCommand",
            "AlterTableChangeColumnCommand",
            "DropColumns",
            "ReplaceColumns",
        ),
        alter_columns,
    ),
    **dict.fromkeys(("AlterTableRenameCommand", "RenameTable"), rename),
    **dict.fromkeys(("DropTable", "DropTableCommand"), drop),
    **dict.fromkeys(("TruncateTable", "TruncateTableCommand"), truncate),
    "LoadDataCommand": load,
    "RenameColumn": rename_column,
}
