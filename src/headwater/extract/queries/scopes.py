"""From the scopes of a query to where its columns come from: FROM, WHERE, GROUP BY, set operations, WITH."""

from collections.abc import Callable, Iterator, Sequence

from sqlglot import exp
from sqlglot.optimizer.scope import Scope

from headwater.extract.queries import clauses, expressions, joins
from headwater.extract.queries.result import Column, Result, Star
from headwater.extract.trace import FILTER, GROUP_BY, JOIN, NOTHING, OPAQUE, TRANSFORMED, Paths, source, step, union
from headwater.model import Dataset, InputField

_MOST_ROUNDS = 20


class Reading:
    """One query being read: results by scope, and what is uncertain."""

    def __init__(
        self,
        dataset: Callable[[exp.Table], Dataset | None],
        masking: frozenset[str] = frozenset(),
        pseudo_columns: frozenset[str] = frozenset(),
    ) -> None:
        self.dataset = dataset
        self.masking = masking
        self.problems: list[str] = []
        self._pseudo_columns = pseudo_columns
        self._results: dict[int, Result] = {}
        self._joins: dict[int, tuple[joins.Join, ...]] = {}

    def result(self, scope: Scope) -> Result:
        """The output of the query of a scope."""
        if id(scope) not in self._results:
            self._results[id(scope)] = self._read(scope).renamed(scope.outer_columns)
        return self._results[id(scope)]

    def joins(self, scope: Scope) -> tuple[joins.Join, ...]:
        """The joins of the query of a scope."""
        if id(scope) not in self._joins:
            self._joins[id(scope)] = tuple(joins.joins_of(scope))
        return self._joins[id(scope)]

    def column(self, column: exp.Column, scope: Scope) -> Paths:
        """Where a column that an expression names comes from."""
        if column.name.upper() in self._pseudo_columns and not isinstance(column.this, exp.Star):
            return NOTHING
        if column.table:
            return self._qualified(column.table, column.name, scope)
        return self._unqualified(column.name, scope)

    def whole_row(self, name: str, scope: Scope) -> Paths | None:
        """All columns of a part of FROM as one value, ``md5(t.*::text)``; None where no part has that name."""
        if _selected(scope, name) is None:
            return None
        listed = [column for _, column in self._star(scope, [name])]
        if any(isinstance(column, Star) for column in listed):
            self.problems.append(f"which columns {name}.* has is not in the query")
        return step(TRANSFORMED, union(column for column in listed if not isinstance(column, Star)))

    def is_outer(self, column: exp.Column, scope: Scope) -> bool:
        """True when a column of a subquery is one of the query around it."""
        return bool(column.table) and scope.parent is not None and _selected(scope, column.table) is None

    def subquery(self, node: exp.Expr, scope: Scope) -> Scope | None:
        """The scope of a query that stands in an expression of ``scope``."""
        query = node.unnest() if isinstance(node, exp.Subquery) else node
        return next((inner for inner in scope.subquery_scopes if inner.expression is query), None)

    def rows(self, origin: exp.Table | Scope, scope: Scope) -> Paths:
        """The sources that decide on the rows of a part of FROM; the arguments of a function decide on how many."""
        if isinstance(origin, Scope):
            return self.result(origin).deciding
        return NOTHING if self.dataset(origin) else step(FILTER, expressions.columns_within(origin, scope, self))

    def correlation(self, scope: Scope) -> tuple[Paths, Paths]:
        """The columns that a subquery compares with the query around it, and all others that decide on its rows."""
        if not isinstance(scope.expression, exp.Select):
            return NOTHING, self.result(scope).deciding
        return clauses.correlation(scope, self), clauses.deciding(scope, self, correlated=False)

    def _read(self, scope: Scope) -> Result:
        query = scope.expression
        if isinstance(query, exp.SetOperation):
            return self._set_operation(scope, query)
        if isinstance(query, exp.UDTF):
            return self.result(scope.subquery_scopes[0]) if scope.subquery_scopes else self._generator(scope)
        if isinstance(query, exp.Table):
            # Joins in parentheses with a name of their own
            return Result(tuple(self._star(scope, list(scope.selected_sources))), clauses.deciding(scope, self))
        if isinstance(query, exp.Subquery):
            # A query in parentheses with an ORDER BY or LIMIT of its own
            inner = [self.result(child) for child in scope.derived_table_scopes]
            columns = inner[0].columns if inner else ()
            return Result(columns, union((clauses.deciding(scope, self), *(one.deciding for one in inner))))
        return Result(tuple(self._columns(scope)), clauses.deciding(scope, self))

    def _generator(self, scope: Scope) -> Result:
        """``unnest(t.tags) AS u(tag)``: every argument makes every column, and decides how many rows there are."""
        arguments = expressions.columns_within(scope.expression, scope, self)
        names = list(scope.outer_columns) or [scope.expression.alias]
        unnest = scope.expression.find(exp.Unnest)
        if unnest is not None and isinstance(place := unnest.args.get("offset"), exp.Identifier):
            names.append(place.name)
        return Result(tuple((name, step(TRANSFORMED, arguments)) for name in names), step(FILTER, arguments))

    def _columns(self, scope: Scope) -> Iterator[Column]:
        for item in clauses.selects(scope):
            star = item.this if isinstance(item, exp.Column) else item
            if isinstance(star, exp.Star):
                names = [item.table] if isinstance(item, exp.Column) else list(scope.selected_sources)
                yield from self._changed(star, list(self._star(scope, names)), scope)
            else:
                yield item.alias_or_name, expressions.trace(item, scope, self)

    def _changed(self, star: exp.Star, columns: Sequence[Column], scope: Scope) -> Iterator[Column]:
        """``* EXCLUDE (a) REPLACE (f(b) AS b) RENAME (c AS d)``: columns in their places, as far as these are known."""
        changes = {one.this.name.lower(): one for one in star.args.get("rename") or ()}
        changes |= {one.alias.lower(): one for one in star.args.get("replace") or ()}
        excluded = {one.name.lower() for one in star.args.get("except_") or ()}
        for name, column in columns:
            change = changes.pop(name.lower(), None)
            if change is not None:
                yield change.alias, expressions.trace(change, scope, self)
            elif name.lower() not in excluded:
                yield name, column
        yield from ((change.alias, expressions.trace(change, scope, self)) for change in changes.values())

    def _star(self, scope: Scope, names: list[str]) -> Iterator[Column]:
        for name in names:
            origin = _selected(scope, name)
            if isinstance(origin, Scope):
                yield from self.result(origin).columns
            elif origin is not None and (dataset := self.dataset(origin)) is not None:
                yield "*", Star((dataset,))
            elif origin is not None:
                made = step(TRANSFORMED, expressions.columns_within(origin, scope, self))
                yield from ((label, made) for label in origin.alias_column_names or [origin.alias])
            else:
                self.problems.append(f"which columns {name}.* has is not in the query")

    def _qualified(self, qualifier: str, name: str, scope: Scope) -> Paths:
        around: Scope | None = scope
        while around is not None:
            origin = _selected(around, qualifier)
            if origin is not None:
                return self._of(origin, name, around)
            around = around.parent
        self.problems.append(f"what {qualifier}.{name} is could not be found")
        return NOTHING

    def _of(self, origin: exp.Table | Scope, name: str, scope: Scope) -> Paths:
        if isinstance(origin, Scope):
            paths, certain = self.result(origin).column(name)
            if not certain:
                self._unclear(name)
            return paths if certain or paths else expressions.opaque_all(self.result(origin))
        dataset = self.dataset(origin)
        if dataset is None:
            return step(TRANSFORMED, expressions.columns_within(origin, scope, self))
        return source(InputField(dataset, name))

    def column_among(self, names: Sequence[str], name: str, scope: Scope) -> Paths:
        """A column of one of some parts of FROM, of which only some may have it."""
        origins = [origin for one in names if (origin := _selected(scope, one)) is not None]
        if len(origins) < len(names):
            origins = [origin for _, origin in scope.selected_sources.values()]
        return self._of(origins[0], name, scope) if len(origins) == 1 else self._among(origins, name, scope)

    def _unqualified(self, name: str, scope: Scope) -> Paths:
        """A column without its table: one of USING, else one that a part of FROM lists, else of who may have it."""
        if (shared := joins.shared_column(name, scope, self)) is not None:
            return shared
        if (array := joins.array(name, scope)) is not None:
            return step(TRANSFORMED, union(self._named_by(column, scope) for column in array.find_all(exp.Column)))
        return self._named_by(exp.column(name), scope)

    def _named_by(self, column: exp.Column, scope: Scope) -> Paths:
        if column.table:
            return self._qualified(column.table, column.name, scope)
        name = column.name
        origins = [origin for _, origin in scope.selected_sources.values()] + list(scope.lateral_sources.values())
        known = any(self._lists(one, name) or self._may_have_more(one) for one in origins)
        if not known and (row := self.whole_row(name, scope)) is not None:
            return row
        if not known and scope.parent is not None:
            return self._unqualified(name, scope.parent)
        return self._among(origins, name, scope)

    def _among(self, origins: Sequence[exp.Table | Scope], name: str, scope: Scope) -> Paths:
        listed = [one for one in origins if self._lists(one, name)]
        if listed:
            return union(self._of(one, name, scope) for one in listed)
        open_ones = [one for one in origins if self._may_have_more(one)]
        if len(open_ones) != 1:
            self._unclear(name)
        paths = union(self._of(origin, name, scope) for origin in open_ones)
        return paths if len(open_ones) == 1 else step(OPAQUE, paths)

    def _unclear(self, name: str) -> None:
        self.problems.append(f"which table {name} comes from is not in the query")

    def _lists(self, origin: exp.Table | Scope, name: str) -> bool:
        if isinstance(origin, Scope):
            return self.result(origin).named(name) is not None
        return name in (origin.alias_column_names or [origin.alias]) and self.dataset(origin) is None

    def _may_have_more(self, origin: exp.Table | Scope) -> bool:
        return bool(self.result(origin).stars) if isinstance(origin, Scope) else self.dataset(origin) is not None

    def _set_operation(self, scope: Scope, query: exp.SetOperation) -> Result:
        left, right = scope.set_operation_scopes
        if (loop := _recursive_name(scope)) and isinstance(query, exp.Union):
            return self._recursion(loop, scope, left, right)
        first, second = self.result(left), self.result(right)
        columns = _merged(first, second) if isinstance(query, exp.Union) else first.columns
        return Result(columns, union((first.deciding, second.deciding, _compared(query, first, second))))

    def _recursion(self, loop: str, scope: Scope, left: Scope, right: Scope) -> Result:
        """``WITH RECURSIVE``: the anchor's rows, and those of the recursion until nothing new comes in."""
        current = anchor = self.result(left).renamed(scope.outer_columns)
        before = dict(self._results)
        for _ in range(_MOST_ROUNDS):
            self._results = {**before, id(right.cte_sources[loop]): current}
            again = self.result(right)
            found = Result(_merged(anchor, again), union((anchor.deciding, again.deciding)))
            if found == current:
                break
            current = found
        return current


def _selected(scope: Scope, name: str) -> exp.Table | Scope | None:
    """The part of FROM of that name; names of tables are compared without case."""
    for alias, (_, origin) in scope.selected_sources.items():
        if alias.lower() == name.lower():
            return origin
    return scope.lateral_sources.get(name)


def _recursive_name(scope: Scope) -> str:
    """The name of the recursive definition that this set operation is, empty when it is none."""
    definition = scope.expression.parent
    if not isinstance(definition, exp.CTE) or not definition.parent or not definition.parent.args.get("recursive"):
        return ""
    return definition.alias if definition.alias in scope.set_operation_scopes[1].cte_sources else ""


def _merged(first: Result, second: Result) -> tuple[Column, ...]:
    """Columns of UNION, by position; stars on both sides are one over both tables."""
    if len(first.columns) != len(second.columns):
        return first.columns + second.columns
    return tuple(
        (name, _either(one, other)) for (name, one), (_, other) in zip(first.columns, second.columns, strict=True)
    )


def _either(one: Paths | Star, other: Paths | Star) -> Paths | Star:
    if isinstance(one, Star) and isinstance(other, Star):
        return Star(tuple(dict.fromkeys(one.tables + other.tables)))
    if isinstance(one, Star) or isinstance(other, Star):
        return one if isinstance(one, Star) else other
    return union((one, other))


def _compared(query: exp.SetOperation, first: Result, second: Result) -> Paths:
    """UNION groups by every column; INTERSECT and EXCEPT compare every column, and group the left ones."""
    distinct = bool(query.args.get("distinct"))
    left, right = _all(first), _all(second)
    if isinstance(query, exp.Union):
        return step(GROUP_BY, union((left, right))) if distinct else NOTHING
    return union((step(JOIN, union((left, right))), step(GROUP_BY, left) if distinct else NOTHING))


def _all(result: Result) -> Paths:
    return union(trace for _, trace in result.columns if not isinstance(trace, Star))
