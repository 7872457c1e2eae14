"""Commands that write: where the query, the names of its columns and the target are, for each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from headwater.extract.changes import delta_delete, delta_merge, delta_update, row_level
from headwater.extract.edges import lineage
from headwater.extract.relations import naming
from headwater.extract.scope import Attribute, Extraction, Rows
from headwater.extract.trace import flat
from headwater.model import (
    ColumnLineage,
    Dataset,
    DatasetDescription,
    Output,
    SchemaField,
)
from headwater.openlineage.naming import jdbc_dataset, jdbc_source
from headwater.plan import Operator

Write: TypeAlias = Callable[[Operator, Extraction], Sequence[Output]]
"""From a command and the extraction of all below it to what it writes."""


def to_files(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``df.write.parquet(path)`` and the v1 INSERT into a table: names in ``outputColumnNames``, by position."""
    table = naming.table_description(node.facts("catalogTable"), extraction)
    path = node.text("outputPath")
    target = table or (naming.written_path(path, extraction) if path else None)
    return _written(target, _query(node, extraction), node.values.get("outputColumnNames"), _mode(node), extraction)


def to_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """CTAS, ``saveAsTable`` and the Hive INSERT: the table's metadata is in the command."""
    facts = node.facts("table") or node.facts("tableDesc")
    target = naming.table_description(facts, extraction)
    creates = node.name != "InsertIntoHiveTable" and node.text("mode") != "Append"
    how = _mode(node) or ("CREATE" if creates else "")
    found = _written(target, _query(node, extraction), node.values.get("outputColumnNames"), how, extraction)
    return [_with_partitions(output, tuple(node.facts("partition"))) for output in found]


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
    rows = _query(node, extraction)
    return _written(target, rows, node.values.get("outputColumnNames"), "OVERWRITE", extraction)


def to_source(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``df.write.format("jdbc").save()`` and other v1 sources: the target is among the options."""
    target = _option_target(node.facts("options"), extraction)
    return _written(target, _query(node, extraction), None, _mode(node), extraction)


def to_relation(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``INSERT INTO`` a table of a v1 source such as JDBC: by position to the relation's columns."""
    relation = node.operator("logicalRelation")
    if relation is None:
        return _written(None, Rows(), None, "", extraction)
    facts = relation.facts("relation")
    known_as = naming.catalog_name(relation.facts("catalogTable"), extraction)
    table = naming.table_description(relation.facts("catalogTable"), extraction)
    target = naming.with_symlink(naming.jdbc_description(facts), known_as) if facts.get("url") else table
    names = [column.label for column in relation.expressions("output")]
    return _written(target, _query(node, extraction), names, _mode(node), extraction)


def to_v2_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``INSERT INTO`` a table of the v2 API: by position to its columns, unless it says by name."""
    table = node.operator("table")
    found = naming.v2_descriptions(table.values, extraction) if table else ()
    by_name = node.values.get("isByName") or table is None
    names = None if by_name or table is None else [column.label for column in table.expressions("output")]
    how = "OVERWRITE" if node.name.startswith("Overwrite") else ""
    return _written(found[0] if found else None, _query(node, extraction), names, how, extraction)


def create_v2_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """CTAS and RTAS of a v2 catalog: the name is a resolved identifier."""
    name = node.operator("name")
    parts = tuple(name.facts("identifier").get("parts", ())) if name else ()
    location = str(node.facts("tableSpec").get("location") or "")
    target = naming.in_catalog(name.facts("catalog"), parts, location, extraction) if name and parts else None
    return _written(target, _query(node, extraction), None, "CREATE", extraction)


def create_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``CREATE VIEW v (a, b) AS SELECT``: a temporary view is no dataset."""
    if node.text("viewType") not in ("PersistedView", ""):
        return ()
    names = [pair[0] for pair in node.values.get("userSpecifiedColumns") or ()]
    identifier = tuple(node.values.get("name") or ())
    target = naming.named(identifier, "", extraction) if identifier else None
    return _written(target, _query(node, extraction), names or None, "CREATE", extraction)


def alter_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ALTER VIEW v AS SELECT``."""
    identifier = tuple(node.values.get("name") or ())
    target = naming.named(identifier, "", extraction) if identifier else None
    return _written(target, _query(node, extraction), None, "ALTER", extraction)


def several(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``FROM t INSERT INTO a … INSERT INTO b …``: a union of commands, each with its own output."""
    found: list[Output] = []
    for child in node.inputs:
        if child.name in WRITES:
            found.extend(WRITES[child.name](child, extraction))
    return found


def only_written(operators: Iterable[Operator]) -> frozenset[Operator]:
    """The operators that stand for what a command writes, and that nothing reads."""
    operators = tuple(operators)
    found = {target for node in operators for field in _TARGETS.get(node.name, ()) if (target := node.operator(field))}
    read = {child for node in operators for child in (*node.inputs, node.operator("query"))}
    return frozenset(found - read)


def outputs(root: Operator, extraction: Extraction) -> Sequence[Output]:
    """What the command at the root of a plan writes; empty for a query that only reads."""
    if root.name == "WithCTE" and (plan := root.operator("plan")) is not None:
        return outputs(plan, extraction)
    write = WRITES.get(root.name)
    try:
        return write(root, extraction) if write else ()
    except Exception as error:
        extraction.report("error", root.name, f"working out what it writes failed: {error!r}")
        return _written(None, _query(root, extraction), None, "", extraction)


def _query(node: Operator, extraction: Extraction) -> Rows:
    query = node.operator("query") or node.operator("plan") or (node.inputs[0] if node.inputs else None)
    return extraction.rows(query)


def _mode(node: Operator) -> str:
    overwrites = node.values.get("overwrite") is True or node.text("mode") == "Overwrite"
    return "OVERWRITE" if overwrites else ""


def _written(
    target: DatasetDescription | None, rows: Rows, names: Sequence[str] | None, how: str, extraction: Extraction
) -> Sequence[Output]:
    if target is None:
        extraction.report("target", "output", "the dataset that is written could not be named")
        target = DatasetDescription(Dataset("inmemory://", "unknown"))
    labels = _labels(rows.output, names, extraction)
    schema = tuple(SchemaField(name, column.type) for name, column in zip(labels, rows.output, strict=False))
    traces = [flat(rows.column(place)) for place in range(len(labels))]
    return (Output(replace(target, schema=schema, lifecycle=how), lineage(labels, traces, rows.deciding)),)


def _labels(output: tuple[Attribute, ...], names: Sequence[str] | None, extraction: Extraction) -> list[str]:
    own = [column.name for column in output]
    if not names:
        return own
    if len(names) != len(own):
        extraction.report("target", "columns", f"{len(names)} column names were met for {len(own)} columns")
        return own
    return list(names)


def _option_target(options: Mapping[str, Any], extraction: Extraction) -> DatasetDescription | None:
    by_key = {key.lower(): value for key, value in options.items() if value}
    if "url" in by_key and ("dbtable" in by_key or "table" in by_key):
        table = by_key.get("dbtable") or by_key.get("table") or ""
        return DatasetDescription(jdbc_dataset(by_key["url"], table), source=jdbc_source(by_key["url"]))
    return naming.written_path(by_key["path"], extraction) if "path" in by_key else None


_TARGETS: Mapping[str, tuple[str, ...]] = {
    "AppendData": ("table",),
    "CreateTableAsSelect": ("name",),
    "InsertIntoDataSourceCommand": ("logicalRelation",),
    "OverwriteByExpression": ("table",),
    "OverwritePartitionsDynamic": ("table",),
    "ReplaceData": ("table", "originalTable"),
    "ReplaceTableAsSelect": ("name",),
    "WriteDelta": ("table", "originalTable"),
}

WRITES: Mapping[str, Write] = {
    "AlterViewAsCommand": alter_view,
    "AppendData": to_v2_table,
    "CreateDataSourceTableAsSelectCommand": to_table,
    "CreateHiveTableAsSelectCommand": to_table,
    "CreateTableAsSelect": create_v2_table,
    "CreateViewCommand": create_view,
    "DeleteCommand": delta_delete,
    "InsertIntoDataSourceCommand": to_relation,
    "InsertIntoDataSourceDirCommand": to_directory,
    "InsertIntoHadoopFsRelationCommand": to_files,
    "InsertIntoHiveDirCommand": to_directory,
    "InsertIntoHiveTable": to_table,
    "MergeIntoCommand": delta_merge,
    "OverwriteByExpression": to_v2_table,
    "OverwritePartitionsDynamic": to_v2_table,
    "ReplaceData": row_level,
    "ReplaceTableAsSelect": create_v2_table,
    "SaveAsV1TableCommand": to_table,
    "SaveIntoDataSourceCommand": to_source,
    "Union": several,
    "UpdateCommand": delta_update,
    "WriteDelta": row_level,
}
