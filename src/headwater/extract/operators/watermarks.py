"""Watermarks of streams: an operator with a state leaves out rows that come too late, so the event time decides.

The limit follows from the event times of all rows (MicroBatchExecution, WatermarkTracker), and what is older than it is
neither put out nor remembered (WatermarkSupport). An operator without a state lets every row through.
"""

from collections.abc import Iterable, Iterator

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.scope import Extraction, Rows, Scope
from headwater.extract.trace import FILTER, NOTHING, Paths, expanded, flat, step, union
from headwater.plan import Operator

_STREAMS = ("StreamingRelation", "StreamingRelationV2")


def watermark(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``df.withWatermark(at, delay)``: by itself it changes nothing; remembered for the operators above."""
    time = node.expression("eventTime")
    if time is not None:
        extraction.watermarks[node] = flat(evaluate(time, Scope(children[0].columns, extraction)))
    return children[0]


def without_late(node: Operator, rows: Rows, shown: Iterable[Paths], extraction: Extraction) -> Rows:
    """The rows of ``node`` with FILTER on the event times below it that are among ``shown``.

    ``shown`` are the columns in which Spark looks for the event time of a row. One that decides anyway is not repeated.
    """
    if not extraction.watermarks:
        return rows
    origins = {origin for paths in frozenset(shown) for origin, _ in expanded(paths)}
    known = {origin for origin, _ in expanded(rows.deciding)}
    times = union(extraction.watermarks.get(below, NOTHING) for below in _below(node))
    late = step(FILTER, frozenset(path for path in times if path[0] in origins - known))
    return Rows(rows.output, rows.columns, union((rows.deciding, late)))


def columns_of(children: Iterable[Rows]) -> Iterator[Paths]:
    """The paths of each column that an operator receives."""
    return (flat(rows.columns.get(column.expr_id, NOTHING)) for rows in children for column in rows.output)


def joins_streams(node: Operator) -> bool:
    """Whether both sides of a join are streams: a join of a stream with a table has no state."""
    return all(any(below.name in _STREAMS for below in _below(side)) for side in node.inputs)


def _below(node: Operator) -> Iterator[Operator]:
    stack = [node]
    while stack:
        operator = stack.pop()
        yield operator
        stack.extend(operator.inputs)
