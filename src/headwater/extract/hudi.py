"""Hudi's commands, which hold a statement as Spark's analyzer left it (``MergeIntoHoodieTableCommand`` and others)."""

from collections.abc import Sequence

from headwater.extract.changes import Assignment, changed, described, is_own
from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.predicates import predicate
from headwater.extract.scope import Extraction, Rows, Scope
from headwater.extract.trace import FILTER, JOIN, TRANSFORMED, flat, step, union
from headwater.model import Output
from headwater.plan import Expression, Node, Operator

_ACTIONS = ("matchedActions", "notMatchedActions", "notMatchedBySourceActions")


def hudi_merge(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``MERGE``: each action holds an optional condition and the assignments, the star expanded."""
    statement = node.operator("mergeInto") or node
    leaf = statement.operator("targetTable")
    target, source = extraction.rows(leaf), extraction.rows(statement.operator("sourceTable"))
    scope = Scope({**source.columns, **target.columns}, extraction)
    parts = [part for name in _ACTIONS for action in statement.expressions(name) for part in action.children]
    tested = (predicate(part, FILTER, scope) for part in parts if isinstance(part, Expression) and not _assigns(part))
    joined = predicate(statement.expression("mergeCondition"), JOIN, scope)
    assigned = [_assignment(part, target, scope) for part in parts if _assigns(part)]
    deciding = union((source.deciding, joined, *tested))
    return changed(described(leaf, extraction), target, filter(None, assigned), deciding)


def hudi_update(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``UPDATE``: the assignments alone; what the command's query has beside them are columns left as they were."""
    statement = node.operator("ut") or node
    leaf = statement.operator("table")
    target = extraction.rows(leaf)
    scope = Scope(target.columns, extraction)
    assigned = [_assignment(part, target, scope) for part in statement.expressions("assignments")]
    deciding = predicate(statement.expression("condition"), FILTER, scope)
    return changed(described(leaf, extraction), target, filter(None, assigned), deciding)


def hudi_delete(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``DELETE``: the command's query finds the rows that go."""
    query = node.operator("query")
    return changed(described(query, extraction), Rows(), (), extraction.rows(query).deciding)


def _assigns(part: Node) -> bool:
    return part.name == "Assignment"


def _assignment(node: Node, target: Rows, scope: Scope) -> Assignment | None:
    """``key = value``; a key within a struct changes the whole column."""
    key, value = node.children
    column = key
    while column.children:
        column = column.children[0]
    name = column.label if isinstance(column, Expression) else ""
    if not isinstance(value, Expression) or is_own(value, name, target):
        return None
    paths = flat(evaluate(value, scope))
    return Assignment(name, paths if column is key else step(TRANSFORMED, paths))
