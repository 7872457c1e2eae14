"""The joins of a query: what they compare, and the one column that USING makes of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.extract.queries import expressions
from headwater.extract.trace import Paths, union

if TYPE_CHECKING:
    from headwater.extract.queries.scopes import Reading

Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Join:
    """A join of a query, and the tables on its sides."""

    node: exp.Join
    left: Names
    right: Names

    @property
    def using(self) -> list[str]:
        """The columns of USING, in lower case."""
        return [column.name.lower() for column in self.node.args.get("using") or ()]


def joins_of(scope: Scope) -> Iterator[Join]:
    """Yield the joins of a query, those in parentheses before the ones around them."""
    query = scope.expression
    if isinstance(query, exp.Table):
        yield from _within(query)
    elif (first := query.args.get("from_")) is not None:
        yield from _within(first.this)
        yield from _in_order(_tables(first.this), query)


def _within(relation: exp.Expr) -> Iterator[Join]:
    """Yield the joins of a part of FROM."""
    if _is_in_parentheses(relation):
        yield from _within(relation.this)
    yield from _in_order(_first(relation), relation)


def _in_order(left: Names, relation: exp.Expr) -> Iterator[Join]:
    for node in _nodes(relation):
        yield from _within(node.this)
        right = _tables(node.this)
        yield Join(node, left, right)
        left = (*left, *right)


def _nodes(relation: exp.Expr, *, of_arrays: bool = False) -> list[exp.Join]:
    return [node for node in relation.args.get("joins") or () if (node.kind == "ARRAY") == of_arrays]


def _tables(relation: exp.Expr) -> Names:
    return (*_first(relation), *(name for node in _nodes(relation) for name in _tables(node.this)))


def _first(relation: exp.Expr) -> Names:
    return _tables(relation.this) if _is_in_parentheses(relation) else (relation.alias_or_name,)


def _is_in_parentheses(relation: exp.Expr) -> bool:
    """Whether a part of FROM is tables in parentheses, without a name of its own and no query."""
    inside = isinstance(relation, exp.Subquery | exp.Paren) and not relation.alias
    return inside and isinstance(relation.this, exp.Table | exp.Subquery | exp.Paren)


def arrays(scope: Scope) -> list[exp.Expr]:
    """The arrays of ClickHouse's ``ARRAY JOIN``, which has a row for each of their elements."""
    joins = _nodes(scope.expression, of_arrays=True)
    return [array for node in joins for array in (node.this, *node.expressions)]


def array(name: str, scope: Scope) -> exp.Expr | None:
    """The array whose elements have a name; None where none has it."""
    return next((one.unalias() for one in arrays(scope) if one.alias_or_name.lower() == name.lower()), None)


def shared_column(name: str, scope: Scope, reading: Reading) -> Paths | None:
    """The column that USING makes of two of a name; None where no join names it."""
    found = [column for _, column in _of_using(name.lower(), scope, reading)]
    return found[-1] if found else None


def compared(scope: Scope, reading: Reading) -> Paths:
    """The columns that USING compares."""
    names = dict.fromkeys(name for join in reading.joins(scope) for name in join.using)
    return union(both for name in names for both, _ in _of_using(name, scope, reading))


def _of_using(name: str, scope: Scope, reading: Reading) -> Iterator[tuple[Paths, Paths]]:
    """Yield for each join with a name in USING the columns of both sides, and the one that is made of them.

    It is the left side's; after RIGHT JOIN the right side's, and after FULL JOIN the one that is not NULL (SQL
    standard, 7.10).
    """
    shared: dict[Names, Paths] = {}
    for join in (one for one in reading.joins(scope) if name in one.using):
        left, right = (_side(name, tables, shared, scope, reading) for tables in (join.left, join.right))
        both = union((left, right))
        column = {"RIGHT": right, "FULL": expressions.chosen(both, both)}.get(join.node.side, left)
        shared[(*join.left, *join.right)] = column
        yield both, column


def _side(name: str, tables: Names, shared: dict[Names, Paths], scope: Scope, reading: Reading) -> Paths:
    among = [column for names, column in shared.items() if set(names) <= set(tables)]
    return among[-1] if among else reading.column_among(tables, name, scope)
