"""``df.mergeInto(…)`` of a Connect client: each clause as a relation that the server can explain.

The same as `row_changes` does for a statement in SQL, over Spark's protocol (``MergeIntoTableCommand``,
``Expression.MergeAction``).
"""

from collections.abc import Sequence, Set
from typing import Any

from headwater.capture.connect.row_changes import Clause

_INSERT, _INSERT_STAR, _UPDATE_STAR = 2, 3, 5
_JOIN_TYPE_INNER = 1


def merge_clauses(command: Any, target: Sequence[str]) -> tuple[Clause[Any], ...]:
    """The clauses of a MergeIntoTableCommand that changes a table of these columns."""
    joined = _joined(command)
    clauses = [Clause(joined)]
    for actions, rows in (
        (command.match_actions, joined),
        (command.not_matched_actions, command.source_table_plan),
        (command.not_matched_by_source_actions, _table(command)),
    ):
        for action in actions:
            clauses += _clauses(action.merge_action, rows, command.source_table_plan, target)
    return tuple(clauses)


def _clauses(action: Any, rows: Any, source: Any, target: Sequence[str]) -> list[Clause[Any]]:
    filtered = _filtered(rows, action)
    if action.action_type == _UPDATE_STAR:
        return [Clause(filtered), Clause(source, star=True)]
    if action.action_type == _INSERT_STAR:
        return [Clause(filtered, star=True, inserts=True)]
    return [Clause(filtered, _values(action.assignments, target), inserts=action.action_type == _INSERT)]


def _values(assignments: Sequence[Any], target: Sequence[str]) -> dict[str, Any]:
    """The values by column; fields of a struct change the struct."""
    found: dict[str, Any] = {}
    for one in assignments:
        column, *leaf = _assigned(one.key, {name.lower() for name in target})
        if not leaf:
            found[column] = one.value
            continue
        packed = found.setdefault(column, type(one.value)())
        packed.unresolved_function.function_name = "struct"
        packed.unresolved_function.arguments.append(one.value)
    return found


def _assigned(key: Any, target: Set[str]) -> list[str]:
    """The column of an assignment's key and the fields below it, without the name of the table before them."""
    text = key.expression_string.expression or key.unresolved_attribute.unparsed_identifier
    parts = [part.strip("`") for part in str(text).split(".")]
    places = (place for place, part in enumerate(parts) if part.lower() in target)
    return parts[next(places, len(parts) - 1) :]


def _relation(command: Any) -> Any:
    return type(command.source_table_plan)()


def _table(command: Any) -> Any:
    table = _relation(command)
    table.read.named_table.unparsed_identifier = command.target_table_name
    return table


def _joined(command: Any) -> Any:
    found = _relation(command)
    found.join.left.CopyFrom(_table(command))
    found.join.right.CopyFrom(command.source_table_plan)
    found.join.join_condition.CopyFrom(command.merge_condition)
    found.join.join_type = _JOIN_TYPE_INNER
    return found


def _filtered(rows: Any, action: Any) -> Any:
    if not action.HasField("condition"):
        return rows
    found = type(rows)()
    found.filter.input.CopyFrom(rows)
    found.filter.condition.CopyFrom(action.condition)
    return found


def merge_query(clause: Clause[Any], columns: Sequence[str], source: Sequence[str]) -> Any:
    """The relation of the values that a clause assigns, of those of ``columns`` in order."""
    values = {name.lower(): value for name, value in clause.values.items()}
    theirs = {name.lower() for name in source} if clause.star else set()
    found = type(clause.rows)()
    found.project.input.CopyFrom(clause.rows)
    for name in columns or ("none",):
        alias = found.project.expressions.add().alias
        alias.name.append(name)
        if name.lower() in values:
            alias.expr.CopyFrom(values[name.lower()])
        elif name.lower() in theirs:
            alias.expr.unresolved_attribute.unparsed_identifier = f"`{name}`"
        else:
            alias.expr.literal.null.null.SetInParent()
    return found
