"""The columns that follow from told dependencies (`headwater.ext.ExpressionDependency`), one depending on another."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from headwater.ext import EVERY_ROW, ExpressionDependency
from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.scope import Scope
from headwater.extract.trace import FILTER, TRANSFORMED, Paths, Step, Trace, flat, step, union
from headwater.plan import Expression, Node, Operator


def depend(
    told: Iterable[ExpressionDependency], scope: Scope, received: Paths, node: Operator
) -> tuple[dict[int, Trace], Paths]:
    """The traces of the columns that the dependencies make, by exprId, and what they say of every row.

    ``scope`` has the columns that the operator receives. A dependency upon something else counts as one upon
    ``received``, all that there is, and makes a gap.
    """
    by_output: dict[int, list[ExpressionDependency]] = {}
    for one in told:
        by_output.setdefault(one.output, []).append(one)
    rows = by_output.pop(EVERY_ROW, [])
    known = dict(scope.columns)
    maker = _Maker(node, Scope(known, scope.extraction), received)
    made: dict[int, Trace] = {}
    for column in _in_order(by_output, known.keys()):
        made[column] = maker.trace(by_output[column])
        known.setdefault(column, made[column])
    return made, union(flat(maker.made(_of_rows(one))) for one in rows)


class _Maker:
    """Makes the traces of one operator's columns."""

    def __init__(self, node: Operator, scope: Scope, received: Paths) -> None:
        self._node = node
        self._scope = scope
        self._received = received

    def trace(self, many: Iterable[ExpressionDependency]) -> Trace:
        traces = [self.made(one) for one in many]
        return traces[0] if len(traces) == 1 else union(map(flat, traces))

    def made(self, one: ExpressionDependency) -> Trace:
        traces = [self._input(given, one.transformation) for given in one.inputs]
        return traces[0] if len(traces) == 1 else union(map(flat, traces))

    def _input(self, given: int | Expression, how: Step | None) -> Trace:
        if isinstance(given, int):
            found = self._scope.columns.get(given)
            return step(how or TRANSFORMED, self._unknown([given]) if found is None else found)
        missing = [key for key in _referred(given) if key not in self._scope.columns]
        trace = evaluate(given, self._scope)
        if missing:
            trace = union((flat(trace), self._unknown(missing)))
        return trace if how is None else step(how, trace)

    def _unknown(self, keys: list[int]) -> Paths:
        ids = ", ".join(map(str, keys))
        why = f"a dependency upon exprId {ids} was told, which it does not receive: every input column counts"
        self._scope.extraction.report("operator", self._node.name, why)
        return self._received


def _of_rows(one: ExpressionDependency) -> ExpressionDependency:
    """Rows are chosen, joined, grouped or sorted by a value, they are not made of it: FILTER where nothing is said."""
    how = one.transformation or FILTER
    return replace(one, transformation=replace(how, subtype=FILTER.subtype) if how.direct else how)


def _in_order(by_output: dict[int, list[ExpressionDependency]], known: Iterable[int]) -> list[int]:
    """The outputs, each after those that it depends upon; of a circle one is taken as if it depended upon none."""
    given = set(known)
    graph = {
        column: {key for one in many for key in _needed(one) if key in by_output and key not in given}
        for column, many in by_output.items()
    }
    while True:
        try:
            return list(TopologicalSorter(graph).static_order())
        except CycleError as found:
            graph[found.args[1][0]] = set()


def _needed(one: ExpressionDependency) -> Iterator[int]:
    for given in one.inputs:
        if isinstance(given, int):
            yield given
        else:
            yield from _referred(given)


def _referred(root: Expression) -> list[int]:
    """The exprIds of the columns in an expression, each once; an expression may be thousands of nodes deep."""
    found: dict[int, None] = {}
    stack: list[Node] = [root]
    seen: set[Node] = set()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.name == "AttributeReference" and isinstance(node, Expression) and not node.values.get("metadataColumn"):
            found[node.expr_id] = None
        stack.extend(node.children)
    return list(found)
