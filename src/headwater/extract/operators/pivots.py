"""PIVOT, of which analysis leaves aggregates (Analyzer, ResolvePivot).

Of values of simple types these are two, the upper one of ``PivotFirst``. Of others it is one, in which every argument
of every aggregate is ``IF(column <=> 'label', x, NULL)``.
"""

import re
from collections.abc import Iterator

from headwater.extract.operators.table import row_dependencies
from headwater.extract.scope import Extraction
from headwater.extract.trace import Paths
from headwater.plan import Expression, Node, Operator

_SIMPLE = re.compile(r"bigint|boolean|decimal\(.*|double|float|int|smallint|tinyint")  # PivotFirst.supportsDataType
_COUNTS = ("Count", "CountIf", "HyperLogLogPlusPlus")


def is_pivot(node: Operator) -> bool:
    """Whether an aggregate is the upper one of a PIVOT of simple values."""
    return any(below.name == "PivotFirst" for one in node.expressions("aggregateExpressions") for below in _below(one))


def below_pivot(node: Operator, extraction: Extraction) -> Paths:
    """The lower aggregate of a PIVOT groups by the pivot column too, which nobody wrote: pass it over."""
    return row_dependencies(extraction.rows(below) for inner in node.inputs for below in inner.inputs)


def picks_labels(node: Operator) -> bool:
    """Whether an aggregate may be a PIVOT of values of which some are not simple."""
    columns = [one for one in node.expressions("aggregateExpressions") if any(_functions(one))]
    return not all(map(_is_simple, columns)) and all(
        is_picked(argument) for one in columns for function in _functions(one) for argument in function.children
    )


def is_picked(argument: Node) -> bool:
    """Whether an argument is ``IF(column <=> 'label', x, NULL)``."""
    if argument.name != "If" or argument.children[2].name not in ("Cast", "Literal"):
        return False
    test = argument.children[0]
    return test.name == "EqualNullSafe" and test.children[1].name in ("Cast", "Literal")


def _is_simple(column: Expression) -> bool:
    """Whether a value is of a simple type; a plan from a text has no types, but counts are numbers."""
    kind = column.text("type")
    return bool(_SIMPLE.fullmatch(kind)) if kind else all(one.name in _COUNTS for one in _functions(column))


def _functions(column: Expression) -> Iterator[Node]:
    return (one.children[0] for one in _below(column) if one.name == "AggregateExpression")


def _below(expression: Expression) -> Iterator[Node]:
    stack: list[Node] = [expression]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(one.children)
