"""MERGE as the v2 API has it: instructions that make the rows to write from the joined target and source."""

from collections.abc import Iterable, Iterator, Set

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.predicates import predicate
from headwater.extract.operators.table import Visitors, deciding, scope_of
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import FILTER, NOTHING, Trace, merge, union
from headwater.plan import Expression, Operator

_CLAUSES = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")
_VALUES = ("output", "otherOutput")


def merge_rows(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``MergeRows``: a column has a value from each instruction; what the target keeps as it was makes no edge."""
    scope = scope_of(children, extraction)
    instructions = [one for clause in _CLAUSES for one in node.expressions(clause)]
    output = tuple(map(attribute, node.expressions("output")))
    kept = frozenset(column.expr_id for column in _target_columns(node))
    made = [
        tuple(_made(value, column, kept, scope) for value, column in zip(values, output, strict=False))
        for values in _rows(instructions)
    ]
    columns = {
        column.expr_id: merge(row[place] for row in made if place < len(row)) for place, column in enumerate(output)
    }
    tested = union(predicate(one.expression("condition"), FILTER, scope) for one in instructions)
    return Rows(output, columns, union((deciding(children), tested)))


def row_level_target(root: Operator) -> Operator | None:
    """The relation below that a row-level command changes (RowLevelOperationTable)."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.facts("table").get("operation"):
            return node
        stack.extend(reversed(node.inputs))
    return None


def _target_columns(node: Operator) -> Iterable[Expression]:
    target = row_level_target(node)
    return target.expressions("output") if target else ()


def _rows(instructions: Iterable[Expression]) -> Iterator[tuple[Expression, ...]]:
    for instruction in instructions:
        for name in _VALUES:
            if values := instruction.expressions(name):
                yield values


def _made(value: Expression, column: Attribute, kept: Set[int], scope: Scope) -> Trace:
    unchanged = value.name == "AttributeReference" and value.expr_id in kept and value.label == column.name
    return NOTHING if unchanged else evaluate(value, scope)


OPERATORS: Visitors = {"MergeRows": merge_rows}
