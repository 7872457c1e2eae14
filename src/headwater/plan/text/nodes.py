"""Expressions from the operands, operators and arguments that were read; functions are named as rules expect."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from headwater.plan.text.packing import COMPARING, FORMS, REARRANGED
from headwater.plan.tree import Expression, Node

_AGGREGATES = """
    any any_value approx_count_distinct approx_percentile approx_top_k array_agg avg bit_and bit_or bit_xor
    bitmap_and_agg bitmap_construct_agg bitmap_or_agg bool_and bool_or collect_frequent_items collect_list
    collect_set corr count count_if count_min_sketch covar_pop covar_samp every first first_value grouping_id
    histogram_numeric hll_sketch_agg hll_union_agg kurtosis last last_value listagg max max_by mean median min
    min_by mode nth_value percentile percentile_approx percentile_cont percentile_disc pivotfirst product regr_avgx
    regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy schema_of_variant_agg skewness
    some std stddev stddev_pop stddev_samp string_agg sum theta_sketch_agg theta_union_agg try_avg try_sum var_pop
    var_samp variance pandas_covar pandas_kurtosis pandas_mode pandas_product pandas_skewness pandas_stddev
    pandas_variance
"""
AGGREGATES = frozenset(_AGGREGATES.split())
"""Functions whose value is that of many rows."""

RANKS = frozenset({"cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "row_number"})
"""Window functions whose arguments are the ORDER BY of their window."""

UNREAD = "body_of_a_sql_function"
"""The function that a text calls in the place of a SQL function whose body could not be read."""

CASTS = frozenset({"ansi_cast", "cast", "try_cast"})

CLASSES: Mapping[str, str] = {
    **REARRANGED,
    **dict.fromkeys(("any_value", "first", "first_value"), "First"),
    "approx_count_distinct": "HyperLogLogPlusPlus",
    **dict.fromkeys(("array_agg", "collect_list"), "CollectList"),
    "collect_set": "CollectSet",
    "coalesce": "Coalesce",
    "collation": "Collation",
    "count": "Count",
    "count_if": "CountIf",
    "crc32": "Crc32",
    "hash": "Murmur3Hash",
    "hive-hash": "HiveHash",
    "ifnull": "Coalesce",
    "isnull": "IsNull",
    "lag": "Lag",
    **dict.fromkeys(("last", "last_value"), "Last"),
    "lead": "Lead",
    "mask": "Mask",
    **dict.fromkeys(("max_by", "min_by"), "MaxBy"),
    "md5": "Md5",
    "nvl": "Coalesce",
    "precisetimestampconversion": "PreciseTimestampConversion",
    "nth_value": "NthValue",
    "regr_count": "Count",
    "sha": "Sha1",
    "sha1": "Sha1",
    "sha2": "Sha2",
    "typeof": "TypeOf",
    "windowspecdefinition": "WindowSpecDefinition",
    "xxhash64": "XxHash64",
    "zeroifnull": "Coalesce",
    **dict.fromkeys(RANKS, "RowNumber"),
    **dict.fromkeys(
        (
            "assertnotnull",
            "checkoverflowintableinsert",
            "knownfloatingpointnormalized",
            "knownnotcontainsnull",
            "knownnotnull",
            "knownnullable",
            "normalizenanandzero",
            "promote_precision",
            "static_invoke",
            "tempresolvedcolumn",
        ),
        "KnownNotNull",
    ),
}
"""The classes of the functions that extraction has rules for, by the names that texts have for them."""


_QUIET = frozenset({"ASC", "DESC", "NULLS", "FIRST", "LAST", "distinct", "DISTINCT", "lambda"})
_COMPARISONS = {"<=>": "EqualNullSafe", "<": "LessThan", ">": "GreaterThan"}
_CHECKS = ("varcharTypeWriteSideCheck", "charTypeWriteSideCheck", "readSidePadding")


def combined(terms: list[Expression], words: list[str]) -> Expression:
    """The node of operands and operators of one level: an operator in between makes a value of them all."""
    loud = [word for word in words if word not in _QUIET]
    if not terms:
        return Expression("Literal")
    if len(terms) == 2 and terms[1].name == "WindowSpecDefinition":
        return Expression("WindowExpression", (_over_window(terms[0]), terms[1]))
    if terms[-1].name == "ListQuery" and len(terms) > 1:
        return _negated(_in_subquery(terms), "NOT" in loud)
    if len(terms) == 1 and (not loud or loud == ["NOT"]):
        return _negated(terms[0], bool(loud))
    kind = _COMPARISONS.get("".join(loud), "Operation") if len(terms) == 2 else "Operation"
    return Expression(kind, tuple(terms))


def literal(text: str) -> Expression:
    """A text without a column: the literal index of an array or the literal key of a map, which are of one kind."""
    number = re.fullmatch(r"0|-?[1-9]\d{0,8}", text)
    return Expression("Literal", (), {}, {"value": int(text)} if number else {"literal": text})


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


def function(name: str, arguments: Sequence[Node], *, distinct: bool = False, collated: bool = False) -> Expression:
    """The call of a function by the name that a text has for it.

    ``collated`` says that texts which are not the same may be equal: the type of one that is compared is not known.
    """
    children = tuple(one for one in arguments if isinstance(one, Expression))
    if name.endswith(_CHECKS):
        return Expression("KnownNotNull", children)
    if name in _FORMS and not (name == "decode" and len(children) < 3):
        found = _FORMS[name](children)
        return replace(found, values={**found.values, **_compared(found.name, collated=collated)})
    kind = CLASSES.get(name, "Function")
    children = children[:1] if kind in ("CollectList", "CollectSet") else children
    function = Expression(kind, children, {}, {"name": name, **_compared(kind, collated=collated)})
    if name not in AGGREGATES:
        return function
    return Expression("AggregateExpression", (function,), {}, {"isDistinct": True} if distinct else {})


def _compared(kind: str, *, collated: bool) -> Mapping[str, str]:
    return {"dataType": "string collate ?"} if collated and kind in COMPARING else {}


def _decode(children: tuple[Expression, ...]) -> Expression:
    """``decode(x, a, one, b, two, other)``: the value is compared, and chooses."""
    rest = children[1:]
    pairs = len(rest) // 2 * 2
    tests = [Expression("Operation", (children[0], one)) for one in rest[0:pairs:2]]
    chosen = [part for test, value in zip(tests, rest[1:pairs:2], strict=True) for part in (test, value)]
    return Expression("CaseWhen", (*chosen, *rest[pairs:]))


_FORMS: Mapping[str, Callable[[tuple[Expression, ...]], Expression]] = {
    **FORMS,
    "decode": _decode,
    "nullif": lambda children: Expression("NullIfResult", (Expression("Operation", children), *children[:1])),
    "nullifzero": lambda children: Expression("NullIfResult", (Expression("Operation", children), *children)),
    "nvl2": lambda children: Expression("If", children),
    "pivotfirst": lambda children: Expression("PivotFirst", children[:2]),
    UNREAD: lambda children: Expression("Unreadable", children, {}, {"text": "the body of a SQL function"}),
}
