"""Expressions that an extension tells of."""

from headwater.extract.scope import Scope
from headwater.extract.trace import SAME, Trace, flat, step, union
from headwater.plan import Expression


def told(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """The children as they take part by what is told; a struct that is handed on stays one."""
    steps = scope.extraction.expressions[node]
    given = [(how, trace) for how, trace in zip(steps, children, strict=True) if how is not None]
    if len(given) == 1 and given[0][0] == SAME:
        return given[0][1]
    return union(step(how, flat(trace)) for how, trace in given)
