"""The columns that follow from the dependencies of extensions (`ExpressionDependency`), one depending on another."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from headwater.ext import EVERY_ROW, ExpressionDependency
from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.scope import Scope
from headwater.extract.trace import FILTER, TRANSFORMED, Paths, Step, Trace, flat, step, union
from headwater.graph import components
from headwater.plan import Expression, Node, Operator

_MOST_IDS = 5


def depend(
    dependencies: Iterable[ExpressionDependency], scope: Scope, received: Paths, node: Operator
) -> tuple[dict[int, Trace], Paths]:
    """The traces of the columns that the dependencies make, by exprId, and what they say of every row.

    ``scope`` has the columns that the operator receives. A dependency upon something else counts as one upon
    ``received``, all that there is, and makes a gap.
    """
    by_output: dict[int, list[ExpressionDependency]] = {}
    for one in dependencies:
        by_output.setdefault(one.output, []).append(one)
    rows = by_output.pop(EVERY_ROW, [])
    known = dict(scope.columns)
    maker = _TraceBuilder(node, Scope(known, scope.extraction), received)
    made: dict[int, Trace] = {}
    graph = _needs(by_output, known.keys())
    for columns in components(graph, graph.__getitem__):
        if len(columns) == 1 and columns[0] not in graph[columns[0]]:
            made[columns[0]] = maker.trace(by_output[columns[0]])
            known.setdefault(columns[0], made[columns[0]])
        else:
            known.update(dict.fromkeys(columns, received))
            every = maker.circle(columns, [one for column in columns for one in by_output[column]])
            made.update(dict.fromkeys(columns, every))
            known.update(dict.fromkeys(columns, every))
    maker.report_circles()
    return made, union(flat(maker.made(_of_rows(one))) for one in rows)


class _TraceBuilder:
    """Makes the traces of one operator's columns."""

    def __init__(self, node: Operator, scope: Scope, received: Paths) -> None:
        self._node = node
        self._scope = scope
        self._received = received
        self._circles: list[int] = []

    def trace(self, many: Iterable[ExpressionDependency]) -> Trace:
        traces = [self.made(one) for one in many]
        return traces[0] if len(traces) == 1 else union(map(flat, traces))

    def made(self, dependency: ExpressionDependency) -> Trace:
        traces = [self._input(column, dependency.transformation) for column in dependency.inputs]
        return traces[0] if len(traces) == 1 else union(map(flat, traces))

    def circle(self, columns: Sequence[int], many: Iterable[ExpressionDependency]) -> Paths:
        """The trace of columns that depend upon each other: all that any of them depends upon, and all there is."""
        self._circles.extend(columns)
        inside = frozenset(columns)
        inputs = dict.fromkeys((column, one.transformation) for one in many for column in one.inputs)
        traces = (self._input(column, how) for column, how in inputs if column not in inside)
        return union((self._received, *map(flat, traces)))

    def report_circles(self) -> None:
        """One gap for all circles together."""
        if self._circles:
            ids = ", ".join(map(str, sorted(self._circles)[:_MOST_IDS])) + ", …" * (len(self._circles) > _MOST_IDS)
            why = f"the description of exprId {ids} goes round in a circle: every input column counts"
            self._scope.extraction.report("operator", self._node.name, why)

    def _input(self, source: int | Expression, how: Step | None) -> Trace:
        if isinstance(source, int):
            found = self._scope.columns.get(source)
            return step(how or TRANSFORMED, self._unknown([source]) if found is None else found)
        missing = [key for key in _referred(source) if key not in self._scope.columns]
        trace = evaluate(source, self._scope)
        if missing:
            trace = union((flat(trace), self._unknown(missing)))
        return trace if how is None else step(how, trace)

    def _unknown(self, keys: list[int]) -> Paths:
        ids = ", ".join(map(str, keys))
        why = f"a dependency on exprId {ids} is described, which it does not receive: every input column counts"
        self._scope.extraction.report("operator", self._node.name, why)
        return self._received


def _of_rows(dependency: ExpressionDependency) -> ExpressionDependency:
    """Rows are chosen, joined, grouped or sorted by a value, they are not made of it: FILTER by default."""
    how = dependency.transformation or FILTER
    return replace(dependency, transformation=replace(how, subtype=FILTER.subtype) if how.direct else how)


def _needs(by_output: Mapping[int, list[ExpressionDependency]], finished: Collection[int]) -> dict[int, set[int]]:
    """The outputs that each output depends upon, but for those that are known without."""
    return {
        column: {key for one in many for key in _needed(one) if key in by_output and key not in finished}
        for column, many in by_output.items()
    }


def _needed(dependency: ExpressionDependency) -> Iterator[int]:
    for source in dependency.inputs:
        if isinstance(source, int):
            yield source
        else:
            yield from _referred(source)


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
