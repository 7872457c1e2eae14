"""``df.mergeInto(…)`` of a Connect client: each clause as a relation that the server can explain.

The same as `row_changes` does for a statement in SQL, over Spark's protocol (``MergeIntoTableCommand``,
``Expression.MergeAction``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_INSERT_STAR, _UPDATE_STAR = 3, 5
_JOIN_TYPE_INNER = 1


@dataclass(frozen=True, slots=True)
class _Clause:
    rows: Any
    values: Mapping[str, Any]
    star: bool = False


def merge_queries(
    command: Any, target: Sequence[str], columns_of: Callable[[Any], tuple[str, ...]]
) -> tuple[tuple[str, ...], list[Any]]:
    """The columns that a MERGE assigns, and for each clause the relation of their values.

    ``target`` are the columns of the table; ``columns_of`` gives those of a relation.
    """
    joined = _joined(command)
    clauses = [_Clause(joined, {})]
    for actions, rows in (
        (command.match_actions, joined),
        (command.not_matched_actions, command.source_table_plan),
        (command.not_matched_by_source_actions, _table(command)),
    ):
        for action in actions:
            clauses += _clauses(action.merge_action, rows, command.source_table_plan)
    source = columns_of(command.source_table_plan) if any(clause.star for clause in clauses) else ()
    columns = _columns(clauses, target, source, command.with_schema_evolution)
    if command.not_matched_actions:  # an INSERT gives NULL to the columns that it does not name
        columns = (*target, *(name for name in columns if name not in target))
    return columns, [_projected(clause, columns, source) for clause in clauses]


def _clauses(action: Any, rows: Any, source: Any) -> list[_Clause]:
    filtered = _filtered(rows, action)
    if action.action_type == _UPDATE_STAR:
        return [_Clause(filtered, {}), _Clause(source, {}, star=True)]
    if action.action_type == _INSERT_STAR:
        return [_Clause(filtered, {}, star=True)]
    values = {_column(one.key): one.value for one in action.assignments}
    return [_Clause(filtered, values)]


def _columns(
    clauses: Sequence[_Clause], target: Sequence[str], source: Sequence[str], evolves: bool
) -> tuple[str, ...]:
    assigned = {name.lower() for clause in clauses for name in clause.values}
    known = {name.lower() for name in target}
    if any(clause.star for clause in clauses):
        theirs = {name.lower() for name in source}
        assigned |= theirs if evolves else theirs & known
    every = (*target, *(name for name in source if name.lower() not in known))
    return tuple(name for name in every if name.lower() in assigned)


def _column(key: Any) -> str:
    """The column of an assignment's key, a column or its text, which may have the name of the table before it."""
    text = key.expression_string.expression or key.unresolved_attribute.unparsed_identifier
    return str(text).rpartition(".")[2].strip("`")


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


def _projected(clause: _Clause, columns: Sequence[str], source: Sequence[str]) -> Any:
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
