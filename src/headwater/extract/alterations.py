"""Statements that change a table and none of its rows: CREATE, DROP, RENAME, ALTER; TRUNCATE; LOAD DATA moves files.

Their events have the table's lifecycle, and the names that it has from then on.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from headwater.extract.catalogs import create, named_in_catalog
from headwater.extract.lifecycle import (
    TABLES_WITHOUT_ROWS,
    TRUNCATIONS,
    altered,
    columns_of,
    names_of,
    of_catalog,
    own_columns,
    owns_rows,
    table_of,
)
from headwater.extract.relations import naming
from headwater.extract.relations.leaves import note
from headwater.extract.relations.positions import names_in_files
from headwater.extract.scope import Attribute, Extraction
from headwater.extract.trace import Paths, source
from headwater.model import DatasetDescription, FieldChange, InputField, NameChange, Output, Subtype, Transformation
from headwater.openlineage.naming.jdbc_url import jdbc_table
from headwater.plan import Operator

Alteration: TypeAlias = Callable[[Operator, Extraction], Sequence[Output]]
"""From a command and the extraction around it to what it does to a table."""

LOADED = Transformation(Subtype.IDENTITY, opaque=True)


def drop(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``DROP TABLE``, ``DROP VIEW``: the names end; files that are not the catalog's own keep theirs.

    A table that is not there, and need not be, is left out; so is a temporary view.
    """
    table = table_of(node, extraction)
    changed = node.facts("changed")
    return _dropped(table, changed.get("catalogTable") or changed) if table else ()


def drop_v2_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``DROP VIEW`` in a catalog of Iceberg's: a view has no place."""
    view = named_in_catalog(node.operator("child"), "", extraction)
    return _dropped(view, {}) if view else ()


def drop_database(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``DROP DATABASE … CASCADE``: each table and view that was in it is dropped."""
    more = node.values.get("droppedMore")
    if more:
        extraction.report("budget", "DROP DATABASE", f"{more} more tables and views were dropped, which have no event")
    found = ((_within(node, facts, extraction), facts) for facts in node.values.get("dropped") or ())
    return [output for table, facts in found if table for output in _dropped(table, facts)]


def _within(node: Operator, facts: Mapping[str, Any], extraction: Extraction) -> DatasetDescription | None:
    """A table of the session's catalog by what that knew of it, one of another catalog by its name."""
    if facts.get("identifier"):
        return naming.table_description(facts, extraction)
    return naming.in_catalog(node.inputs[0].facts("catalog"), tuple(facts["parts"]), "", extraction)


def _dropped(table: DatasetDescription, facts: Mapping[str, Any]) -> Sequence[Output]:
    ended = names_of(table) if owns_rows(facts) else names_of(table)[1:]
    return altered(table, "DROP", names=tuple(map(NameChange, ended)))


def rename(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER TABLE a RENAME TO b``: where the data has another name now, its columns come from those of the former."""
    child = node.operator("child") or next(iter(node.inputs), None)
    pair = renamed_v2_table(node, child, extraction) if child else renamed_session_table(node, extraction)
    if pair is None:
        return ()
    former, present = pair
    columns = columns_of(node) or (own_columns(child) if child else ())
    traces: Mapping[str, Paths] = {}
    if former.dataset != present.dataset:
        note(former, columns, extraction)
        traces = {column.name: source(InputField(former.dataset, column.name)) for column in columns}
    names = zip(names_of(former), names_of(present), strict=True)
    changes = tuple(NameChange(one, other) for one, other in names if one != other)
    return altered(replace(present, names=changes), "RENAME", columns, traces=traces)


def rename_column(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER TABLE t RENAME COLUMN a TO b``: ``b`` is what ``a`` was; a field within a struct is no column."""
    child = node.inputs[0]
    table = of_catalog(child, extraction)
    column, present = node.expression("column"), node.text("newName")
    if table is None or column is None:
        return ()
    if column.values.get("path"):
        return altered(table, "ALTER")
    former = str(column.facts("field").get("name"))
    columns = [
        Attribute(own.expr_id, present if own.name == former else own.name, own.type) for own in own_columns(child)
    ]
    fields = (FieldChange(former, present),)
    return altered(
        replace(table, fields=fields), "ALTER", columns, traces={present: source(InputField(table.dataset, former))}
    )


def alter_columns(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER TABLE … ADD / DROP / REPLACE / ALTER COLUMNS``: the columns that the table has afterwards.

    A column that was dropped keeps its lineage under another name, since a new one may take the name: rows of before
    have nothing in that.
    """
    table = table_of(node, extraction)
    if table is None:
        return ()
    known = list(columns_of(node) or (own_columns(node.inputs[0]) if node.inputs else ()))
    if node.name == "ReplaceColumns":
        known = []
    names = {column.name for column in known}
    whole = (column for column in node.expressions("columnsToDrop") if not column.values.get("path"))
    gone = [name for column in whole if (name := str(column.facts("field").get("name"))) in names]
    table = replace(table, fields=tuple(FieldChange(name, "") for name in gone))
    added = [column for column in _added(node) if column.name not in names]
    return altered(table, "ALTER", [column for column in (*known, *added) if column.name not in gone])


def truncate(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``TRUNCATE TABLE``; of single partitions, whose values are then with it."""
    table = table_of(node, extraction)
    partition = tuple((name, str(value)) for name, value in node.facts("emptied").items())
    return altered(replace(table, partition=partition), "TRUNCATE") if table else ()


def load(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``LOAD DATA``: nobody looks into the files, so each column is taken for that of its name there, and marked.

    In files without names it is that of its place. The values arrive as they are; those of the partition are literals.
    """
    files = node.text("files")
    table = table_of(node, extraction)
    if table is None or not files:
        return ()
    found = naming.path_descriptions((files,), extraction)
    for description in found:
        note(description, (), extraction)
    extraction.report("opaque", "LOAD DATA", "the files are not looked into: their columns are taken for the table's")
    fixed = {name.lower() for name in node.facts("partition")}
    columns = columns_of(node)
    names = [column.name for column in columns]
    data = [name for name in names if name.lower() not in fixed]
    stored = dict(zip(data, names_in_files(str(node.facts("changed").get("serde") or ""), None, data), strict=True))
    traces = {name: _loaded(stored.get(name, name), found if name in stored else ()) for name in names}
    return altered(table, "OVERWRITE" if node.values.get("isOverwrite") is True else "", columns, traces=traces)


def _loaded(name: str, files: Iterable[DatasetDescription]) -> Paths:
    return frozenset((InputField(file.dataset, name), LOADED) for file in files)


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
    **dict.fromkeys(TABLES_WITHOUT_ROWS, create),
    **dict.fromkeys(("AlterTableRenameCommand", "RenameTable"), rename),
    **dict.fromkeys(("DropDatabaseCommand", "DropNamespace"), drop_database),
    "DropIcebergView": drop_v2_view,
    **dict.fromkeys(("DropTable", "DropTableCommand"), drop),
    **dict.fromkeys(TRUNCATIONS, truncate),
    "LoadDataCommand": load,
    "RenameColumn": rename_column,
}


Renamed = tuple[DatasetDescription, DatasetDescription]
"""A table by its former and by its present names."""


def renamed_session_table(node: Operator, extraction: Extraction) -> Renamed | None:
    """A table or view of the session's catalog; None for a temporary view.

    When the rename was over before the catalog could be asked, it knows the table by its new name.
    """
    before, after = node.facts("changed"), node.facts("renamed")
    if before:
        return _renamed(before, _moved(before, _last(node, "newName")), extraction)
    return _renamed(_moved(after, _last(node, "oldName")), after, extraction) if after else None


def renamed_v2_table(node: Operator, table: Operator, extraction: Extraction) -> Renamed | None:
    """A table of a catalog of the v2 API: it keeps its location, unless the session's catalog moves it."""
    new = tuple(node.values.get("newName") or ())
    facts = table.facts("table")
    known = facts.get("catalogTable") or {}
    if known and new:
        return _renamed(known, _moved(known, new[-1].lower()), extraction)
    found = naming.v2_descriptions(table.values, extraction)
    if not found or not new:
        return None
    parts = _in_full(new, tuple(table.facts("identifier").get("parts", ())), str(table.facts("catalog").get("name")))
    if facts.get("url"):
        return found[0], replace(found[0], dataset=jdbc_table(str(facts["url"]), parts))
    return found[0], naming.in_catalog(table.facts("catalog"), parts, str(facts.get("location") or ""), extraction)


def _in_full(new: tuple[str, ...], old: tuple[str, ...], catalog: str) -> tuple[str, ...]:
    """The new name with its namespace: a bare one stays in that of the old, and the catalog may stand before it."""
    if len(new) == 1:
        return (*old[:-1], *new)
    return new[1:] if len(new) == len(old) + 1 and new[0] == catalog else new


def _last(node: Operator, field: str) -> str:
    identifier = tuple(node.values.get(field) or ("",))
    return str(identifier[-1]).lower()


def _moved(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The table by another name: a managed one whose folder has its name moves too (ExternalCatalog.renameTable)."""
    identifier, location = tuple(table["identifier"]), str(table.get("location") or "")
    folder, _, own = location.rstrip("/").rpartition("/")
    if table.get("kind") == "MANAGED" and own.lower() == identifier[-1].lower():
        location = f"{folder}/{name}"
    return {**table, "identifier": (*identifier[:-1], name), "location": location}


def _renamed(before: Mapping[str, Any], after: Mapping[str, Any], extraction: Extraction) -> Renamed | None:
    former, present = (naming.table_description(table, extraction) for table in (before, after))
    return (former, present) if former and present else None
