"""``CALL`` of a procedure: those of Iceberg that bring data into a table, or make other rows of it current.

What a procedure does is not in its plan: its name is, and the tables that it names (``capture/jvm/Procedures.java``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from headwater.extract.edges import lineage
from headwater.extract.lifecycle import altered, columns_of
from headwater.extract.relations import naming
from headwater.extract.relations.leaves import note
from headwater.extract.scope import Attribute, Extraction
from headwater.extract.trace import NOTHING, source
from headwater.model import DatasetDescription, InputField, Output, SchemaField
from headwater.plan import Operator

Facts: TypeAlias = Mapping[str, Any]
Procedure: TypeAlias = Callable[[DatasetDescription, Facts, Extraction], Sequence[Output]]
"""From the table that a procedure is about, the facts of its call and the extraction to what it does to the table."""


def call(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``CALL catalog.system.procedure(…)``: a gap where nothing is known of the procedure, or its table has no name."""
    facts = node.facts("call")
    name = tuple(facts.get("name") or ("",))[-1].lower()
    if name in _MOVES_NOTHING:
        return ()
    procedure, table = _PROCEDURES.get(name), _target(facts, extraction)
    if procedure is None or table is None:
        why = "what this procedure does to which table is not known: lineage through it is missing"
        extraction.report("operator", f"CALL {name}", why)
        return ()
    return procedure(table, facts, extraction)


def add_files(table: DatasetDescription, facts: Facts, extraction: Extraction) -> Sequence[Output]:
    """Files become part of a table. Iceberg finds their columns by name (``TableMigrationUtil``, name mapping).

    The columns of an imported table of the session's catalog are known; files by path are taken to have the table's.
    """
    return _filled(table, facts, "", extraction)


def snapshot(table: DatasetDescription, facts: Facts, extraction: Extraction) -> Sequence[Output]:
    """A new table over the files of another one."""
    return _filled(table, facts, "CREATE", extraction)


def converted(table: DatasetDescription, facts: Facts, extraction: Extraction) -> Sequence[Output]:
    """The same rows under another format or another name: the columns that the table has afterwards."""
    return altered(table, "ALTER", _columns(facts["table"]))


def earlier(table: DatasetDescription, facts: Facts, extraction: Extraction) -> Sequence[Output]:
    """Rows that were written before become current, or those of a branch: which version they make is not known."""
    return [made_current(table, table, _columns(facts["table"]), "", extraction)]


def of_snapshot(table: DatasetDescription, facts: Facts, extraction: Extraction) -> Sequence[Output]:
    """The rows of a snapshot become current, which the call names; of ``set_current_snapshot`` perhaps by a tag."""
    return [made_current(table, table, _columns(facts["table"]), str(facts.get("snapshot_id") or ""), extraction)]


def made_current(
    table: DatasetDescription,
    former: DatasetDescription,
    columns: Sequence[Attribute],
    version: str,
    extraction: Extraction,
) -> Output:
    """The output of a statement that puts rows back which were written before: ``former`` is what is read.

    The statements that wrote the rows have that lineage; stores find it by ``version``.
    """
    note(former, columns, extraction)
    schema = tuple(SchemaField(column.name, column.type) for column in columns)
    names = [column.name for column in columns]
    own = [source(InputField(table.dataset, name)) for name in names]
    described = replace(table, schema=schema, version="")
    return Output(described, lineage(names, own, NOTHING), table.version, restores=version)


def convert(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``CONVERT TO DELTA``: the files stay where they are, and so does the name."""
    name = str((node.values.get("tableIdentifier") or ("",))[-1])
    path = node.text("deltaPath") or (name if "/" in name else "")
    known = naming.table_description(node.facts("changed"), extraction)
    table = known or (naming.written_path(path, extraction) if path else None)
    if table is None:
        extraction.report("target", "CONVERT TO DELTA", "the table that is converted could not be found")
    return altered(table, "ALTER", columns_of(node)) if table else ()


def restore(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``RESTORE``: the rows of an earlier version of the same table."""
    found = naming.v2_descriptions({"table": node.facts("sourceTable")}, extraction)
    current = node.text("current")
    columns = columns_of(node)
    return [made_current(replace(one, version=current), one, columns, one.version, extraction) for one in found]


def _filled(table: DatasetDescription, facts: Facts, lifecycle: str, extraction: Extraction) -> Sequence[Output]:
    imported, columns = facts.get("source_table") or {}, _columns(facts["table"])
    files = naming.table_description(imported.get("catalogTable") or {}, extraction)
    if files is None and imported.get("path"):
        files = naming.path_descriptions([str(imported["path"])], extraction)[0]
    if files is None:
        extraction.report("relation", "CALL", "what the files are that a procedure brings in could not be found")
        return altered(table, lifecycle, columns)
    known = _columns(imported)
    note(files, known, extraction)
    names = {column.name for column in known or columns}
    traces = [source(InputField(files.dataset, one.name)) if one.name in names else NOTHING for one in columns]
    schema = tuple(SchemaField(column.name, column.type) for column in columns)
    described = replace(table, schema=schema, lifecycle=lifecycle, version="")
    return [Output(described, lineage([column.name for column in columns], traces, NOTHING))]


def _target(facts: Facts, extraction: Extraction) -> DatasetDescription | None:
    table = facts.get("table") or {}
    parts = tuple((table.get("identifier") or {}).get("parts", ()))
    if not parts or not table.get("columns"):
        return None
    found = naming.in_catalog(facts.get("catalog") or {}, parts, str(table.get("location") or ""), extraction)
    return replace(found, version=str(table.get("version") or ""))


def _columns(facts: Facts) -> tuple[Attribute, ...]:
    return tuple(Attribute(-1, str(one["name"]), str(one["type"])) for one in facts.get("columns") or ())


_MOVES_NOTHING = frozenset(
    (
        "ancestors_of",
        "compute_partition_stats",
        "compute_table_stats",
        "create_changelog_view",
        "expire_snapshots",
        "remove_orphan_files",
        "rewrite_data_files",
        "rewrite_manifests",
        "rewrite_position_delete_files",
        "rewrite_table_path",
    )
)
"""Procedures that keep a table's rows as they are, or show something of it."""

_PROCEDURES: Mapping[str, Procedure] = {
    "add_files": add_files,
    "cherrypick_snapshot": earlier,
    "fast_forward": earlier,
    "migrate": converted,
    "publish_changes": earlier,
    "register_table": converted,
    "rollback_to_snapshot": of_snapshot,
    "rollback_to_timestamp": earlier,
    "set_current_snapshot": of_snapshot,
    "snapshot": snapshot,
}
