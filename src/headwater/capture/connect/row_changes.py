"""MERGE, UPDATE and DELETE from a Connect client: each clause as a query that the server can explain.

What a server shows of such a command differs between table formats, and of Delta's it leaves the source out. So each
clause becomes the query of the values that it assigns: ``WHEN MATCHED AND c THEN UPDATE SET a = e`` is
``SELECT e AS a FROM target JOIN source ON … WHERE c``. The queries together have the edges of the statement: ON is a
join, conditions are filters, and only what is assigned has values.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import sqlglot
from sqlglot import exp

from headwater.errors import PlanError

_STATEMENT = re.compile(r"\s*(?:(?:--[^\n]*\n|/\*.*?\*/)\s*)*(merge|update|delete)\b", re.IGNORECASE | re.DOTALL)
_EVOLUTION = re.compile(r"\bWITH\s+SCHEMA\s+EVOLUTION\b", re.IGNORECASE)
DIALECT = "databricks"
_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class Clause(Generic[_Part]):
    """The change of one clause: ``values`` by column of the target, and the ``rows`` that they are taken from.

    Both are SQL, of a client's ``mergeInto`` messages of Spark's protocol; ``rows`` is the text that follows FROM.
    ``star`` is SET * and INSERT *: the columns of the source by name. A clause that ``inserts`` gives NULL to the
    columns that it does not name.
    """

    rows: _Part
    values: Mapping[str, _Part] = field(default_factory=dict)
    star: bool = False
    inserts: bool = False

    def assigned(self, source: Sequence[str]) -> Set[str]:
        """The columns that it names, in lower case: with a star those of the source."""
        names = (*self.values, *(source if self.star else ()))
        return {name.lower() for name in names}


def left_alone(clauses: Sequence[Clause[Any]], target: Iterable[str], source: Sequence[str]) -> tuple[str, ...]:
    """The columns of the target that stay what they were in a row that some clause updates."""
    updated = [names for clause in clauses if not clause.inserts and (names := clause.assigned(source))]
    return tuple(name for name in target if any(name.lower() not in names for names in updated))


def assigned_columns(
    clauses: Sequence[Clause[Any]],
    target: Sequence[str],
    source: Sequence[str],
    *,
    evolves: bool,
    generated: Iterable[str] = (),
) -> tuple[str, ...]:
    """The columns that any clause assigns, of those of both sides: first the target's, then new ones.

    Those that the target has ``generated`` count where a clause names them.
    """
    own, theirs = ({name.lower() for name in side} for side in (target, source))
    named = {name.lower() for clause in clauses for name in clause.values}
    if any(clause.star for clause in clauses):
        named |= theirs if evolves else theirs & own
    if any(clause.inserts for clause in clauses):
        named |= own
    explicit = {name for clause in clauses for name in clause.assigned(source)}
    named -= {name.lower() for name in generated} - explicit
    every = (*target, *(name for name in source if name.lower() not in own))
    return tuple(name for name in every if name.lower() in named)


@dataclass(frozen=True, slots=True)
class RowChange:
    """A statement that changes rows of ``target``, the name of a table; ``source`` is what follows USING.

    ``evolves`` says that the target takes in the columns of the source that it lacks, ``deletes_all`` that no row is
    left of the target.
    """

    target: str
    clauses: tuple[Clause[str], ...]
    source: str = ""
    evolves: bool = False
    deletes_all: bool = False

    def columns(self, target: Sequence[str], source: Sequence[str], generated: Iterable[str] = ()) -> tuple[str, ...]:
        """The columns that the statement assigns, of those of both sides."""
        return assigned_columns(self.clauses, target, source, evolves=self.evolves, generated=generated)

    def queries(self, columns: Sequence[str], source: Sequence[str]) -> Iterator[str]:
        """A query for each clause, with all of ``columns`` in order: NULL where the clause assigns nothing."""
        for clause in self.clauses:
            values = {name.lower(): value for name, value in clause.values.items()}
            if clause.star:
                values |= {name.lower(): f"`{name}`" for name in source}
            listed = [f"{values.get(name.lower(), 'NULL')} AS `{name}`" for name in columns]
            yield f"SELECT {', '.join(listed) or '1'} FROM {clause.rows}"


def is_row_change(sql: str) -> bool:
    """Whether a statement is a MERGE, UPDATE or DELETE."""
    return _STATEMENT.match(sql) is not None


def row_change(sql: str) -> RowChange:
    """The clauses of a MERGE, UPDATE or DELETE.

    Raises:
        PlanError: the statement cannot be read.

    >>> row_change("UPDATE t SET a = b + 1 WHERE c > 2").clauses[0].values
    {'a': 'b + 1'}
    """
    try:
        found = sqlglot.parse_one(_EVOLUTION.sub("", sql), dialect=DIALECT)
    except sqlglot.errors.SqlglotError as error:
        raise PlanError(f"The statement could not be read ({error!s:.200}); its lineage is missing.") from error
    read = _READERS.get(type(found))
    if read is None or not isinstance(found, exp.Expression):
        raise PlanError(f"A MERGE, UPDATE or DELETE was expected; met {type(found).__name__}.")
    return read(found, _EVOLUTION.search(sql) is not None)


def _merge(statement: exp.Expression, evolves: bool) -> RowChange:
    target, source = statement.this, statement.args["using"]
    joined = f"{_sql(target)} JOIN {_sql(source)} ON {_sql(statement.args['on'])}"
    clauses = [Clause(joined)]
    for when in statement.args["whens"].expressions:
        rows = joined if when.args.get("matched") else _sql(target) if when.args.get("source") else _sql(source)
        clauses += _clauses(when.args["then"], _where(rows, when.args.get("condition")), _sql(source), target)
    return RowChange(_name(target), tuple(clauses), _sql(source), evolves)


def _clauses(then: exp.Expression, rows: str, source: str, target: exp.Expression) -> Iterator[Clause[str]]:
    """One clause; of SET * two, for its columns are those of the source alone, where no name is the target's too."""
    if isinstance(then, exp.Update) and any(isinstance(one, exp.Star) for one in then.expressions):
        yield Clause(rows)
        yield Clause(source, star=True)
    elif isinstance(then, exp.Update):
        yield Clause(rows, _assigned(then.expressions, target))
    elif isinstance(then, exp.Insert) and isinstance(then.this, exp.Star):
        yield Clause(rows, star=True, inserts=True)
    elif isinstance(then, exp.Insert):
        names, values = then.this.expressions, then.expression.expressions
        found = {name.name: _sql(value) for name, value in zip(names, values, strict=True)}
        yield Clause(rows, found, inserts=True)
    else:
        yield Clause(rows)


def _update(statement: exp.Expression, evolves: bool) -> RowChange:
    target = statement.this
    rows = _where(_sql(target), _condition(statement))
    return RowChange(_name(target), (Clause(rows, _assigned(statement.expressions, target)),), evolves=evolves)


def _delete(statement: exp.Expression, evolves: bool) -> RowChange:
    condition = _condition(statement)
    rows = _where(_sql(statement.this), condition)
    return RowChange(_name(statement.this), (Clause(rows),), evolves=evolves, deletes_all=condition is None)


def _condition(statement: exp.Expression) -> exp.Expression | None:
    where = statement.args.get("where")
    return where.this if where is not None else None


def _where(rows: str, condition: exp.Expression | None) -> str:
    return f"{rows} WHERE {_sql(condition)}" if condition is not None else rows


def _assigned(assignments: Sequence[exp.Expression], target: exp.Expression) -> dict[str, str]:
    """The values by column; one that is assigned to itself is left alone, fields of a struct change the struct."""
    found: dict[str, str] = {}
    fields: dict[str, list[str]] = {}
    for assignment in assignments:
        column, value = assignment.this, assignment.expression
        parts = _parts(column)
        if len(parts) > 1 and parts[0].lower() in _aliases(target):
            parts = parts[1:]
        if _is_itself(parts, value, target):
            continue
        if len(parts) == 1:
            found[parts[0]] = _sql(value)
        else:
            field_name = exp.Literal.string(".".join(parts[1:]))
            fields.setdefault(parts[0].lower(), []).append(f"{_sql(field_name)}, {_sql(value)}")
    return found | {name: f"named_struct({', '.join(values)})" for name, values in fields.items()}


def _parts(column: exp.Expression) -> list[str]:
    if isinstance(column, exp.Dot):
        return [*_parts(column.this), column.expression.name]
    return [part.name for part in column.parts] if isinstance(column, exp.Column) else [column.name]


def _is_itself(parts: Sequence[str], value: exp.Expression, target: exp.Expression) -> bool:
    if len(parts) > 1 or not isinstance(value, exp.Column) or value.name.lower() != parts[0].lower():
        return False
    return not value.table or value.table.lower() in _aliases(target)


def _aliases(table: exp.Expression) -> set[str]:
    """The names by which the columns of a table may be called."""
    return {table.alias_or_name.lower()}


def _name(table: exp.Expression) -> str:
    """The table's name as it stands in the statement, without its alias."""
    bare = table.copy()
    bare.set("alias", None)
    return _sql(bare)


def _sql(expression: exp.Expression) -> str:
    return expression.sql(DIALECT)


_READERS: Mapping[type, Callable[[exp.Expression, bool], RowChange]] = {
    exp.Merge: _merge,
    exp.Update: _update,
    exp.Delete: _delete,
}
