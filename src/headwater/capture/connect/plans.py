"""From an action of a Connect client to the plan that its driver would have had."""

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.capture.connect.actions import START_STREAM, Action
from headwater.capture.connect.merges import merge_clauses, merge_query
from headwater.capture.connect.row_changes import (
    Clause,
    RowChange,
    assigned_columns,
    is_row_change,
    left_alone,
    row_change,
)
from headwater.capture.connect.server import Server
from headwater.capture.connect.variables import immediate, is_immediate, statement_kind
from headwater.errors import PlanError
from headwater.extract.writes import WRITES
from headwater.model.nested_fields import name_parts
from headwater.plan import Operator, Plan
from headwater.plan.text import (
    COMMANDS,
    V2_COMMANDS,
    TextFacts,
    analyzed_plan,
    decode_text,
    result_columns,
    session_variable,
)
from headwater.plan.tree import Expression, Node

# The analyzed text of such a statement lacks the catalog of the table.
_CREATED = re.compile(
    r"\s*(?:create\s+(?:or\s+replace\s+)?|replace\s+)table\s+(?:if\s+not\s+exists\s+)?"
    r"(?P<name>(?:`(?:[^`]|``)+`|[\w$]+)(?:\s*\.\s*(?:`(?:[^`]|``)+`|[\w$]+))*)",
    re.IGNORECASE,
)


_UNREAD = WRITES.keys() - COMMANDS.keys() - {command for command, _ in V2_COMMANDS.values()} - {"Union"}


@dataclass(frozen=True, slots=True)
class ExplainedPlan:
    """The plan of an action as text, the facts beside it, and the command that writes.

    A command that changes rows has a text for each of its clauses; ``more`` has all but the first.
    """

    text: str
    facts: TextFacts
    command: str = ""
    target: Mapping[str, Any] = field(default_factory=dict)
    more: tuple["ExplainedPlan", ...] = ()

    def plan(self) -> Plan:
        """The plan, with the command at its root.

        Raises:
            PlanError: the text cannot be read, or it is one of a command whose text does not say what it does.
        """
        if self.command == "RowChange":
            return self._row_change()
        plan = decode_text(self.text, self.facts)
        query = plan.root
        if query is not None and (name := query.name.partition(",")[0]) in _UNREAD:
            raise PlanError(f"The text of {name} does not say enough of what it writes: its lineage is missing.")
        if not self.command or query is None:
            return plan
        partitions = tuple(_named(name) for name in self.target.get("partitions", ()))
        variables = tuple(map(session_variable, self.target.get("variables", ())))
        references = {"query": query, "partitionColumns": partitions, "targetVariables": variables}
        command = Operator(self.command, (query,), references, self._target_values())
        session = plan.session
        if self.command == START_STREAM:
            session = {**session, "options": self.target["options"]}
        return Plan((*plan.nodes, command), (), session)

    def _target_values(self) -> Mapping[str, Any]:
        """The values of the command: files have the columns of its query, a table that is appended to its own."""
        columns = result_columns(self.text)
        found = {**self.target, "columnTypes": dict(columns)}
        if "fileFormat" in self.target:
            return {**found, "outputColumnNames": tuple(name for name, _ in columns)}
        types = self.target.get("tableDesc", {}).get("types", {})
        return {**found, "target": tuple(types.items())} if self.target.get("mode") == "Append" else found

    def _row_change(self) -> Plan:
        nodes: list[Node] = []
        queries: list[Operator] = []
        for part in (self, *self.more):
            plan = decode_text(part.text, part.facts)
            nodes += plan.nodes
            if plan.root is not None:
                queries.append(_retyped(plan.root, result_columns(part.text), self.target["types"]))
        union = Operator("Union", tuple(queries))
        command = Operator("RowChange", (union,), {"query": union}, self.target)
        extra = [query for query in queries if query not in nodes]
        return Plan((*nodes, *extra, union, command), (), self.facts.session)


def explained_plan(action: Action, server: Server) -> ExplainedPlan:
    """The plan of an action as the server explains it.

    Raises:
        PlanError: the server does not explain the plan, or its text cannot be read.
    """
    if action.command == "MERGE":
        return _explained_merge(action, server)
    if action.statement:
        return _explained_statement(action.relation, server)
    found = _explained_query(action.relation, server)
    return replace(found, command=action.command, target=_target(action, server)) if action.command else found


def _explained_statement(relation: Any, server: Server) -> ExplainedPlan:
    """``spark.sql(…)``; of EXECUTE IMMEDIATE the statement that it runs."""
    if statement_kind(relation.sql.query) == "Script":
        raise PlanError("A server explains no script: the lineage of the statements in it is missing.")
    if is_immediate(relation.sql.query):
        inner = immediate(relation.sql.query)
        found = _explained_statement(_asking(relation, inner.statement), server)
        return replace(found, command="SetVariable", target={"variables": inner.into}) if inner.into else found
    if is_row_change(relation.sql.query):
        return _explained_change(relation, server)
    explained = server.explained_statement(relation)
    found = ExplainedPlan(analyzed_plan(explained), server.facts(explained, relation))
    made = _CREATED.match(relation.sql.query)
    tables = {name: server.target(made["name"] if made else name) for name in _written(found.plan())}
    with suppress(Exception):  # without it the relation has a gap, and the rest its lineage
        found = replace(found, facts=replace(found.facts, sources=server.sources_of(relation, found.text)))
    return replace(found, facts=found.facts.with_tables(tables))


def _explained_change(relation: Any, server: Server) -> ExplainedPlan:
    """MERGE, UPDATE and DELETE in SQL."""
    change = row_change(relation.sql.query)
    table, source = _changed_table(change.target, server), _source_columns(change, relation, server)
    columns = change.columns(tuple(table["types"]), source, table.get("generated", ()))
    queries = [_asking(relation, text) for text in change.queries(columns, source)]
    found = _changes(queries, _with_left_alone(table, change.clauses, source), columns, server)
    return replace(found, target={**found.target, "deletesAll": True}) if change.deletes_all else found


def _explained_merge(action: Action, server: Server) -> ExplainedPlan:
    """``df.mergeInto(…).merge()``."""
    command = action.relation
    table = _changed_table(action.table, server)
    clauses = merge_clauses(command, tuple(table["types"]))
    source = server.columns(command.source_table_plan) if any(clause.star for clause in clauses) else ()
    evolves, generated = command.with_schema_evolution, table.get("generated", ())
    columns = assigned_columns(clauses, tuple(table["types"]), source, evolves=evolves, generated=generated)
    queries = [merge_query(clause, columns, source) for clause in clauses]
    return _changes(queries, _with_left_alone(table, clauses, source), columns, server)


def _with_left_alone(
    table: Mapping[str, Any], clauses: Sequence[Clause[Any]], source: Sequence[str]
) -> Mapping[str, Any]:
    """The table; where it has generated columns, with the columns that a changed row keeps."""
    if not table.get("generated"):
        return table
    return {**table, "unassigned": left_alone(clauses, table["types"], source)}


def _changes(queries: Iterable[Any], table: Mapping[str, Any], columns: Sequence[str], server: Server) -> ExplainedPlan:
    parts = [_explained_query(query, server) for query in queries]
    types = tuple(table["types"].get(name, "") for name in columns)
    target = {"tableDesc": table, "columns": tuple(columns), "types": types}
    return replace(parts[0], command="RowChange", target=target, more=tuple(parts[1:]))


def _explained_query(relation: Any, server: Server) -> ExplainedPlan:
    explained = server.explained(relation)
    return ExplainedPlan(analyzed_plan(explained), server.facts(explained, relation))


def _changed_table(name: str, server: Server) -> Mapping[str, Any]:
    target = server.target(name)
    if not target.get("types"):
        raise PlanError(f"The server does not describe the table {name}: the lineage of what changes it is missing.")
    return target


def _source_columns(change: RowChange, relation: Any, server: Server) -> tuple[str, ...]:
    """The columns of the source, where a clause uses all of them; else none."""
    if not any(clause.star for clause in change.clauses):
        return ()
    return server.columns(_asking(relation, f"SELECT * FROM {change.source}"))


def _asking(relation: Any, text: str) -> Any:
    """The request for a query in the place of a statement, with the same parameters."""
    changed = type(relation)()
    changed.CopyFrom(relation)
    changed.sql.query = text
    return changed


def _retyped(query: Operator, query_columns: Sequence[tuple[str, str]], types: Sequence[str]) -> Operator:
    """The query with the casts that the write makes to the types of the table.

    Types with others inside are not compared: a text may shorten them.
    """
    columns = [one for one in query.expressions("projectList") if one.label]
    if not len(query_columns) == len(types) == len(columns):
        return query
    changes = [
        kind and column[1] not in ("void", kind) and "<" not in kind
        for column, kind in zip(query_columns, types, strict=True)
    ]
    if not any(changes):
        return query
    reads_ = [Expression("AttributeReference", (), {}, {"id": one.expr_id, "name": one.label}) for one in columns]
    listed = tuple(
        Expression(
            "Alias", (Expression("Cast", (read,), {}, {"same": False}),), {}, {"id": -2 - place, "name": read.label}
        )
        if change
        else read
        for place, (read, change) in enumerate(zip(reads_, changes, strict=True))
    )
    return Operator("Project", (query,), {"projectList": listed})


def _named(name: str) -> Expression:
    return Expression("AttributeReference", (), {}, {"name": name})


def _table(name: str, server: Server) -> Mapping[str, Any]:
    """A table as the server describes it, or by its name alone."""
    return server.target(name) or {"identifier": name_parts(name)}


def _written(plan: Plan) -> tuple[str, ...]:
    """The full names of the tables that the command at the root names."""
    root = plan.root
    facts = [root.facts(key) for key in ("table", "catalogTable", "tableDesc", "changed")] if root else []
    return tuple(".".join(one["identifier"]) for one in facts if "identifier" in one)


def _target(action: Action, server: Server) -> dict[str, Any]:
    found = _target_facts(action, server)
    return {**found, "partial": True} if _replaces_some(action, found, server) else found


def _replaces_some(action: Action, target: Mapping[str, Any], server: Server) -> bool:
    """Whether an overwrite is of some rows: of a predicate, or of the partitions that it has rows for."""
    if action.mode != "Overwrite":
        return False
    options = {key.lower(): value for key, value in (action.options or {}).items()}
    if action.partial or options.keys() & {"replacewhere", "replaceon", "replaceusing"}:
        return True
    if action.path and action.command != "SaveIntoDataSourceCommand" and not action.partitions:
        return False
    if action.by_position and target.get("tableDesc", {}).get("provider") == "hive":
        return True
    mode = options.get("partitionoverwritemode") or server.conf("spark.sql.sources.partitionOverwriteMode")[0]
    return mode.lower() == "dynamic"


def _target_facts(action: Action, server: Server) -> dict[str, Any]:
    header = {key.lower(): value for key, value in (action.options or {}).items() if key.lower() == "header"}
    if action.command == START_STREAM:
        files = {"format": action.format, "partitions": action.partitions, **header}
        sink: dict[str, Any] = {"class": action.sink, **files}
        path = action.path or (action.options or {}).get("path", "")
        catalog_table = {"catalogTable": _table(action.table, server)} if action.table else {}
        return {
            "sink": {**sink, **({"path": server.directory(path)} if path else {})},
            "options": dict(action.options or {}),
            **catalog_table,
        }
    if action.path and action.command == "SaveIntoDataSourceCommand":
        place = server.directory(action.path)
        table = server.target(f"{action.format}.`{place}`")
        options = {**(action.options or {}), "path": place}
        return {"options": options, "mode": action.mode, "tableDesc": table, "sink": table}
    if action.path:
        of_files: dict[str, Any] = {"fileFormat": action.format, "options": header, "partitions": action.partitions}
        return {"outputPath": server.directory(action.path), "mode": action.mode, **of_files}
    if not action.table:
        return {"options": dict(action.options or {}), "mode": action.mode}
    table = _table(action.table, server)
    names = tuple(table.get("types", ())) if action.by_position else ()
    return {"tableDesc": table, "mode": action.mode, "outputColumnNames": names}
