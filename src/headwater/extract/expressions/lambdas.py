"""Higher-order functions: a variable of a lambda stands for an element, whose leaves stay apart in its body."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from headwater.extract.expressions.collections import all_of, opened, zipped
from headwater.extract.expressions.functions import function
from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import (
    EACH,
    EXTENT,
    LABEL,
    NOTHING,
    TRANSFORMED,
    Paths,
    Placeholder,
    Trace,
    decided,
    elements,
    flat,
    merge,
    part,
    shaped,
    source,
    step,
    substitute,
    union,
)
from headwater.plan import Expression, Node

Apply: TypeAlias = Callable[..., Trace]
"""The value of a lambda's body for these values of its variables."""

_MOST_ROUNDS = 5


def variable(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A variable of a lambda: known where the function around the lambda is."""
    return source(Placeholder("lambda", node.expr_id)) if node.expr_id >= 0 else NOTHING


def body(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``x -> f(x)``: what the body makes of the variables."""
    return children[0]


def _applying(node: Node, trace: Trace) -> Apply | None:
    """A lambda as a function of its variables; None where a plan does not say which is which."""
    ids = [variable.values.get("id", -1) for variable in node.children[1:]]
    if node.name != "LambdaFunction" or -1 in ids:
        return None

    def apply(*values: Trace) -> Trace:
        known = dict(zip(ids, (*values, *[NOTHING] * len(ids)), strict=False))
        return substitute(trace, lambda hole: known.get(hole.id) if hole.kind == "lambda" else None)

    return apply


Rule: TypeAlias = Callable[[Sequence[Trace], Sequence[Apply]], Trace]
"""From the traces of the arguments and the lambdas to the trace of the function."""


def _higher_order(rule: Rule, lambdas: int = 1) -> Callable[[Expression, tuple[Trace, ...], Scope], Trace]:
    def visit(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
        pairs = zip(node.children[-lambdas:], children[-lambdas:], strict=True)
        found = [apply for one, trace in pairs if (apply := _applying(one, trace))]
        if len(found) < lambdas:
            return function(node, children, scope)
        return rule(children[:-lambdas], found)

    return visit


def _deciding(packed: Iterable[Trace]) -> Paths:
    """The paths that decide on how many elements there are."""
    return all_of(part(one, EXTENT) for one in packed)


def _values(packed: Trace) -> tuple[Trace, ...]:
    found = opened(packed)
    whole = step(TRANSFORMED, found.whole)
    return tuple(decided(value, whole) for value in found.values)


def _transform(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    values = tuple(shaped(TRANSFORMED, applies[0](value)) for value in _values(arguments[0]))
    return elements(opened(arguments[0]).keys, values, extent=_deciding(arguments))


def _filter(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    """The first argument's elements; which of them there are is decided by the lambda's test."""
    return elements(None, _values(arguments[0]), extent=_test(arguments, applies))


def _test(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Paths:
    tested = applies[0](part(arguments[0], EACH))
    return union((all_of((tested,)), _deciding(arguments)))


def _zip_with(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    found = zipped(arguments)
    rows = [tuple(part(one, EACH) for one in arguments)] if found is None else found
    values = tuple(shaped(TRANSFORMED, applies[0](*row)) for row in rows)
    return elements(None if found is None else tuple(range(len(rows))), values, extent=_deciding(arguments))


def _sort(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    """The order is of the elements as a whole, and of what the comparison reads beside them."""
    return elements(None, _values(arguments[0]), extent=all_of((arguments[0], applies[0]())))


def _aggregate(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    """``aggregate(array, start, (acc, x) -> …, acc -> …)``: until nothing new comes to what is accumulated."""
    advance, finish = applies
    element, total = part(arguments[0], EACH), shaped(TRANSFORMED, arguments[1])
    for _ in range(_MOST_ROUNDS):
        found = merge((total, shaped(TRANSFORMED, advance(total, element))))
        if found == total:
            break
        total = found
    else:
        total = all_of((total, advance(flat(total), flat(element))))
    return decided(shaped(TRANSFORMED, finish(total)), _deciding(arguments[:1]))


def _transform_values(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    label = flat(part(arguments[0], LABEL))
    values = tuple(shaped(TRANSFORMED, applies[0](label, value)) for value in _values(arguments[0]))
    return elements(opened(arguments[0]).keys, values, extent=_deciding(arguments), labels=label)


def _transform_keys(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    labels = all_of((applies[0](part(arguments[0], LABEL), part(arguments[0], EACH)),))
    return elements(None, _values(arguments[0]), extent=union((_deciding(arguments), labels)), labels=labels)


def _map_filter(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    label = flat(part(arguments[0], LABEL))
    tested = all_of((applies[0](label, part(arguments[0], EACH)),))
    extent = union((_deciding(arguments), tested))
    return elements(opened(arguments[0]).keys, _values(arguments[0]), extent=extent, labels=label)


def _map_zip_with(arguments: Sequence[Trace], applies: Sequence[Apply]) -> Trace:
    labels = all_of(part(one, LABEL) for one in arguments)
    value = applies[0](labels, *(part(one, EACH) for one in arguments))
    return elements(None, (shaped(TRANSFORMED, value),), extent=union((_deciding(arguments), labels)), labels=labels)


EXPRESSIONS: Visitors = {
    "ArrayAggregate": _higher_order(_aggregate, 2),
    "ArrayExists": _higher_order(_test),
    "ArrayFilter": _higher_order(_filter),
    "ArrayForAll": _higher_order(_test),
    "ArraySort": _higher_order(_sort),
    "ArrayTransform": _higher_order(_transform),
    "LambdaFunction": body,
    "MapFilter": _higher_order(_map_filter),
    "MapZipWith": _higher_order(_map_zip_with),
    "NamedLambdaVariable": variable,
    "TransformKeys": _higher_order(_transform_keys),
    "TransformValues": _higher_order(_transform_values),
    "ZipWith": _higher_order(_zip_with),
}
