"""MERGE as the v2 API has it: instructions that make the rows to write from the joined target and source."""

from collections.abc import Iterable, Iterator, Set

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.predicates import predicate
from headwater.extract.operators.table import Visitors, row_dependencies, scope_of
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import FILTER, NOTHING, TRANSFORMED, Trace, merge, step, union
from headwater.plan import Expression, Node, Operator

_CLAUSES = ("matchedInstructions", "notMatchedInstructions", "notMatchedBySourceInstructions")
_VALUES = ("output", "otherOutput")


def merge_rows(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``MergeRows``: a column has a value from each instruction; what the target keeps as it was makes no edge."""
    scope = scope_of(children, extraction)
    instructions = [one for clause in _CLAUSES for one in node.expressions(clause)]
    output = tuple(map(attribute, node.expressions("output")))
    own = frozenset(column.expr_id for column in _target_columns(node))
    made = [
        tuple(_made(value, column, own, scope) for value, column in zip(values, output, strict=False))
        for values in _rows(instructions)
    ]
    columns = {
        column.expr_id: merge(row[place] for row in made if place < len(row)) for place, column in enumerate(output)
    }
    tested = union(predicate(one.expression("condition"), FILTER, scope) for one in instructions)
    return Rows(output, columns, union((row_dependencies(children), tested)))


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


def _made(value: Expression, column: Attribute, target_ids: Set[int], scope: Scope) -> Trace:
    unchanged = value.name == "AttributeReference" and value.expr_id in target_ids and value.label == column.name
    return NOTHING if unchanged else assigned(value, column.name, target_ids, scope)


def assigned(value: Expression, name: str, target: Set[int], scope: Scope) -> Trace:
    """The value that a column of the target is given.

    ``SET s.a = x`` is written as ``s = named_struct('a', x, 'b', s.b)``: a leaf that stays in its place is left alone.
    """
    stays = False
    changed: list[Expression] = []
    pending: list[tuple[Node, tuple[int, ...]]] = [(value, ())]
    while pending:
        one, place = pending.pop()
        column = _column_at(one, place) if place else None
        if column is not None and column.expr_id in target and column.label == name:
            stays = True
        elif one.name == "CreateNamedStruct":
            pending += [(leaf, (*place, index)) for index, leaf in enumerate(one.children[1::2])]
        elif isinstance(one, Expression):
            changed.append(one)
    if not stays:
        return evaluate(value, scope)
    return union(step(TRANSFORMED, evaluate(one, scope)) for one in changed)


def _column_at(value: Node, place: tuple[int, ...]) -> Expression | None:
    """The column of which a value is the leaf at that place: 1, 0 of ``s.b.c``, say; None of any other value."""
    for ordinal in reversed(place):
        if value.name != "GetStructField" or value.values.get("ordinal") != ordinal:
            return None
        value = value.children[0]
    return value if value.name == "AttributeReference" and isinstance(value, Expression) else None


OPERATORS: Visitors = {"MergeRows": merge_rows}
