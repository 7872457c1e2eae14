"""Operators that turn one row into many: ``explode``, ``inline``, ``stack``, ``json_tuple``, table functions."""

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.table import Visitors, deciding, scope_of
from headwater.extract.scope import Attribute, Extraction, Rows, Scope, attribute
from headwater.extract.trace import FILTER, TRANSFORMED, Paths, flat, step, union
from headwater.plan import Expression, Operator


def generate(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``LATERAL VIEW explode(xs)``: the arguments make the new columns, and decide how many rows there are."""
    scope = scope_of(children, extraction)
    output = tuple(map(attribute, node.expressions("generatorOutput")))
    generator = node.expression("generator")
    arguments = _arguments(generator, scope) if generator else []
    columns = (
        _stacked(arguments, output)
        if _is_stack(generator)
        else dict.fromkeys((column.expr_id for column in output), step(TRANSFORMED, union(arguments)))
    )
    rows = union((deciding(children), step(FILTER, union(arguments))))
    return Rows((*children[0].output, *output), {**children[0].columns, **columns}, rows)


def _arguments(generator: Expression, scope: Scope) -> list[Paths]:
    return [flat(evaluate(child, scope)) for child in generator.children if isinstance(child, Expression)]


def _is_stack(generator: Expression | None) -> bool:
    return generator is not None and generator.name == "Stack"


def _stacked(arguments: list[Paths], output: tuple[Attribute, ...]) -> dict[int, Paths]:
    """``stack(2, a, b, c, d)`` lays its values out row by row: the first column is a and c."""
    return {
        column.expr_id: step(TRANSFORMED, union(arguments[1 + place :: len(output)]))
        for place, column in enumerate(output)
    }


OPERATORS: Visitors = {"Generate": generate}
