"""Operators that turn one row into many: ``explode``, ``inline``, ``stack``, ``json_tuple``, table functions."""

from collections.abc import Sequence

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.table import Visitors, deciding, scope_of
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import FILTER, TRANSFORMED, Paths, Step, flat, step, union
from headwater.plan import Expression, Operator


def generate(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``LATERAL VIEW explode(xs)``: the arguments make the new columns, and decide how many rows there are."""
    scope = scope_of(children, extraction)
    output = tuple(map(attribute, node.expressions("generatorOutput")))
    generator = node.expression("generator")
    told = extraction.expressions.get(generator) if generator else None
    arguments = _arguments(generator, told, scope) if generator else []
    columns = (
        _stacked([argument for _, argument in arguments], output)
        if generator and generator.name == "Stack" and told is None
        else dict.fromkeys((column.expr_id for column in output), union(step(*argument) for argument in arguments))
    )
    rows = union((deciding(children), step(FILTER, union(argument for _, argument in arguments))))
    return Rows((*children[0].output, *output), {**children[0].columns, **columns}, rows)


def _arguments(generator: Expression, told: Sequence[Step | None] | None, scope: Scope) -> list[tuple[Step, Paths]]:
    """The arguments that take part, each with how the columns are made of it; an extension may tell it."""
    steps = told or [TRANSFORMED] * len(generator.children)
    return [
        (how, flat(evaluate(child, scope)))
        for how, child in zip(steps, generator.children, strict=True)
        if how is not None and isinstance(child, Expression)
    ]


def _stacked(arguments: list[Paths], output: tuple[Attribute, ...]) -> dict[int, Paths]:
    """``stack(2, a, b, c, d)`` lays its values out row by row: the first column is a and c."""
    return {
        column.expr_id: step(TRANSFORMED, union(arguments[1 + place :: len(output)]))
        for place, column in enumerate(output)
    }


OPERATORS: Visitors = {"Generate": generate}
