"""Expressions that stand for a column, or hand a value on as it is."""

from collections.abc import Mapping
from typing import Any

from headwater.extract.expressions.functions import function
from headwater.extract.origins import Origin, variable_of, variables_of
from headwater.extract.scope import Extraction, Scope, Visitors
from headwater.extract.substitution import substitute
from headwater.extract.trace import (
    NOTHING,
    OPAQUE,
    Elements,
    Placeholder,
    Struct,
    Trace,
    described,
    elements,
    flat,
    merge,
    ordered,
    shaped,
    source,
    step,
    struct,
    union,
)
from headwater.model import Subtype, Transformation
from headwater.plan import Expression

_CHECKS = ("varcharTypeWriteSideCheck", "charTypeWriteSideCheck", "readSidePadding")


def attribute_reference(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A column of a child operator, found by its exprId."""
    found = scope.columns.get(node.values.get("id", -1))
    if found is None:
        if not node.values.get("metadataColumn"):
            scope.extraction.report("expression", node.label, "no operator below puts out this column")
        return NOTHING
    return found


def same(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """The value arrives unchanged: an alias, a check, a marker of the optimizer; extra children do not count."""
    return children[0] if children else NOTHING


def alias(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A name for a value; with the expression's SQL text, where that was asked for."""
    text = node.values.get("sql")
    if not text or node.children[0].name == "AttributeReference" or not isinstance(children[0], frozenset):
        return children[0]
    return described(text, children[0])


def cast(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A cast that keeps the type, nullability aside, changes nothing; that of a struct goes by position."""
    return _recast(children[0], bool(node.values.get("same")) or node.values.get("leaves"))


def _recast(packed: Trace, leaves: Any) -> Trace:
    """A value as another type: ``leaves`` is True where it stays the same, else what becomes of the parts."""
    if leaves is True:
        return packed
    found = leaves if isinstance(leaves, Mapping) else {}
    if isinstance(packed, Struct):
        casts, names = found.get("fields") or (), tuple(found.get("names") or ())
        if len(casts) != len(packed.fields):
            casts, names = [None] * len(packed.fields), ("",) * len(packed.fields)
        return struct(names, tuple(map(_recast, packed.fields, casts)), step(_TRANSFORMED, packed.whole))
    if isinstance(packed, Elements):
        values = tuple(_recast(value, found.get("element")) for value in packed.values)
        whole, extent = step(_TRANSFORMED, packed.whole), step(_TRANSFORMED, packed.extent)
        order = _recast(packed.order, found.get("element"))
        keys = packed.keys if packed.labels is None else None
        return ordered(elements(keys, values, whole, extent, packed.labels), order)
    return step(_TRANSFORMED, packed)


def replaced(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A function that Spark replaces by another, which is its only child and may have the leaves of a value."""
    return shaped(_TRANSFORMED, children[0]) if len(children) == 1 else function(node, children, scope)


def static_invoke(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """Spark's length checks and paddings of CHAR and VARCHAR let the value through."""
    if node.text("functionName") in _CHECKS:
        return children[0]
    return step(_TRANSFORMED, merge(map(flat, children)))


def outer_reference(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A column of the query around this subquery: known where that query's scope is."""
    column = node.expression("e")
    return source(Placeholder("outer", column.expr_id)) if column else NOTHING


def common_reference(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A use of a common expression: known where the ``With`` around it is."""
    return source(Placeholder("common", _id(node)))


def with_definitions(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """``With(child, definitions…)``: NULLIF, BETWEEN and others evaluate an argument once."""
    found = {_id(definition): trace for definition, trace in zip(node.children[1:], children[1:], strict=True)}
    return substitute(children[0], lambda hole: found.get(hole.id) if hole.kind == "common" else None)


def variable(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A session variable or a script's: its value is that of the query that was assigned last."""
    extraction = scope.extraction
    parts = node.facts("identifier").get("parts", ())
    found = extraction.origins.get(variable_of(extraction.session.get("id"), parts)) if parts else None
    if found is None:
        name = ".".join(map(str, parts)) or node.label
        extraction.report("expression", f"variable {name}", "the query that it was assigned is not known")
        return NOTHING
    return variable_value(found, extraction)


def variable_value(origin: Origin, extraction: Extraction) -> Trace:
    """The trace of a remembered value, with what decided on it, as of a scalar subquery."""
    extraction.datasets.update(dict.fromkeys(origin.datasets))
    extraction.gaps.update(dict.fromkeys(origin.gaps))
    return merge((*origin.columns, origin.deciding))


def literal(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A constant; a parameter of EXECUTE IMMEDIATE … USING may be any variable: analysis leaves only the value."""
    extraction = scope.extraction
    found = variables_of(extraction.session.get("id"), extraction.origins) if node.values.get("parameter") else ()
    if not found:
        return NOTHING
    extraction.report("expression", "parameter", "it may be any variable of its session that a query has filled")
    return step(OPAQUE, union(flat(variable_value(one, extraction)) for one in found))


def nothing(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """No value of a column gets through."""
    return NOTHING


def _id(node: object) -> int:
    values = getattr(node, "values", {})
    return int(values.get("id", -1))


_TRANSFORMED = Transformation(Subtype.TRANSFORMATION)

EXPRESSIONS: Visitors = {
    "AttributeReference": attribute_reference,
    "Alias": alias,
    "Cast": cast,
    "UpCast": cast,
    "StaticInvoke": static_invoke,
    "OuterReference": outer_reference,
    "CommonExpressionRef": common_reference,
    "With": with_definitions,
    "Literal": literal,
    "TypedNullLiteral": nothing,
    **dict.fromkeys(("NullIf", "Nvl", "Nvl2", "TryElementAt"), replaced),
    "VariableReference": variable,
    **dict.fromkeys(
        (
            "AssertNotNull",
            "CheckOverflowInTableInsert",
            "CommonExpressionDef",
            "KnownFloatingPointNormalized",
            "KnownNotContainsNull",
            "KnownNotNull",
            "KnownNullable",
            "NamedArgumentExpression",
            "NormalizeNaNAndZero",
            "PromotePrecision",
            "ReadSidePadding",
            "SQLScalarFunction",
            "SortOrder",
            "TempResolvedColumn",
            "TryEval",
        ),
        same,
    ),
}
