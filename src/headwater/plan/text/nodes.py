"""Expressions from the operands, operators and arguments that were read."""

from collections.abc import Sequence

from headwater.plan.text.functions import AGGREGATES, CLASSES
from headwater.plan.tree import Expression, Node

_QUIET = frozenset({"ASC", "DESC", "NULLS", "FIRST", "LAST", "distinct", "DISTINCT", "lambda"})
_CHECKS = ("varcharTypeWriteSideCheck", "charTypeWriteSideCheck", "readSidePadding")


def combined(terms: list[Expression], words: list[str]) -> Expression:
    """What operands and operators of one level make: an operator in between makes a value of them all."""
    loud = [word for word in words if word not in _QUIET]
    if not terms:
        return Expression("Literal")
    if len(terms) == 2 and terms[1].name == "WindowSpecDefinition":
        return Expression("WindowExpression", (_over_window(terms[0]), terms[1]))
    if terms[-1].name == "ListQuery" and len(terms) > 1:
        return _negated(_in_subquery(terms), "NOT" in loud)
    if len(terms) == 1 and (not loud or loud == ["NOT"]):
        return _negated(terms[0], bool(loud))
    return Expression("Operation", tuple(terms))


def _negated(inner: Expression, negative: bool) -> Expression:
    return Expression("Not", (inner,)) if negative else inner


def _in_subquery(terms: Sequence[Expression]) -> Expression:
    """``x IN (list#1 [])``; several values stand as a struct."""
    first = terms[0]
    values = first.children[1::2] if first.name == "CreateNamedStruct" else tuple(terms[:-1])
    values = first.children if first.name == "Several" else values
    return Expression("InSubquery", (*values, terms[-1]), {"values": values, "query": terms[-1]})


def _over_window(function: Expression) -> Expression:
    if function.name == "PythonUDF":
        return Expression("PythonUDAF", function.children, {}, function.values)
    return function


def function(name: str, arguments: Sequence[Node]) -> Expression:
    """The call of a function by the name that a text has for it."""
    children = tuple(one for one in arguments if isinstance(one, Expression))
    if name.endswith(_CHECKS):
        return Expression("KnownNotNull", children)
    if name == "nvl2":
        return Expression("If", children)
    if name == "decode" and len(children) > 2:
        return _decode(children)
    if name == "nullif":
        return Expression("NullIfResult", (Expression("Operation", children), *children[:1]))
    if name == "pivotfirst":
        return Expression("PivotFirst", children[:2])
    function = Expression(CLASSES.get(name, "Function"), children, {}, {"name": name})
    return Expression("AggregateExpression", (function,)) if name in AGGREGATES else function


def _decode(children: Sequence[Expression]) -> Expression:
    """``decode(x, a, one, b, two, other)``: the value is compared, and chooses."""
    rest = children[1:]
    pairs = len(rest) // 2 * 2
    tests = [Expression("Operation", (children[0], one)) for one in rest[0:pairs:2]]
    chosen = [part for test, value in zip(tests, rest[1:pairs:2], strict=True) for part in (test, value)]
    return Expression("CaseWhen", (*chosen, *rest[pairs:]))
