"""MERGE, UPDATE and DELETE: what is assigned has lineage, rows left alone have none.

Delta has commands of its own; Iceberg and others go through Spark's row-level operations, which rewrite the
statement to the rows that replace the old ones (RewriteMergeIntoTable, RewriteUpdateTable, RewriteDeleteFromTable).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from headwater.extract.edges import lineage
from headwater.extract.operators.merge import assigned, row_level_target
from headwater.extract.operators.predicates import predicate
from headwater.extract.relations import naming
from headwater.extract.scope import Extraction, Rows, Scope
from headwater.extract.trace import FILTER, JOIN, NOTHING, TRANSFORMED, Paths, flat, step, union
from headwater.extract.written import completed
from headwater.model import DatasetDescription, Output, SchemaField
from headwater.plan import Expression, Node, Operator

_CLAUSES = ("matchedClauses", "notMatchedClauses", "notMatchedBySourceClauses")
_ROW_OPERATION = "__row_operation"


class Assignment(NamedTuple):
    """A column of the target, and a value that it is given."""

    name: str
    paths: Paths


def delta_merge(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``MergeIntoCommand``: clauses hold an optional condition and one action for each column."""
    target, source = extraction.rows(node.operator("target")), extraction.rows(node.operator("source"))
    scope = Scope({**source.columns, **target.columns}, extraction)
    parts = [part for name in _CLAUSES for clause in node.expressions(name) for part in clause.children]
    actions = [part for part in parts if part.name == "DeltaMergeAction"]
    tested = (predicate(part, FILTER, scope) for part in parts if part not in actions and isinstance(part, Expression))
    joined = predicate(node.expression("condition"), JOIN, scope)
    values = [_delta_action(action, target, scope) for action in actions]
    deciding = union((source.deciding, joined, *tested))
    return changed(described(_target(node), extraction), target, filter(None, values), deciding)


def _delta_action(action: Node, target: Rows, scope: Scope) -> Assignment | None:
    """``t.a = value``; ``t.s.leaf = value`` changes the column ``s``."""
    value, (name, *leaf) = action.children[0], action.values["targetColNameParts"]
    if not isinstance(value, Expression) or is_own(value, name, target):
        return None
    paths = flat(assigned(value, name, _ids(target), scope))
    return Assignment(name, step(TRANSFORMED, paths) if leaf else paths)


def delta_update(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``UpdateCommand``: one expression for each column of the target, itself where nothing is assigned."""
    target = extraction.rows(node.operator("target"))
    scope = Scope(target.columns, extraction)
    pairs = zip(target.output, node.expressions("updateExpressions"), strict=False)
    values = [
        Assignment(column.name, flat(assigned(value, column.name, _ids(target), scope)))
        for column, value in pairs
        if not is_own(value, column.name, target)
    ]
    deciding = predicate(node.expression("condition"), FILTER, scope)
    return changed(described(_target(node), extraction), target, values, deciding)


def delete(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``DeleteCommand``, and ``DeleteFromTable`` where a table deletes itself: no column has a new value."""
    target = extraction.rows(_target(node))
    deciding = predicate(node.expression("condition"), FILTER, Scope(target.columns, extraction))
    return changed(described(_target(node), extraction), target, (), deciding)


def row_change(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """MERGE, UPDATE and DELETE as queries: the values that ``columns`` are given, and what decides about the rows.

    A Connect client knows them only so; a driver has the command.
    """
    table, rows = naming.table_description(node.facts("tableDesc"), extraction), extraction.rows(node.inputs[0])
    if table is None:
        extraction.report("target", node.name, "the table that is changed could not be named")
        return ()
    names = tuple(node.values.get("columns") or ())
    types = node.facts("tableDesc").get("types") or {}
    schema = tuple(SchemaField(name, str(kind)) for name, kind in types.items())
    traces = [flat(rows.column(place)) for place in range(len(names))]
    found = lineage(names, traces, rows.deciding)
    output = Output(replace(table, schema=schema, version=""), found, table.version)
    return completed((output,), node.facts("tableDesc"), extraction) if names else (output,)


def row_level(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``ReplaceData`` and ``WriteDelta``: the rows that a MERGE, UPDATE or DELETE puts in the place of others."""
    table = node.operator("originalTable") or node.operator("table")
    relation = row_level_target(node.inputs[0])
    tables = naming.v2_table(table, extraction)
    if table is None or relation is None or not tables:
        extraction.report("target", node.name, "the table that is changed could not be found")
        return ()
    target = extraction.rows(relation)
    if relation.facts("table")["operation"] == "MERGE":
        rows = extraction.rows(node.inputs[0])
        return changed(tables[0], target, _by_name(rows, target), rows.deciding)
    deciding = predicate(node.expression("condition"), FILTER, Scope(target.columns, extraction))
    updates = relation.facts("table")["operation"] == "UPDATE"
    values = _updated(node, target, extraction) if updates else ()
    return changed(tables[0], target, values, deciding)


def _updated(node: Operator, target: Rows, extraction: Extraction) -> Iterable[Assignment]:
    """Assignments of an UPDATE: a column that has exactly itself for its new value is left alone."""
    query, values = node.inputs[0], _written if node.name == "WriteDelta" else _chosen
    below: Operator | None = query
    while below is not None and not values(below):
        below = below.inputs[0] if below.inputs else None
    if below is None:
        return _by_name(extraction.rows(query), target)
    names = {column.name for column in target.output}
    scope = Scope(extraction.rows(below.inputs[0]).columns, extraction)
    return [
        Assignment(name, flat(assigned(new, name, _ids(target), scope)))
        for name, new in values(below)
        if name in names and not is_own(new, name, target)
    ]


def _chosen(node: Operator) -> list[tuple[str, Expression]]:
    """New values of copy-on-write, ``IF(condition, new, old)`` in a Project; of a union the first branch has them."""
    columns = node.expressions("projectList") if node.name == "Project" else ()
    choices = [(column.label, _value(column)) for column in columns]
    return [
        (name, new)
        for name, choice in choices
        if choice.name == "If" and isinstance(new := choice.children[1], Expression)
    ]


def _written(node: Operator) -> list[tuple[str, Expression]]:
    """New values of merge-on-read: a Project, or the last projection of an Expand whose others delete the old rows."""
    if node.name == "Expand":
        columns, new = node.expressions("output"), node.references["projections"][-1]
        return [(column.label, value) for column, value in zip(columns, new, strict=True)]
    values = [(column.label, _value(column)) for column in node.expressions("projectList")]
    return values if any(name == _ROW_OPERATION for name, _ in values) else []


def _value(column: Expression) -> Expression:
    inner = column.children[0] if column.name == "Alias" else column
    return inner if isinstance(inner, Expression) else column


def _by_name(rows: Rows, target: Rows) -> list[Assignment]:
    """The columns of a result that the target has too: helper columns of the rewriting are left out."""
    names = {column.name for column in target.output}
    traces = ((column.name, flat(rows.columns.get(column.expr_id, NOTHING))) for column in rows.output)
    return [Assignment(name, paths) for name, paths in traces if name in names]


def is_own(value: Node, name: str, target: Rows) -> bool:
    """Whether a column is given its own value, which is how a column that is left alone is written."""
    same = value.name == "AttributeReference" and isinstance(value, Expression) and value.label == name
    return same and any(column.expr_id == value.values.get("id") for column in target.output)


def _ids(target: Rows) -> frozenset[int]:
    return frozenset(column.expr_id for column in target.output)


def _target(node: Operator) -> Operator | None:
    return node.operator("target") or node.operator("table")


def described(leaf: Operator | None, extraction: Extraction) -> DatasetDescription | None:
    """The dataset that is changed, which the command may have under an alias."""
    while leaf is not None and leaf.inputs:
        leaf = leaf.inputs[0]
    found = naming.relation_descriptions(leaf, extraction) if leaf else ()
    return found[0] if found else None


def changed(
    table: DatasetDescription | None, target: Rows, values: Iterable[Assignment], deciding: Paths
) -> Sequence[Output]:
    """The table that a statement changes, with the lineage of what it assigns; a table without a name has none."""
    if table is None:
        return ()
    names, paths = zip(*values, strict=True) if (values := list(values)) else ((), ())
    known = [column.name for column in target.output]
    gained = dict.fromkeys(name for name in names if name not in known)  # a MERGE may evolve the schema
    schema = (*(SchemaField(column.name, column.type) for column in target.output), *map(SchemaField, gained))
    found = replace(table, schema=schema, version="")
    return (Output(found, lineage(names, paths, deciding), table.version),)
