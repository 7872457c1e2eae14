"""The columns that an expression may refer to."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from headwater.model.nested_fields import name_parts
from headwater.plan.text.tokens import Token, tokens
from headwater.plan.tree import Expression, Operator


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns that an expression may refer to: names and types by exprId, and the plans of subqueries by theirs.

    ``collated`` says that texts may have a collation.
    """

    names: Mapping[int, str]
    types: Mapping[int, str] = field(default_factory=dict)
    plans: Mapping[int, Operator] = field(default_factory=dict)
    collated: bool = False


def attribute(token: Token, columns: Columns) -> Expression:
    """The column that a token is."""
    values = {"id": token.expr_id, "name": token.text}
    if token.expr_id in columns.types:
        values["dataType"] = columns.types[token.expr_id]
    return Expression("AttributeReference", (), {}, values)


def session_variable(name: str) -> Expression:
    """The variable of a name.

    >>> [session_variable(name).facts("identifier")["parts"] for name in ("system.session.x", "x")]
    [('session', 'x'), ('session', 'x')]
    """
    return Expression("VariableReference", (), {}, {"identifier": {"parts": ("session", *name_parts(name))[-2:]}})


def unreadable(text: str, columns: Columns) -> Expression:
    """All the columns and variables in a text."""
    found = [
        session_variable(token.text) if token.kind == "variable" else attribute(token, columns)
        for token in tokens(text, columns.names)
        if token.kind in ("attribute", "variable")
    ]
    return Expression("Unreadable", tuple(found))
