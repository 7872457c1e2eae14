"""The bodies of SQL functions: a text calls such a function by its name, so that its body takes the place of the call.

The server has explained each body as a query over the function's parameters. The plans of its subqueries stand in the
text of the plan that calls it.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from headwater.plan.text.lines import Line, tree
from headwater.plan.text.nodes import CASTS, CLASSES, UNREAD
from headwater.plan.text.operator_text import items
from headwater.plan.text.tokens import split

_CALL = re.compile(
    r"(?<![\w.$#])(?P<name>[A-Za-z_][\w.$]*)\((?P<arguments>[^()#,]+#\d+L?(?:, [^()#,]+#\d+L?)*)\)(?!#\d)"
)
_ALIAS = re.compile(r"(?P<value>.*) AS (?P<name>[^#]+)#(?P<id>\d+)L?", re.DOTALL)
_ID = re.compile(r"#(\d+)L?")
_COLUMN = re.compile(r"\w+#(\d+)L?")
_DEEPEST = 20
_FRESH = 10**9

Body = Mapping[str, Any]
"""``expression`` is a text over ``parameters``, the exprIds of the function's; in it also stand columns that
``definitions`` has the texts of, the arguments of functions that the body calls. Empty when it could not be read."""


def body_of(text: str) -> Body:
    """The body in the analyzed plan of ``SELECT body AS x FROM (SELECT NULL AS parameter, …)``; empty of another plan.

    >>> plan = "Project [(a#1 + 1) AS x#2]\\n+- SubqueryAlias f\\n   +- Project [null AS a#1]\\n      +- OneRowRelation"
    >>> body_of(plan)["expression"], body_of(plan)["parameters"]
    ('(a#1 + 1)', [1])
    """
    line, definitions = tree(text), list[tuple[int, str]]()
    listed = [_aliased(one) for one in _listed(line)]
    if len(listed) != 1 or listed[0] is None:
        return {}
    while len(line.children) == 1 and (line := line.children[0]).name == "Project":
        if line.inner:  # an argument is the value of a query, which the plan reads in another operator than the body
            return {}
        definitions += [found for one in _listed(line) if (found := _aliased(one))]
    bottom = line.children[0] if line.name == "SubqueryAlias" and line.children else line
    parameters = [_aliased(one) for one in _listed(bottom)]
    if None in parameters or [below.name for below in bottom.children] != ["OneRowRelation"]:
        return {}
    ids = [found[0] for found in parameters if found]
    return {"parameters": ids, "expression": listed[0][1], "definitions": definitions}


def calls_in(text: str) -> Iterator[str]:
    """The names of functions that may be SQL functions: they are called with columns alone."""
    for found in _CALL.finditer(text):
        if found["name"] not in _NEVER:
            yield found["name"]


def _listed(line: Line) -> list[str]:
    inside = line.rest[1:-1] if line.name == "Project" else ""
    return items(split(inside, {}))


def _aliased(text: str) -> tuple[int, str] | None:
    found = _ALIAS.fullmatch(text)
    return (int(found["id"]), found["value"]) if found else None


@dataclass(slots=True)
class Inlining:
    """Puts the bodies of ``functions`` in the place of their calls; what each brings along has exprIds of its own."""

    functions: Mapping[str, Body]
    _ids: Iterator[int] = field(default_factory=lambda: itertools.count(_FRESH))

    def inlined(self, text: str, depth: int = 0) -> str:
        """The text with the bodies in it."""
        if not self.functions or depth > _DEEPEST:
            return text
        return _CALL.sub(lambda call: self._body(call, depth), text)

    def _body(self, call: re.Match[str], depth: int) -> str:
        body = self.functions.get(call["name"])
        arguments = call["arguments"].split(", ")
        if body is None:
            return call[0]
        if len(arguments) != len(body.get("parameters", ())):
            return f"{UNREAD}({call['arguments']})"
        text = self.inlined(body["expression"], depth + 1)
        for expr_id, value in body["definitions"]:
            text = _replaced(text, {expr_id: f"({self.inlined(value, depth + 1)})"})
        return f"({self._renumbered(text, dict(zip(body['parameters'], arguments, strict=True)))})"

    def _renumbered(self, text: str, arguments: Mapping[int, str]) -> str:
        known: dict[int, int] = {}

        def fresh(match: re.Match[str]) -> str:
            expr_id = int(match[1])
            return f"#{known.setdefault(expr_id, next(self._ids))}" if expr_id < _FRESH else match[0]

        parts = _split_at(text, arguments)
        return "".join(arguments[part] if isinstance(part, int) else _ID.sub(fresh, part) for part in parts)


def _replaced(text: str, values: Mapping[int, str]) -> str:
    parts: Sequence[str | int] = _split_at(text, values)
    return "".join(values[part] if isinstance(part, int) else part for part in parts)


def _split_at(text: str, columns: Mapping[int, str]) -> list[str | int]:
    """The text cut at the columns of these exprIds."""
    parts: list[str | int] = []
    begun = 0
    for found in _COLUMN.finditer(text):
        if int(found[1]) in columns:
            parts += [text[begun : found.start()], int(found[1])]
            begun = found.end()
    return [*parts, text[begun:]]


_NEVER = frozenset({"outer", *CASTS, *CLASSES})
