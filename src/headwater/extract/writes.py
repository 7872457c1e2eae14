"""Commands that write: where the query, the names of its columns and the target are, for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from headwater.extract.alterations import ALTERATIONS
from headwater.extract.catalogs import clone, create_v2_table, create_v2_view, to_v2_table
from headwater.extract.changes import delete, delta_merge, delta_update, row_change, row_level
from headwater.extract.hudi import hudi_delete, hudi_merge, hudi_update
from headwater.extract.procedures import call, convert, restore
from headwater.extract.rdd_actions import READ, SAVED, TAKEN, to_function, to_hadoop, to_program
from headwater.extract.relations import connector_names, naming
from headwater.extract.relations.positions import also_by_position, written_names
from headwater.extract.relations.streams import sink_target, writes_a_dataset
from headwater.extract.replaced_rows import with_replaced_rows
from headwater.extract.scope import Extraction, Rows
from headwater.extract.written import completed, mode, query, with_columns, written
from headwater.model import ColumnLineage, Output, SchemaField
from headwater.plan import Operator

Write: TypeAlias = Callable[[Operator, Extraction], Sequence[Output]]
"""From a command and the extraction of all below it to what it writes."""


def to_files(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``df.write.parquet(path)`` and the v1 INSERT into a table: names in ``outputColumnNames``, by position."""
    table = naming.table_description(node.facts("catalogTable"), extraction)
    path, names = node.text("outputPath"), node.values.get("outputColumnNames")
    target = table or (naming.written_path(path, extraction) if path else None)
    partitions = [column.label for column in node.expressions("partitionColumns")]
    header = naming.options_with_values(node.facts("options")).get("header")
    if not table:
        names = written_names(_format(node), header, names, partitions)
    found = written(target, query(node, extraction), names, mode(node), extraction)
    return also_by_position(found, _format(node), header, partitions) if table else found


def _format(node: Operator) -> str:
    return str(node.facts("fileFormat").get("class") or node.text("fileFormat"))


def to_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """CTAS, ``saveAsTable`` and the Hive INSERT: the table's metadata is in the command.

    A table that ``saveAsTable`` adds rows to is ``present``: the command knows neither its place nor its format.
    """
    facts = node.facts("present") or node.facts("table") or node.facts("tableDesc")
    target = naming.table_description(facts, extraction)
    creates = node.name != "InsertIntoHiveTable" and node.text("mode") != "Append"
    how = mode(node) or ("CREATE" if creates else "")
    names = node.values.get("outputColumnNames")
    found = written(with_columns(target, node), query(node, extraction), names, how, extraction)
    partitioned = [_with_partitions(output, tuple(node.facts("partition"))) for output in found]
    whole = completed(partitioned, facts, extraction)
    return also_by_position(whole, str(facts.get("provider") or ""), facts.get("header"), facts.get("partitions") or ())


def _with_partitions(output: Output, partitions: tuple[str, ...]) -> Output:
    """The output of a Hive INSERT with the static partitions too, which its query does not have: no edge."""
    fields, schema = output.lineage.fields, {field.name: field for field in output.description.schema}
    known = {name.lower(): name for name in fields}
    last = [known.get(name.lower(), name) for name in partitions]
    names = [*(name for name in fields if name not in last), *last]
    if len(names) == len(fields):
        return output
    described = replace(output.description, schema=tuple(schema.get(name, SchemaField(name)) for name in names))
    lineage = ColumnLineage({name: fields.get(name, frozenset()) for name in names}, output.lineage.dataset)
    return Output(described, lineage)


def to_directory(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``INSERT OVERWRITE DIRECTORY``."""
    location = str(node.facts("storage").get("location") or "")
    target = naming.written_path(location, extraction) if location else None
    rows, storage = query(node, extraction), node.facts("storage")
    names = node.values.get("outputColumnNames") or [column.name for column in rows.output]
    format_ = node.text("provider") or str(storage.get("serde") or "")
    return written(target, rows, written_names(format_, storage.get("header"), names, ()), "OVERWRITE", extraction)


def to_source(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``df.write.format("jdbc").save()`` and other v1 sources: the target is among the options."""
    named, sink, options = connector_names.of_relation(node), node.facts("sink"), node.facts("options")
    at = {"path": sink["path"]} if sink.get("path") else {}
    target = named or naming.option_description({**naming.options_with_values(options), **at}, extraction)
    target = replace(target, version=sink.get("version") or "") if target else None
    found = written(with_columns(target, node), query(node, extraction), None, mode(node), extraction)
    return completed(found, sink, extraction)


def to_sink(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``df.writeStream``: a table in memory, the console and a function are no datasets."""
    if not writes_a_dataset(node, extraction):
        return ()
    rows, sink, names = query(node, extraction), node.facts("sink"), None
    in_files = str(sink.get("format") or ""), sink.get("header")
    table, partitions = node.facts("catalogTable") or sink.get("catalogTable"), sink.get("partitions") or ()
    if not table:
        names = written_names(*in_files, [column.name for column in rows.output], partitions)
    found = written(with_columns(sink_target(node, extraction), node), rows, names, "", extraction)
    return also_by_position(found, *in_files, partitions) if table else found


def to_relation(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``INSERT INTO`` a table of a v1 source such as JDBC: by position to the relation's columns."""
    relation = node.operator("logicalRelation")
    if relation is None:
        return written(None, Rows(), None, "", extraction)
    facts = relation.facts("relation")
    known_as = naming.catalog_name(relation.facts("catalogTable"), extraction)
    table = naming.table_description(relation.facts("catalogTable"), extraction)
    own = naming.with_symlink(naming.jdbc_description(facts), known_as) if facts.get("url") else table
    if named := connector_names.of_relation(relation):
        own = connector_names.also_known_as(named, known_as)
    target = next(iter(extraction.relations.get(relation, ())), own)
    names = [column.label for column in relation.expressions("output")]
    return written(target, query(node, extraction), names, mode(node), extraction)


def create_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``CREATE VIEW v (a, b) AS SELECT``: a temporary view is no dataset."""
    if node.text("viewType") not in ("PersistedView", ""):
        return ()
    names = [pair[0] for pair in node.values.get("userSpecifiedColumns") or ()]
    identifier = tuple(node.values.get("name") or ())
    target = naming.named(identifier, "", extraction) if identifier else None
    return written(target, query(node, extraction), names or None, "CREATE", extraction)


def alter_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER VIEW v AS SELECT``."""
    identifier = tuple(node.values.get("name") or ())
    target = naming.named(identifier, "", extraction) if identifier else None
    return written(target, query(node, extraction), None, "ALTER", extraction)


def several(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``FROM t INSERT INTO a … INSERT INTO b …``: a union of commands, each with its own output."""
    found: list[Output] = []
    for child in node.inputs:
        if child.name in WRITES:
            found.extend(with_replaced_rows(WRITES[child.name](child, extraction), child, extraction))
    return found


def to_somewhere(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """A command with a query and somewhere a target: Hudi's INSERT, and commands nobody knows, whose gap says so."""
    relation = next((operator for name in _TARGET_FIELDS if (operator := node.operator(name))), None)
    found = naming.relation_descriptions(relation, extraction) if relation else ()
    facts = node.facts("table") or node.facts("catalogTable") or node.facts("tableDesc")
    target = found[0] if found else naming.table_description(facts, extraction)
    return written(target, query(node, extraction), None, mode(node), extraction)


def _seems_to_write(root: Operator) -> bool:
    return root.operator("query") is not None and not root.expressions("output") and root.name not in _READS_ONLY


def targets_of(node: Operator) -> frozenset[Operator]:
    """The operators that stand for what a command of Spark's writes."""
    found = (node.operator(field) for field in _TARGETS.get(node.name, ()))
    return frozenset(target for target in found if target is not None)


def only_written(operators: Iterable[Operator]) -> frozenset[Operator]:
    """The operators that stand for what a command writes, and that nothing reads."""
    operators = tuple(operators)
    written = frozenset(target for node in operators for target in targets_of(node))
    if not written:
        return written
    read = {child for node in operators if node not in written for child in (*node.inputs, node.operator("query"))}
    return written - read


def outputs(root: Operator, extraction: Extraction) -> Sequence[Output]:
    """The outputs of the command at the root of a plan; none of a query that only reads."""
    if root.name == "WithCTE" and (plan := root.operator("plan")) is not None:
        return outputs(plan, extraction)
    write = WRITES.get(root.name) or (to_somewhere if _seems_to_write(root) else None)
    try:
        found = write(root, extraction) if write else ()
        return found if root.name == "Union" else with_replaced_rows(found, root, extraction)
    except Exception as error:
        extraction.report("error", root.name, f"working out what it writes failed: {error!r}")
        return written(None, query(root, extraction), None, "", extraction)


_TARGET_FIELDS = ("logicalRelation", "table", "target")
_READS_ONLY = ("CacheTableAsSelect", "SetVariable")

_TARGETS: Mapping[str, tuple[str, ...]] = {
    "AppendData": ("table",),
    "CreateTableAsSelect": ("name",),
    "DeltaDynamicPartitionOverwriteCommand": ("table",),
    "InsertIntoDataSourceCommand": ("logicalRelation",),
    "InsertIntoHoodieTableCommand": ("logicalRelation",),
    "MergeIntoHoodieTableCommand": ("mergeInto",),
    "OverwriteByExpression": ("table",),
    "OverwritePartitionsDynamic": ("table",),
    "ReplaceData": ("table", "originalTable"),
    "ReplaceTableAsSelect": ("name",),
    "UpdateHoodieTableCommand": ("ut",),
    "WriteDelta": ("table", "originalTable"),
}

WRITES: Mapping[str, Write] = {
    **ALTERATIONS,
    "AlterViewAsCommand": alter_view,
    "AppendData": to_v2_table,
    "Call": call,
    "ConvertToDeltaCommand": convert,
    "CreateDataSourceTableAsSelectCommand": to_table,
    "CreateHiveTableAsSelectCommand": to_table,
    "CreateHoodieTableAsSelectCommand": to_table,
    "CreateIcebergView": create_v2_view,
    "CreateTableAsSelect": create_v2_table,
    "CreateViewCommand": create_view,
    "CreateDeltaTableCommand": clone,
    "DeleteCommand": delete,
    "DeleteFromTable": delete,
    "DeleteHoodieTableCommand": hudi_delete,
    "DeltaDynamicPartitionOverwriteCommand": to_v2_table,
    "InsertIntoDataSourceCommand": to_relation,
    "InsertIntoDataSourceDirCommand": to_directory,
    "InsertIntoHadoopFsRelationCommand": to_files,
    "InsertIntoHiveDirCommand": to_directory,
    "InsertIntoHiveTable": to_table,
    "InsertIntoHoodieTableCommand": to_somewhere,
    "MergeIntoCommand": delta_merge,
    "MergeIntoHoodieTableCommand": hudi_merge,
    "OverwriteByExpression": to_v2_table,
    "OverwritePartitionsDynamic": to_v2_table,
    "ReplaceData": row_level,
    "ReplaceTableAsSelect": create_v2_table,
    "RestoreTableCommand": restore,
    "RowChange": row_change,
    "SaveAsV1TableCommand": to_table,
    "SaveIntoDataSourceCommand": to_source,
    "Union": several,
    "UpdateCommand": delta_update,
    "UpdateHoodieTableCommand": hudi_update,
    "WriteDelta": row_level,
    "WriteToStream": to_sink,
    READ: to_program,
    **dict.fromkeys(SAVED, to_hadoop),
    **dict.fromkeys(TAKEN, to_function),
}
