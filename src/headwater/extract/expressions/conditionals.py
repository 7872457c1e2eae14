"""Expressions that choose between values: what they test is CONDITIONAL, what they choose from TRANSFORMATION."""

from headwater.extract.expressions.table import Visitors
from headwater.extract.scope import Scope
from headwater.extract.trace import CONDITION, TRANSFORMED, Trace, flat, step, union
from headwater.plan import Expression, Node


def if_else(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``IF(test, a, b)``."""
    return _choice(children[:1], children[1:])


def case_when(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``CASE WHEN test THEN value … ELSE value END``: tests and values in turn, the ELSE last when there is one."""
    if _is_time_window(node):
        return step(TRANSFORMED, union(map(flat, children)))
    pairs = len(children) // 2 * 2
    return _choice(children[0:pairs:2], (*children[1:pairs:2], *children[pairs:]))


def _is_time_window(node: Expression) -> bool:
    """The CASE by which Spark rounds a time down to its ``window(…)``: nobody wrote it (Analyzer, TimeWindowing)."""
    inner: Node = node
    while inner.children and inner.name != "PreciseTimestampConversion":
        inner = inner.children[0]
    return bool(inner.children)


def coalesce(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``COALESCE(a, b, …)``: each argument may be the value, and decides whether it is."""
    return _choice(children, children)


def _choice(tests: tuple[Trace, ...], values: tuple[Trace, ...]) -> Trace:
    tested = step(CONDITION, union(map(flat, tests)))
    return union((tested, step(TRANSFORMED, union(map(flat, values)))))


EXPRESSIONS: Visitors = {"If": if_else, "CaseWhen": case_when, "Coalesce": coalesce}
