"""Operators that turn one row into many: ``explode``, ``inline``, ``stack``, ``json_tuple``, table functions."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.operators.table import Visitors, row_dependencies, scope_of
from headwater.extract.scope import Extraction, Rows, Scope, attribute
from headwater.extract.trace import (
    EACH,
    FILTER,
    LABEL,
    TRANSFORMED,
    Part,
    Step,
    Trace,
    flat,
    merge,
    part,
    shaped,
    step,
    union,
)
from headwater.plan import Expression, Operator

Argument: TypeAlias = tuple[Step, Trace]
"""How columns are made of an argument of a generator, and where that comes from."""


def generate(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """``LATERAL VIEW explode(xs)``: the arguments make the new columns, and decide how many rows there are."""
    scope = scope_of(children, extraction)
    output = tuple(map(attribute, node.expressions("generatorOutput")))
    generator = node.expression("generator")
    answers = extraction.expressions.get(generator) if generator else None
    arguments = _arguments(generator, answers, scope) if generator else []
    made = _GENERATORS.get(generator.name, _mixed) if generator and answers is None else _mixed
    columns = {column.expr_id: trace for column, trace in zip(output, made(arguments, len(output)), strict=True)}
    rows = union((row_dependencies(children), step(FILTER, union(flat(argument) for _, argument in arguments))))
    return Rows((*children[0].output, *output), {**children[0].columns, **columns}, rows)


def _arguments(generator: Expression, extension_steps: Sequence[Step | None] | None, scope: Scope) -> list[Argument]:
    """The arguments that take part, each with how the columns are made of it; an extension may say how."""
    steps = extension_steps or [TRANSFORMED] * len(generator.children)
    return [
        (how, evaluate(child, scope))
        for how, child in zip(steps, generator.children, strict=True)
        if how is not None and isinstance(child, Expression)
    ]


def _mixed(arguments: list[Argument], count: int) -> list[Trace]:
    """Any column may be made of any argument."""
    return [union(step(how, flat(argument)) for how, argument in arguments)] * count


def _stacked(arguments: list[Argument], count: int) -> list[Trace]:
    """``stack(2, a, b, c, d)`` lays its values out row by row: the first column is a and c."""
    values = [argument for _, argument in arguments]
    return [shaped(TRANSFORMED, merge(values[1 + place :: count])) for place in range(count)]


def _exploded(arguments: list[Argument], count: int) -> list[Trace]:
    """``explode(array)`` makes an element, ``explode(map)`` a key and a value."""
    ((_, packed),) = arguments
    parts = (EACH,) if count == 1 else (LABEL, EACH)
    return [part(packed, one) for one in parts]


def _numbered(arguments: list[Argument], count: int) -> list[Trace]:
    """``posexplode``: the place of an element depends on all that there are."""
    ((_, packed),) = arguments
    return [step(TRANSFORMED, flat(packed)), *_exploded(arguments, count - 1)]


def _inlined(arguments: list[Argument], count: int) -> list[Trace]:
    """``inline(structs)`` makes a column of each field."""
    ((_, packed),) = arguments
    element = part(packed, EACH)
    return [part(element, Part("field", place)) for place in range(count)]


_GENERATORS: Mapping[str, Callable[[list[Argument], int], list[Trace]]] = {
    "Explode": _exploded,
    "Inline": _inlined,
    "PosExplode": _numbered,
    "Stack": _stacked,
}

OPERATORS: Visitors = {"Generate": generate}
