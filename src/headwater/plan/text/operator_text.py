"""The text of an operator as lists of items and named expressions."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from headwater.plan.text import expressions
from headwater.plan.text.tokens import Columns, balanced, split, unreadable
from headwater.plan.tree import Expression, Operator

_ALIAS = re.compile(r" AS ((?:(?! AS |#\d).)*)#(\d+)L?(?=, |$)", re.DOTALL)

Fields = tuple[dict[str, Any], dict[str, Any]]
"""References and values of an operator."""


@dataclass(frozen=True, slots=True)
class OperatorText:
    """The text after an operator's name, split at the commas outside of brackets; columns; children."""

    parts: Sequence[str]
    columns: Columns
    inputs: tuple[Operator, ...]

    def listed(self, place: int) -> tuple[str, ...]:
        """The items of the list at ``place``."""
        text = self.parts[place] if place < len(self.parts) else ""
        inside = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        return tuple(split(inside, self.columns.names))

    def last_list(self) -> tuple[str, ...]:
        """The items of the last list."""
        lists = [place for place, part in enumerate(self.parts) if part.startswith("[")]
        return self.listed(lists[-1]) if lists else ()


Reader = Callable[[OperatorText], Fields]


def items(texts: Sequence[str]) -> list[str]:
    """The items of a list of named expressions: what does not end in an id was cut by a comma in a literal."""
    found: list[str] = []
    begun = ""
    for text in texts:
        begun = f"{begun}, {text}" if begun else text
        if re.search(r"#\d+L?$", begun):
            found.append(begun)
            begun = ""
    return [*found, begun] if begun else found


def named(texts: Sequence[str], columns: Columns) -> tuple[Expression, ...]:
    """The named expressions of a list; where a bracket in a literal hides the commas, all that the list may name."""
    return tuple(
        node
        for text in texts
        for node in ([expressions.named(text, columns)] if balanced(text, columns.names) else _hidden(text, columns))
    )


def _hidden(text: str, columns: Columns) -> Iterator[Expression]:
    """Each new column comes from every column in the text; those that are there already may be handed on."""
    new = {int(found[2]): found[1] for found in re.finditer(_ALIAS, text)}
    columns_there = [node for node in unreadable(text, columns).children if node.values.get("id") not in new]
    for expr_id, name in new.items():
        body = Expression("Unreadable", tuple(columns_there))
        yield Expression("Alias", (body,), {}, {"id": expr_id, "name": name})
    yield from (node for node in columns_there if isinstance(node, Expression) and node.name == "AttributeReference")


def attributes(texts: Sequence[str]) -> tuple[Expression, ...]:
    """The columns of a list."""
    return tuple(attribute for text in items(texts) if (attribute := column(text)) is not None)


def column(text: str) -> Expression | None:
    """The column ``name#id``; None when the text is none."""
    found = re.fullmatch(r"(?P<name>.*)#(?P<id>\d+)L?", text, re.DOTALL)
    return Expression("AttributeReference", (), {}, {"id": int(found["id"]), "name": found["name"]}) if found else None
