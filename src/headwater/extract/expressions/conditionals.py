"""Expressions that choose between values: what they test is CONDITIONAL, what they choose from TRANSFORMATION."""

from headwater.extract.scope import Scope, Visitors
from headwater.extract.trace import CONDITION, TRANSFORMED, Trace, decided, flat, merge, shaped, step, union
from headwater.plan import Expression, Node


def if_else(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``IF(test, a, b)``."""
    if _is_struct_cast(node):
        return children[2]
    return _choice(children[:1], children[1:])


def case_when(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``CASE WHEN test THEN value … ELSE value END``: tests and values in turn, the ELSE last when there is one."""
    if _is_time_window(node):
        return step(TRANSFORMED, union(map(flat, children)))
    pairs = len(children) // 2 * 2
    return _choice(children[0:pairs:2], (*children[1:pairs:2], *children[pairs:]))


def _is_struct_cast(node: Expression) -> bool:
    """``IF(s IS NULL, NULL, named_struct(s.a, …))``: Spark fits a struct to a schema.

    An INSERT renames its fields (TableOutputResolver), ``DataFrame.to`` orders and casts them (Project.matchSchema).
    """
    test, null, rebuilt = node.children
    if test.name != "IsNull" or null.children or rebuilt.name != "CreateNamedStruct":
        return False
    return all(_is_same(_leaf_of(value), test.children[0]) for value in rebuilt.children[1::2])


def _is_same(one: Node, other: Node) -> bool:
    """Whether both are one column, or one field of it: a plan from a text has a node for each mention."""
    while one is not other:
        if one.name != other.name or one.values != other.values or len(one.children) != len(other.children):
            return False
        if not one.children:
            return one.name == "AttributeReference"
        one, other = one.children[0], other.children[0]
    return True


def _leaf_of(value: Node) -> Node:
    """The expression, below casts, that a leaf of a struct is taken from."""
    while value.children and value.name != "GetStructField":
        value = value.children[0]
    source = value.children[0] if value.children else value
    return source.children[0] if source.name == "KnownNotNull" else source


def _is_time_window(node: Expression) -> bool:
    """The CASE by which Spark rounds a time down to its ``window(…)``: nobody wrote it (Analyzer, TimeWindowing)."""
    inner: Node = node
    while inner.children and inner.name != "PreciseTimestampConversion":
        inner = inner.children[0]
    return bool(inner.children)


def coalesce(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``COALESCE(a, b, …)``: each argument may be the value, and decides whether it is."""
    value = merge(children)  # a leaf of structs has its own leaves alone: a packed struct is never NULL by a leaf
    return merge((shaped(TRANSFORMED, value), shaped(CONDITION, value)))


def _choice(tests: tuple[Trace, ...], values: tuple[Trace, ...]) -> Trace:
    """One of the values, or the same leaf of one of them; what is tested counts for every leaf."""
    return decided(shaped(TRANSFORMED, merge(values)), step(CONDITION, union(map(flat, tests))))


def null_if(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``NULLIF(a, b)`` from Spark 4.3 on: the comparison, and the value unless it holds."""
    return _choice(children[:1], children[1:])


EXPRESSIONS: Visitors = {"If": if_else, "CaseWhen": case_when, "Coalesce": coalesce, "NullIfResult": null_if}
