"""Higher-order functions: a variable of a lambda stands for an element, whose leaves stay apart in its body."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from headwater.extract.expressions.collections import all_of, at_some_place, opened, zipped
from headwater.extract.expressions.comparisons import compared
from headwater.extract.expressions.functions import function
from headwater.extract.scope import Scope, Visitors
from headwater.extract.substitution import substitute
from headwater.extract.trace import (
    EACH,
    EXTENT,
    LABEL,
    NOTHING,
    ORDER,
    TRANSFORMED,
    Paths,
    Placeholder,
    Trace,
    decided,
    elements,
    flat,
    merge,
    ordered,
    part,
    shaped,
    source,
    step,
    union,
)
from headwater.plan import Expression, Node


@dataclass(frozen=True, slots=True)
class Lambda:
    """A lambda as a function of its variables: the body's trace, in which they are placeholders of these ids."""

    body: Trace
    ids: tuple[int, ...]

    def __call__(self, *values: Trace) -> Trace:
        """The body's trace for these values; a variable without one (the index of an element) has no edges."""
        known = dict(zip(self.ids, (*values, *[NOTHING] * len(self.ids)), strict=False))
        return substitute(self.body, lambda hole: known.get(hole.id) if hole.kind == "lambda" else None)

    def element(self, array: Trace) -> Trace:
        """An element of an array as this lambda sees it: with what orders them where it sees its index too."""
        return at_some_place(array) if len(self.ids) > 1 else part(array, EACH)


_MOST_ROUNDS = 5


def variable(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A variable of a lambda: known where the function around the lambda is."""
    return source(Placeholder("lambda", node.expr_id)) if node.expr_id >= 0 else NOTHING


def body(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``x -> f(x)``: what the body makes of the variables."""
    return children[0]


def _applying(node: Node, trace: Trace) -> Lambda | None:
    """The lambda that a node is; None where a plan does not say which variable is which."""
    ids = tuple(variable.values.get("id", -1) for variable in node.children[1:])
    return None if node.name != "LambdaFunction" or -1 in ids else Lambda(trace, ids)


Rule: TypeAlias = Callable[[Sequence[Trace], Sequence[Lambda]], Trace]
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


def _transform(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    array, apply = opened(arguments[0]), applies[0]
    if len(apply.ids) > 1 and array.order:
        array = replace(array, values=(at_some_place(array),))
    values = tuple(shaped(TRANSFORMED, apply(value)) for value in _values(array))
    order = shaped(TRANSFORMED, apply(array.order)) if array.order else NOTHING
    return ordered(elements(array.keys, values, extent=_deciding(arguments)), order)


def _filter(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    """The first argument's elements; which of them there are is decided by the lambda's test."""
    return ordered(elements(None, _values(arguments[0]), extent=_test(arguments, applies)), part(arguments[0], ORDER))


def _test(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Paths:
    tested = applies[0](applies[0].element(arguments[0]))
    return union((all_of((tested,)), _deciding(arguments)))


def _zip_with(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    found = zipped(arguments)
    rows = [tuple(map(at_some_place, arguments))] if found is None else found
    values = tuple(shaped(TRANSFORMED, applies[0](*row)) for row in rows)
    return elements(None if found is None else tuple(range(len(rows))), values, extent=_deciding(arguments))


def array_sort(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``array_sort(array, (x, y) -> …)``: by what the comparison reads; without one Spark writes that of all values."""
    array, comparison = opened(children[0]), _applying(node.children[1], children[1])
    if comparison is None:
        return function(node, children, scope)
    element = part(array, EACH)
    natural = _shape(node.children[1]) == _NATURAL
    by = compared(node, element, scope) if natural else all_of((comparison(element, element),))
    return ordered(elements(None, _values(array), extent=_deciding(children[:1])), merge((array.order, by)))


_NATURAL = (
    "If And IsNull x IsNull y Literal If IsNull x Literal If IsNull y Literal "
    "If LessThan x y Literal If GreaterThan x y Literal Literal"
)
"""The comparison that Spark writes where none is written (``ArraySort.comparator``), in preorder."""


def _shape(comparison: Node) -> str:
    """The names of a lambda's nodes in preorder, its variables called as Spark calls them."""
    body, *variables = comparison.children
    called = {one.values.get("id"): name for one, name in zip(variables, "xy", strict=False)}
    stack, names = [body], []
    while stack:
        one = stack.pop()
        names.append(called.get(one.values.get("id"), one.name) if one.name == "NamedLambdaVariable" else one.name)
        stack.extend(reversed(one.children))
    return " ".join(names)


def _aggregate(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    """``aggregate(array, start, (acc, x) -> …, acc -> …)``: until nothing new comes to what is accumulated."""
    advance, finish = applies
    element, total = at_some_place(arguments[0]), shaped(TRANSFORMED, arguments[1])
    for _ in range(_MOST_ROUNDS):
        found = merge((total, shaped(TRANSFORMED, advance(total, element))))
        if found == total:
            break
        total = found
    else:
        total = all_of((total, advance(flat(total), flat(element))))
    return decided(shaped(TRANSFORMED, finish(total)), _deciding(arguments[:1]))


def _transform_values(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    label = flat(part(arguments[0], LABEL))
    values = tuple(shaped(TRANSFORMED, applies[0](label, value)) for value in _values(arguments[0]))
    return elements(opened(arguments[0]).keys, values, extent=_deciding(arguments), labels=label)


def _transform_keys(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    labels = all_of((applies[0](part(arguments[0], LABEL), part(arguments[0], EACH)),))
    return elements(None, _values(arguments[0]), extent=union((_deciding(arguments), labels)), labels=labels)


def _map_filter(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    label = flat(part(arguments[0], LABEL))
    tested = all_of((applies[0](label, part(arguments[0], EACH)),))
    extent = union((_deciding(arguments), tested))
    return elements(opened(arguments[0]).keys, _values(arguments[0]), extent=extent, labels=label)


def _map_zip_with(arguments: Sequence[Trace], applies: Sequence[Lambda]) -> Trace:
    labels = all_of(part(one, LABEL) for one in arguments)
    value = applies[0](labels, *(part(one, EACH) for one in arguments))
    return elements(None, (shaped(TRANSFORMED, value),), extent=union((_deciding(arguments), labels)), labels=labels)


EXPRESSIONS: Visitors = {
    "ArrayAggregate": _higher_order(_aggregate, 2),
    "ArrayExists": _higher_order(_test),
    "ArrayFilter": _higher_order(_filter),
    "ArrayForAll": _higher_order(_test),
    "ArraySort": array_sort,
    "ArrayTransform": _higher_order(_transform),
    "LambdaFunction": body,
    "MapFilter": _higher_order(_map_filter),
    "MapZipWith": _higher_order(_map_zip_with),
    "NamedLambdaVariable": variable,
    "TransformKeys": _higher_order(_transform_keys),
    "TransformValues": _higher_order(_transform_values),
    "ZipWith": _higher_order(_zip_with),
}
