"""Predicates and the rows that they decide on: FILTER or JOIN, conjunct by conjunct."""

from collections.abc import Iterator

from headwater.extract.expressions import subqueries
from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.scope import Scope
from headwater.extract.substitution import has_outer
from headwater.extract.trace import CORRELATED, FILTER, JOIN, Paths, Step, flat, step, union
from headwater.plan import Expression

_LOGIC = ("And", "Or", "Not")


def predicate(condition: Expression | None, how: Step, scope: Scope) -> Paths:
    """The paths by which ``condition`` decides on rows.

    ``how`` is FILTER in a WHERE and JOIN in an ON. IN and EXISTS subqueries are semi and anti joins; a conjunct
    that correlates a subquery with the query around it is a join condition.
    """
    return union(_conjunct(part, how, scope) for part in _split(condition, ("And",)))


def correlation(condition: Expression | None, scope: Scope) -> Paths:
    """The columns compared by the conjuncts that correlate this query with the one around it."""
    traces = (flat(evaluate(part, scope)) for part in _split(condition, ("And",)))
    return union(trace for trace in traces if has_outer(trace))


def _conjunct(condition: Expression, how: Step, scope: Scope) -> Paths:
    parts = [_part(part, how, scope) for part in _split(condition, _LOGIC)]
    correlated = how == FILTER and any(has_outer(part) for part in parts)
    return union(step(CORRELATED, part) if correlated else part for part in parts)


def _part(condition: Expression, how: Step, scope: Scope) -> Paths:
    if condition.name == "Exists":
        return subqueries.inner(condition, scope).deciding
    if condition.name == "InSubquery":
        traces = tuple(
            evaluate(child, scope) if child.name != "ListQuery" else frozenset()
            for child in condition.children
            if isinstance(child, Expression)
        )
        rows, compared = subqueries.in_parts(condition, traces, scope)
        return union((step(JOIN, compared), rows.deciding))
    return step(how, flat(evaluate(condition, scope)))


def _split(condition: Expression | None, logic: tuple[str, ...]) -> Iterator[Expression]:
    """The parts of a condition that are joined by ``logic``, left to right."""
    stack = [condition] if condition else []
    while stack:
        part = stack.pop()
        if part.name in logic:
            stack.extend(child for child in reversed(part.children) if isinstance(child, Expression))
        else:
            yield part
