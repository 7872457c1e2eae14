"""The form of an operator visitor."""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from typing import TypeAlias

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import Paths, Step, Trace, flat, merge, step, union
from headwater.plan import Expression, Operator

Visitor: TypeAlias = Callable[[Operator, tuple[Rows, ...], Extraction], Rows]
"""From an operator, the rows of its child operators and the extraction to its own rows."""

Visitors: TypeAlias = Mapping[str, Visitor]


def scope_of(children: Iterable[Rows], extraction: Extraction) -> Scope:
    """The scope of an operator's expressions: the columns of all its children."""
    found = [rows.columns for rows in children]
    return Scope(reduce(merge_columns, found) if found else {}, extraction)


def merge_columns(first: Mapping[int, Trace], second: Mapping[int, Trace]) -> Mapping[int, Trace]:
    """The columns of both; one that both have may be either, as an exprId may come by two ways."""
    shared = first.keys() & second.keys()
    both = {key: merge((first[key], second[key])) for key in shared if first[key] is not second[key]}
    return {**first, **second, **both}


def row_dependencies(children: Iterable[Rows]) -> Paths:
    """The dependencies that decide on the rows of the children."""
    return union(rows.deciding for rows in children)


def row_effects(how: Step, expressions: Iterable[Expression], scope: Scope) -> Paths:
    """The paths of expressions that touch every row in the way ``how``."""
    return union(step(how, flat(evaluate(expression, scope))) for expression in expressions)


def computed(expressions: Iterable[Expression], scope: Scope) -> tuple[tuple[Attribute, ...], dict[int, Trace]]:
    """The columns that named expressions put out, and their traces.

    A column that is only handed on is looked up here: in a long chain of withColumn nearly all are.
    """
    known, below = scope.extraction.attributes, scope.columns
    output: list[Attribute] = []
    traces: dict[int, Trace] = {}
    for node in expressions:
        column = known.get(node) or known.setdefault(node, attribute(node))
        found = below.get(column.expr_id) if node.name == "AttributeReference" else None
        output.append(column)
        traces[column.expr_id] = evaluate(node, scope) if found is None else found
    return tuple(output), traces


def passes_through(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """An operator that neither changes values nor says which rows there are by a column."""
    return children[0] if children else Rows()
