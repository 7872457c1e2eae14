"""The joins of a query: what they compare, and the one column that USING makes of two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.extract.trace import CONDITION, TRANSFORMED, Paths, step, union

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
        """The columns of USING."""
        return [column.name for column in self.node.args.get("using") or ()]


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
    for node in relation.args.get("joins") or ():
        if node.kind == "ARRAY":
            continue
        yield from _within(node.this)
        right = _tables(node.this)
        yield Join(node, left, right)
        left = (*left, *right)


def _tables(relation: exp.Expr) -> Names:
    joined = (node.this for node in relation.args.get("joins") or () if node.kind != "ARRAY")
    return (*_first(relation), *(name for one in joined for name in _tables(one)))


def _first(relation: exp.Expr) -> Names:
    return _tables(relation.this) if _is_in_parentheses(relation) else (relation.alias_or_name,)


def _is_in_parentheses(relation: exp.Expr) -> bool:
    """Whether a part of FROM is tables in parentheses, without a name of its own and no query."""
    inside = isinstance(relation, exp.Subquery | exp.Paren) and not relation.alias
    return inside and isinstance(relation.this, exp.Table | exp.Subquery | exp.Paren)


def arrays(scope: Scope) -> list[exp.Expr]:
    """The arrays of ClickHouse's ``ARRAY JOIN``, which has a row for each of their elements."""
    joins = (node for node in scope.expression.args.get("joins") or () if node.kind == "ARRAY")
    return [array for node in joins for array in (node.this, *node.expressions)]


def array(name: str, scope: Scope) -> exp.Expr | None:
    """The array whose elements have a name; None where none has it."""
    return next((one.unalias() for one in arrays(scope) if one.alias_or_name.lower() == name.lower()), None)


def shared_column(name: str, scope: Scope, reading: Reading) -> Paths | None:
    """The column that USING makes of two of a name; None where no join names it."""
    found = [column for shared, _, column in _shared_columns(scope, reading) if shared == name.lower()]
    return found[-1] if found else None


def compared(scope: Scope, reading: Reading) -> Paths:
    """The columns that USING compares."""
    return union(both for _, both, _ in _shared_columns(scope, reading))


def _shared_columns(scope: Scope, reading: Reading) -> Iterator[tuple[str, Paths, Paths]]:
    """Yield the names in USING, join by join, with the columns of both sides and the one that is made of them.

    It is the left side's; after RIGHT JOIN the right side's, and after FULL JOIN the one that is not NULL (SQL
    standard, 7.10).
    """
    shared: dict[str, dict[Names, Paths]] = {}
    for join in joins_of(scope):
        for name in map(str.lower, join.using):
            before = shared.setdefault(name, {})
            left, right = (_side(name, tables, before, scope, reading) for tables in (join.left, join.right))
            both = union((left, right))
            outer = {"RIGHT": right, "FULL": union((step(CONDITION, both), step(TRANSFORMED, both)))}
            before[(*join.left, *join.right)] = outer.get(join.node.side, left)
            yield name, both, before[(*join.left, *join.right)]


def _side(name: str, tables: Names, shared: dict[Names, Paths], scope: Scope, reading: Reading) -> Paths:
    among = [column for names, column in shared.items() if set(names) <= set(tables)]
    return among[-1] if among else reading.column_among(tables, name, scope)
