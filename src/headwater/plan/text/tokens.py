"""The words of an expression's text, and the columns and variables that they name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from headwater.model.nested_fields import name_parts
from headwater.plan.tree import Expression, Operator

_ID = re.compile(r"#(\d+)L?")
_SUBQUERY = re.compile(r"(?:scalar-subquery|exists|list|lateral-subquery|table-argument)#(\d+)L? \[")
_VARIABLE = re.compile(r"variablereference\((?P<name>(?:`(?:[^`]|``)*`|[^`=\n])+)=")
_QUOTED_OR_BRACKET = re.compile(r"'(?:[^'\\]|\\.)*'|[()]", re.DOTALL)
_OPENING = {")": "(", "]": "["}
_WORD = re.compile(r"<lambda>|[A-Za-z_][\w.$]*|\d[\w.]*")
_UNKNOWN = re.compile(rf"({_WORD.pattern})#(\d+)L?")
"""A column that nothing below has put out, so far as the text says: ``lambda x#1`` is a variable."""


@dataclass(frozen=True, slots=True)
class Token:
    """``kind`` is attribute, variable, lambda, subquery, word, id (after a call) or sign.

    ``start`` and ``end`` are its place.
    """

    kind: str
    text: str
    start: int
    end: int
    expr_id: int = -1


def tokens(text: str, names: Mapping[int, str]) -> list[Token]:
    """The words of an expression; ``names`` has the names of the columns that it may refer to, by exprId.

    A column's name may be any text, such as ``sum(amount) AS total``: known names are found first.
    """
    attributes = dict(_attributes(text, names))
    return list(_tokens(text, attributes))


def split(text: str, names: Mapping[int, str]) -> list[str]:
    """The parts of a list, by the commas that are in no bracket and in no name."""
    parts, begun, brackets = [], 0, _Brackets()
    for token in tokens(text, names):
        if token.kind == "sign":
            brackets.pass_by(token.text)
            if token.text == "," and not brackets.opened:
                parts.append(text[begun : token.start].strip())
                begun = token.end
    last = text[begun:].strip()
    return [*parts, last] if last or parts else []


def balanced(text: str, names: Mapping[int, str]) -> bool:
    """Whether every bracket in the text is closed, names left aside: literals may hold any."""
    brackets = _Brackets()
    for token in tokens(text, names):
        if token.kind == "sign":
            brackets.pass_by(token.text)
    return not brackets.opened and not brackets.stray


class _Brackets:
    """The brackets that are open; one that closes another kind than the last is taken for part of a literal."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.stray = False

    def pass_by(self, sign: str) -> None:
        if sign in "([":
            self.opened.append(sign)
        elif sign in ")]":
            if self.opened and self.opened[-1] == _OPENING[sign]:
                self.opened.pop()
            else:
                self.stray = True


def _attributes(text: str, names: Mapping[int, str]) -> Iterator[tuple[int, Token]]:
    for found in _ID.finditer(text):
        expr_id = int(found[1])
        name = names.get(expr_id)
        if name is not None and text.endswith(name, 0, found.start()):
            start = found.start() - len(name)
            yield start, Token("attribute", name, start, found.end(), expr_id)


def _tokens(text: str, attributes: Mapping[int, Token]) -> Iterator[Token]:
    place, before = 0, ""
    while place < len(text):
        token = attributes.get(place) or _token(text, place)
        place = token.end
        if not token.text.isspace():
            variable = before == "lambda" and token.kind == "attribute"
            yield replace(token, kind="lambda") if variable else token
        before = before if token.text.isspace() else token.text


def _token(text: str, place: int) -> Token:
    if found := _SUBQUERY.match(text, place):
        end = _closing(text, found.end() - 1)
        return Token("subquery", found[0].partition("#")[0], place, end, int(found[1]))
    if found := _VARIABLE.match(text, place):
        return Token("variable", found["name"], place, _after_value(text, found.end()))
    if found := _ID.match(text, place):
        return Token("id", found[0], place, found.end(), int(found[1]))
    if found := _UNKNOWN.match(text, place):
        return Token("attribute", found[1], place, found.end(), int(found[2]))
    if found := _WORD.match(text, place):
        return Token("word", found[0], place, found.end())
    return Token("sign", text[place], place, place + 1)


def _after_value(text: str, begun: int) -> int:
    """The place after the bracket that ends the value of a variable, whose strings have quotes; else ``begun``."""
    depth = 1
    for found in _QUOTED_OR_BRACKET.finditer(text, begun):
        depth += (found[0] == "(") - (found[0] == ")")
        if depth == 0:
            return found.end()
    return begun


def _closing(text: str, opening: int) -> int:
    """The place after the bracket that closes the one at ``opening``."""
    depth = 0
    for place in range(opening, len(text)):
        depth += (text[place] == "[") - (text[place] == "]")
        if depth == 0:
            return place + 1
    return len(text)


class Unreadable(Exception):
    """The text is not what was expected."""


class Cursor:
    """A place in the words of a text."""

    def __init__(self, text: str, names: Mapping[int, str]) -> None:
        self.text = text
        self.tokens = tokens(text, names)
        self.place = 0

    @property
    def last(self) -> Token:
        """The word passed last."""
        return self.tokens[self.place - 1]

    def peek(self) -> Token | None:
        """The next word; None at the end."""
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def next(self) -> Token:
        """Pass the next word; IndexError at the end."""
        self.place += 1
        return self.tokens[self.place - 1]

    def at(self, text: str) -> bool:
        """Whether the next word is this one."""
        token = self.peek()
        return token is not None and token.kind in ("sign", "word") and token.text == text

    def expect(self, text: str) -> None:
        """Pass this word.

        Raises:
            Unreadable: the next one is another.
        """
        if not self.at(text):
            raise Unreadable
        self.place += 1


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
