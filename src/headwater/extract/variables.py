"""Session variables and those of SQL scripts: their values leave the plan that assigns them and come back in others."""

from collections.abc import Iterator, Mapping, Sequence

from headwater.extract.expressions.evaluate import evaluate
from headwater.extract.origins import Origin, OriginKey, variable_of
from headwater.extract.scope import Extraction, Rows, Scope
from headwater.extract.trace import NOTHING, Trace, merge, union
from headwater.model import Gap
from headwater.plan import Expression, Operator

ASSIGNMENTS = ("CreateVariable", "SetVariable")
"""The commands that give a variable its value."""

_ONE_OF_SEVERAL = Gap("relation", "FOR", "any of several queries may have filled the variable")


def assigned(root: Operator, extraction: Extraction) -> Iterator[tuple[OriginKey, Origin]]:
    """The variables that a command assigns, each with the origin of its value."""
    if root.name == "SetVariable":
        yield from _set(root, extraction)
        return
    default = root.expression("defaultExpr")
    value = default.children[0] if default and default.children else None
    trace = evaluate(value, Scope({}, extraction)) if isinstance(value, Expression) else NOTHING
    for name in root.inputs:
        yield _key(name.facts("identifier"), extraction), _origin(trace, Rows(), extraction)


def _set(root: Operator, extraction: Extraction) -> Iterator[tuple[OriginKey, Origin]]:
    rows = extraction.rows(root.inputs[0] if root.inputs else None)
    for place, target in enumerate(root.expressions("targetVariables")):
        yield _key(target.facts("identifier"), extraction), _origin(rows.column(place), rows, extraction)


def loop_columns(root: Operator, names: Sequence[str], extraction: Extraction) -> Mapping[str, Origin]:
    """The columns of a query of a script by folded name: a ``FOR`` puts each row of them into variables."""
    rows = extraction.rows(root)
    return {name.casefold(): _origin(rows.column(place), rows, extraction) for place, name in enumerate(names)}


def loop_variable(root: Operator) -> tuple[str, str] | None:
    """The label of a ``FOR`` and the column that it assigns, folded; None of other assignments.

    Spark puts literals of the row into local variables of the columns' names.
    """
    targets = root.expressions("targetVariables")
    if len(targets) != 1 or targets[0].values.get("catalog") != "FakeLocalCatalog" or not _is_literal(root):
        return None
    *label, name = map(str, targets[0].facts("identifier").get("parts") or ("",))
    return ".".join(label).casefold(), name.casefold()


def either(origins: Sequence[Origin]) -> Origin:
    """The origin of a value that comes from one of several queries, and a gap where they are more than one."""
    if len(origins) == 1:
        return origins[0]
    return Origin(
        (merge(origin.columns[0] for origin in origins),),
        union(origin.deciding for origin in origins),
        tuple(dict.fromkeys(one for origin in origins for one in origin.datasets)),
        tuple(dict.fromkeys((*(gap for origin in origins for gap in origin.gaps), _ONE_OF_SEVERAL))),
    )


def _is_literal(root: Operator) -> bool:
    """Whether the query of an assignment reads no relation of its own."""
    project = root.inputs[0] if root.inputs else None
    return project is not None and [one.name for one in project.inputs] == ["OneRowRelation"]


def _origin(trace: Trace, rows: Rows, extraction: Extraction) -> Origin:
    return Origin((trace,), rows.deciding, tuple(extraction.datasets), tuple(extraction.gaps))


def _key(identifier: Mapping[str, object], extraction: Extraction) -> OriginKey:
    parts = identifier.get("parts")
    return variable_of(extraction.session.get("id"), parts if isinstance(parts, (list, tuple)) else ())


def no_rows(node: Operator, children: tuple[Rows, ...], extraction: Extraction) -> Rows:
    """A command or a name: no rows of its own."""
    return Rows()


OPERATORS = dict.fromkeys((*ASSIGNMENTS, "DropVariable"), no_rows)
