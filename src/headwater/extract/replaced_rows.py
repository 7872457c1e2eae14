"""Which rows a write replaces: all that its target had, or some at most (docs/lineage.md, "What is current").

In doubt it is some: an edge that stays too long is a smaller error than one that is missing.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from headwater.extract.lifecycle import TABLES_WITHOUT_ROWS, TRUNCATIONS, owns_rows
from headwater.extract.scope import Extraction
from headwater.model import Output, ReplacedRows
from headwater.openlineage.naming.locations import path_dataset
from headwater.openlineage.naming.trimming import trim
from headwater.plan import Expression, Operator

Rule: TypeAlias = Callable[[Operator], ReplacedRows | None]
"""From a command to the rows that it replaces; None where it writes none and ends none."""

ALL, SOME = ReplacedRows.ALL, ReplacedRows.SOME
_PARTIAL_OPTIONS = ("replaceon", "replaceusing", "replacewhere")
_DYNAMIC_OPTION = "partitionoverwritemode"
_BY_LIFECYCLE = {"CREATE": ALL, "DROP": ALL, "TRUNCATE": ALL, "ALTER": None, "RENAME": None}


def with_replaced_rows(outputs: Sequence[Output], node: Operator, extraction: Extraction) -> Sequence[Output]:
    """The outputs of a command with the rows of each that it replaces, by the rule of the command."""
    rule = RULES.get(node.name, _some)
    return [_with(output, rule(node), node, extraction) for output in outputs]


def as_described(output: Output, node: Operator) -> Output:
    """The output that an extension describes: by the rule of a command with one, else by the lifecycle alone."""
    seen = output.description
    if seen.replaces is not None:
        return output
    rule = RULES.get(node.name)
    replaces = rule(node) if rule else _BY_LIFECYCLE.get(seen.lifecycle, SOME)
    return replace(output, description=replace(seen, replaces=replaces))


def _with(output: Output, replaces: ReplacedRows | None, node: Operator, extraction: Extraction) -> Output:
    if replaces is ALL and (_keeps_files(output) or any(_is_part(one, output, extraction) for one in _places(node))):
        replaces = SOME
    return replace(output, description=replace(output.description, replaces=replaces))


def _places(node: Operator) -> Iterator[str]:
    """The paths by which a command names its target."""
    yield node.text("outputPath")
    yield node.text("path")
    for facts in (node.facts("storage"), node.facts("sink"), node.facts("options")):
        yield str(facts.get("location") or facts.get("path") or "")
    target = node.operator("table")
    identifiers = [node.facts(name).get("identifier") for name in ("table", "tableDesc", "catalogTable")]
    parts = target.facts("identifier").get("parts") if target else None
    yield from (str(parts[-1]) for parts in (*identifiers, parts) if parts)


def _keeps_files(output: Output) -> bool:
    """Whether a DROP ends a name in the catalog alone: the rows of an external table stay where they are."""
    seen = output.description
    return seen.lifecycle == "DROP" and all(change.former != seen.dataset for change in seen.names)


def _is_part(place: str, output: Output, extraction: Extraction) -> bool:
    """Whether a path is that of a folder within the dataset, whose name was trimmed."""
    if "/" not in place:
        return False
    folder = path_dataset(place)
    dataset = output.description.dataset
    return folder != dataset and trim(folder, extraction.settings.trimming.literal) == dataset


def _all(node: Operator) -> ReplacedRows:
    return ALL


def _some(node: Operator) -> ReplacedRows:
    return SOME


def _none(node: Operator) -> None:
    return None


def _made(node: Operator) -> ReplacedRows:
    """CREATE … AS and saveAsTable: all rows, unless a table that was there is left alone or appended to."""
    flags = ("ignoreIfExists", "ifNotExists", "allowExisting")
    left_alone = any(node.values.get(flag) is True for flag in flags) and node.values.get("replace") is not True
    return SOME if left_alone or node.text("mode") in ("Append", "Ignore") or _is_partial(node) else ALL


def _made_anew(node: Operator) -> ReplacedRows:
    """REPLACE TABLE AS, by which Delta also overwrites the partitions or the rows that an option of a writer names."""
    dynamic = node.values.get("dynamicPartitions") is True and node.facts("tableSpec").get("provider") == "delta"
    return SOME if dynamic or _is_partial(node) else ALL


def _empty_table(node: Operator) -> ReplacedRows:
    """CREATE TABLE without rows: at a location of its user's choice, or in the database of JDBC, there may be rows."""
    table = node.facts("changed")
    own = table.get("kind") == "MANAGED" and owns_rows(table)
    return ALL if own or node.name.startswith("Replace") else SOME


def _files(node: Operator) -> ReplacedRows:
    """InsertIntoHadoopFsRelationCommand, which overwrites partitions by static values or dynamically."""
    dynamic = _is_dynamic(node) and bool(node.expressions("partitionColumns"))
    if node.facts("staticPartitions") or dynamic or _is_partial(node):
        return SOME
    return ALL if node.text("mode") in ("ErrorIfExists", "Overwrite") else SOME


def _hive_table(node: Operator) -> ReplacedRows:
    """INSERT OVERWRITE of a Hive table with partitions replaces those that it has rows for (InsertIntoHiveTable)."""
    whole = node.values.get("overwrite") is True and not node.facts("partition") and not _is_partial(node)
    return ALL if whole else SOME


def _v1_source(node: Operator) -> ReplacedRows:
    """``df.write.format(…).save()``; a source nobody knows may have options for a part of its own."""
    options = {key.lower() for key in node.facts("options")}
    class_ = str(node.facts("dataSource").get("class") or "")
    of_jdbc = {"url", "dbtable"} <= options
    of_delta, of_hudi = bool(node.facts("sink")) or class_.startswith("Delta"), "hudi" in class_
    partial: Sequence[str] = (_DYNAMIC_OPTION, *_PARTIAL_OPTIONS, "hoodie.datasource.write.operation")
    if _is_partial(node) or (of_delta and _is_dynamic(node) and node.facts("sink").get("partitions") != []):
        return SOME
    if not (of_jdbc or of_delta or of_hudi):
        partial = tuple(option for option in options if "partition" in option or "replace" in option)
        return ALL if node.text("mode") == "Overwrite" and not partial else SOME
    if (of_hudi and options.intersection(partial)) or node.text("mode") not in ("ErrorIfExists", "Overwrite"):
        return SOME
    return ALL


def _relation(node: Operator) -> ReplacedRows:
    return ALL if node.values.get("overwrite") is True else SOME


def _hudi_table(node: Operator) -> ReplacedRows:
    """Hudi decides by its own settings what INSERT OVERWRITE of a table with partitions replaces."""
    relation = node.operator("logicalRelation")
    partitions = relation.facts("catalogTable").get("partitions") if relation else None
    whole = node.values.get("overwrite") is True and partitions == [] and not node.facts("partitionSpec")
    return ALL if whole else SOME


def _by_expression(node: Operator) -> ReplacedRows:
    """OverwriteByExpression: the rows of a predicate, of all it is true; a branch of Iceberg is no whole table."""
    return ALL if _is_true(node.expression("deleteExpr")) and not _is_partial(node) and not _of_branch(node) else SOME


def _deletion(node: Operator) -> ReplacedRows:
    """DELETE: the one without a condition has the literal true, or none, in its place."""
    condition = node.expression("condition")
    table = node.operator("table") or node.operator("originalTable")
    is_deletion = node.name.startswith("Delete") or _operation(node) == "DELETE"
    whole = condition is None or _is_true(condition)
    return ALL if is_deletion and whole and not (table and _of_branch(node)) else SOME


def _operation(node: Operator) -> str:
    table = node.operator("table")
    return str(table.facts("table").get("operation") or "") if table else ""


def _hudi_deletion(node: Operator) -> ReplacedRows:
    """DeleteHoodieTableCommand: its query has the rows that are deleted."""
    below, whole = node.operator("query"), True
    while below is not None:
        whole &= below.name in ("LogicalRelation", "Project", "SubqueryAlias")
        below = below.inputs[0] if below.inputs else None
    return ALL if whole and node.operator("query") else SOME


def _rows_changed(node: Operator) -> ReplacedRows:
    return ALL if node.values.get("deletesAll") is True else SOME


def _emptied(node: Operator) -> ReplacedRows:
    return SOME if node.facts("emptied") else ALL


def _loaded(node: Operator) -> ReplacedRows:
    """LOAD DATA OVERWRITE replaces the files of one partition, or of a table without."""
    whole = node.values.get("isOverwrite") is True and not node.facts("partition")
    return ALL if whole else SOME


def _called(node: Operator) -> ReplacedRows | None:
    """CALL of a procedure of Iceberg: ``snapshot`` makes a table, others leave its rows, or bring some."""
    name = tuple(node.facts("call").get("name") or ("",))[-1].lower()
    if name in ("migrate", "register_table"):
        return None
    return ALL if name == "snapshot" else SOME


def _is_partial(node: Operator) -> bool:
    """Whether an overwrite is of some rows by its options, as ``PlanWriter`` or the reader of a plan's text found."""
    return node.values.get("partial") is True or any(key.lower() in _PARTIAL_OPTIONS for key in node.facts("options"))


def _is_dynamic(node: Operator) -> bool:
    """Whether partitions are overwritten dynamically; an option whose value is not known may say so."""
    known = node.values.get("dynamicPartitions")
    return known is True or (known is None and any(key.lower() == _DYNAMIC_OPTION for key in node.facts("options")))


def _is_true(expression: Expression | None) -> bool:
    return expression is not None and expression.name == "Literal" and expression.values.get("value") is True


def _of_branch(node: Operator) -> bool:
    """Whether a table of Iceberg is written on another branch than main (SparkTable; the session may name it)."""
    leaf = node.operator("table") or node.operator("originalTable")
    while leaf is not None and leaf.inputs:
        leaf = leaf.inputs[0]
    version = str(leaf.facts("table").get("version") or "") if leaf else ""
    return version.startswith("branch_") and not version.startswith(("branch_null", "branch_main"))


RULES: Mapping[str, Rule] = {
    "AlterViewAsCommand": _all,
    "Call": _called,
    "ConvertToDeltaCommand": _none,
    "CreateDataSourceTableAsSelectCommand": _made,
    "CreateDeltaTableCommand": _made,
    "CreateHiveTableAsSelectCommand": _made,
    "CreateHoodieTableAsSelectCommand": _made,
    "CreateIcebergView": _made,
    "CreateTableAsSelect": _made,
    "CreateViewCommand": _made,
    **dict.fromkeys(("DeleteCommand", "DeleteFromTable", "ReplaceData", "WriteDelta"), _deletion),
    "DeleteHoodieTableCommand": _hudi_deletion,
    **dict.fromkeys(("DropDatabaseCommand", "DropIcebergView", "DropNamespace", "DropTable", "DropTableCommand"), _all),
    "InsertIntoDataSourceCommand": _relation,
    "InsertIntoDataSourceDirCommand": _all,
    "InsertIntoHadoopFsRelationCommand": _files,
    "InsertIntoHiveDirCommand": _all,
    "InsertIntoHiveTable": _hive_table,
    "InsertIntoHoodieTableCommand": _hudi_table,
    "LoadDataCommand": _loaded,
    "OverwriteByExpression": _by_expression,
    "ReplaceTableAsSelect": _made_anew,
    "RowChange": _rows_changed,
    "SaveAsV1TableCommand": _made,
    "SaveIntoDataSourceCommand": _v1_source,
    **dict.fromkeys(TRUNCATIONS, _emptied),
    **dict.fromkeys(TABLES_WITHOUT_ROWS, _empty_table),
    **dict.fromkeys(
        (
            "AddColumns",
            "AlterColumn",
            "AlterColumns",
            "AlterTableAddColumnsCommand",
            "AlterTableChangeColumnCommand",
            "AlterTableRenameCommand",
            "DropColumns",
            "RenameColumn",
            "RenameTable",
            "ReplaceColumns",
        ),
        _none,
    ),
}
"""The rule of each command; one without a rule adds or changes some rows."""
