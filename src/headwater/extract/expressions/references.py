"""Expressions that stand for a column, or hand a value on as it is."""

from headwater.extract.expressions.table import Visitors
from headwater.extract.scope import Scope
from headwater.extract.trace import NOTHING, Placeholder, Trace, flat, merge, source, step, substitute
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
    text = node.text("sql")
    if not text or node.children[0].name == "AttributeReference":
        return children[0]
    described = Transformation(Subtype.IDENTITY, description=text)
    return children[0] if not isinstance(children[0], frozenset) else step(described, children[0])


def cast(node: Expression, children: tuple[Trace, ...], scope: Scope) -> Trace:
    """A cast that keeps the type, nullability aside, changes nothing."""
    return children[0] if node.values.get("same") else step(_TRANSFORMED, children[0])


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
    "TypedNullLiteral": nothing,
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
