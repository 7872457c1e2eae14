"""PIVOT and UNPIVOT of a database's SQL as the queries that they stand for: grouped aggregates, and a union."""

from collections.abc import Iterator, Sequence
from itertools import count

from sqlglot import exp


def without_pivots(tree: exp.Expr) -> list[str]:
    """Replace the tables behind PIVOT and UNPIVOT by queries, in place; return what is not in the SQL then."""
    problems: list[str] = []
    relations = [node for node in tree.find_all(exp.Table, exp.Subquery) if node.args.get("pivots")]
    names = map("rows of UNPIVOT {}".format, count(1))
    for relation in reversed(relations):  # those within others first
        pivots, joins = relation.args["pivots"], relation.args.get("joins")
        relation.set("pivots", None)
        relation.set("joins", None)
        place = exp.Placeholder()
        relation.replace(place)
        rows: exp.Expr = relation
        for pivot in pivots:
            query = _unpivoted(rows, pivot, next(names)) if pivot.unpivot else _pivoted(rows, pivot, problems)
            rows = exp.Subquery(this=query, alias=pivot.args.get("alias"))
        rows.set("joins", joins)
        place.replace(rows)
    return problems


def _pivoted(rows: exp.Expr, pivot: exp.Pivot, problems: list[str]) -> exp.Select:
    """Each value of the pivot's column is an aggregate of its rows; the other columns are what is grouped by."""
    keys = [column for field in pivot.fields for column in field.this.find_all(exp.Column)]
    read = {column.name for each in (*pivot.expressions, *keys) for column in each.find_all(exp.Column)}
    others = _others(rows, read)
    if others is None:
        problems.append("which columns a PIVOT groups by is not in the query")
    query = exp.select(*(others if others is not None else [exp.Star()]), *_aggregates(pivot, keys))
    return query.from_(rows).group_by(*others) if others else query.from_(rows)


def _aggregates(pivot: exp.Pivot, keys: list[exp.Column]) -> Iterator[exp.Expr]:
    """Yield a column for each value and aggregate, in the order of their names."""
    for place, name in enumerate(pivot.args.get("columns") or ()):
        aggregate = pivot.expressions[place % len(pivot.expressions)].unalias()
        of_value = exp.Where(this=exp.Tuple(expressions=[key.copy() for key in keys]))
        yield exp.alias_(exp.Filter(this=aggregate.copy(), expression=of_value), name.copy(), copy=False)


def _unpivoted(rows: exp.Expr, pivot: exp.Pivot, rows_name: str) -> exp.Query:
    """Each column that is listed makes rows of its own: those of a union. Rows without a value are left out.

    ``rows_name`` is what the rows are called in its WITH, so that they are read once and not for each column.
    """
    [field] = pivot.fields
    read = {column.name for each in field.expressions for column in each.find_all(exp.Column)}
    others: Sequence[exp.Expr] = _others(rows, read) or [exp.Star()]
    labels = [exp.alias_(exp.Literal.string(""), name) for name in _names(field.this)]
    names = [name for each in pivot.expressions for name in _names(each)]
    shared = exp.to_identifier(rows_name, quoted=True)
    origin = exp.alias_(exp.Table(this=shared), rows.alias_or_name or rows_name, table=True, quoted=True)
    parts: list[exp.Select] = []
    for listed in field.expressions:
        columns = list(listed.find_all(exp.Column))
        values = [exp.alias_(column.copy(), name) for column, name in zip(columns, names, strict=True)]
        part = exp.select(*(one.copy() for one in (*others, *labels)), *values).from_(origin)
        kept = exp.Tuple(expressions=[column.copy() for column in columns])
        parts.append(part if pivot.args.get("include_nulls") else part.where(kept))
    return _union(parts).with_(shared, as_=exp.select("*").from_(rows, copy=False), copy=False)


def _union(parts: Sequence[exp.Select]) -> exp.Query:
    """A union of unions of half the parts: one after the other hundreds are deeper than Python recurses."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return exp.union(_union(parts[:half]), _union(parts[half:]), distinct=False, copy=False)


def _names(node: exp.Expr) -> list[exp.Identifier]:
    return [one.copy() for one in node.find_all(exp.Identifier)]


def _others(rows: exp.Expr, read: set[str]) -> list[exp.Column] | None:
    """The columns of a query without some; None where the query does not say which it has."""
    query = rows.this if isinstance(rows, exp.Subquery) else None
    if not isinstance(query, exp.Query) or query.is_star:
        return None
    return [exp.column(exp.to_identifier(name, quoted=True)) for name in query.named_selects if name not in read]
