"""Set operations, common table expressions and recursion: columns are matched by position."""

from collections.abc import Callable

from headwater.extract.expressions.subqueries import joined
from headwater.extract.operators.rows import all_columns
from headwater.extract.operators.table import Visitors, row_dependencies
from headwater.extract.scope import Attribute, Extraction, Rows, attribute
from headwater.extract.substitution import substitute, substitute_paths
from headwater.extract.trace import (
    GROUP_BY,
    JOIN,
    Placeholder,
    Trace,
    merge,
    source,
    step,
    union,
)
from headwater.plan import Operator

_MOST_ROUNDS = 100


def union_(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``UNION ALL``, by name too: the analyzer has put the columns in order; the ids are the first child's."""
    output = children[0].output
    columns = {column.expr_id: merge(rows.column(place) for rows in children) for place, column in enumerate(output)}
    return Rows(output, columns, row_dependencies(children))


def intersect_or_except(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``INTERSECT``, ``EXCEPT``: the left side's rows, compared with the right side's by every column."""
    compared = step(JOIN, union(map(all_columns, children)))
    grouped = frozenset() if node.values.get("isAll") else step(GROUP_BY, all_columns(children[0]))
    return Rows(children[0].output, children[0].columns, union((row_dependencies(children), compared, grouped)))


def with_cte(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``WITH … SELECT``: the definitions have been met, the plan is the result."""
    return extraction.rows(node.operator("plan")) if node.operator("plan") else children[-1]


def definition(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """One common table expression: kept for its references."""
    rows = Rows(children[0].output, children[0].columns, joined(children[0].deciding))
    extraction.definitions[int(node.values.get("id", -1))] = rows
    return rows


def reference(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A use of a common table expression: new ids, the same columns by position."""
    return _renumbered(node, extraction.definitions.get(int(node.values.get("cteId", -1)), Rows()))


def union_loop(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``WITH RECURSIVE``: the anchor's rows, and those of the recursion until nothing new comes in."""
    anchor, recursion = children
    first = [anchor.column(place) for place in range(len(anchor.output))]
    rest = [recursion.column(place) for place in range(len(anchor.output))]
    columns = _fixed_point(int(node.values.get("id", -1)), first, rest)
    rows = substitute_paths(recursion.deciding, _loop(int(node.values.get("id", -1)), columns))
    output = tuple(
        Attribute(new, column.name, column.type)
        for new, column in zip(node.values.get("outputAttrIds", ()), anchor.output, strict=True)
    )
    traces = {column.expr_id: trace for column, trace in zip(output, columns, strict=True)}
    return Rows(output, traces, union((anchor.deciding, rows)))


def union_loop_reference(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """The table that a recursion is building, used inside itself."""
    output = tuple(map(attribute, node.expressions("output")))
    loop = int(node.values.get("loopId", -1))
    return Rows(output, {column.expr_id: source(Placeholder("loop", loop, i)) for i, column in enumerate(output)})


def _fixed_point(loop: int, first: list[Trace], rest: list[Trace]) -> list[Trace]:
    columns = first
    for _ in range(_MOST_ROUNDS):
        found = [
            merge((start, substitute(again, _loop(loop, columns)))) for start, again in zip(first, rest, strict=True)
        ]
        if found == columns:
            break
        columns = found
    return columns


def _loop(loop: int, columns: list[Trace]) -> Callable[[Placeholder], Trace | None]:
    def lookup(hole: Placeholder) -> Trace | None:
        return columns[hole.position] if hole.kind == "loop" and hole.id == loop else None

    return lookup


def _renumbered(node: Operator, rows: Rows) -> Rows:
    output = tuple(map(attribute, node.expressions("output")))
    return Rows(output, {column.expr_id: rows.column(i) for i, column in enumerate(output)}, rows.deciding)


OPERATORS: Visitors = {
    "SequentialStreamingUnion": union_,
    "Union": union_,
    "Intersect": intersect_or_except,
    "Except": intersect_or_except,
    "WithCTE": with_cte,
    "CTERelationDef": definition,
    "CTERelationRef": reference,
    "UnionLoop": union_loop,
    "UnionLoopRef": union_loop_reference,
}
