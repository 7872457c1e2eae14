"""Expressions from their text (Spark's ``Expression.toString``).

Spark does not write this text to be parsed: literals have no quotes. Only what lineage needs is read: the columns, and
the functions and operators around them. A text that cannot be parsed becomes ``Unreadable``, with every column in it.
"""

import re

from headwater.plan.text.nodes import CASTS, combined, function, literal
from headwater.plan.text.packing import named_struct, recast, type_of, updated
from headwater.plan.text.tokens import (
    Columns,
    Cursor,
    Token,
    Unreadable,
    attribute,
    session_variable,
    split,
    unreadable,
)
from headwater.plan.tree import Expression

_FIELD_OF_ALIAS = re.compile(r"[^#]*#\d+L?\.(?P<fields>[^ #]+) AS (?P<rest>.*#\d+L?)", re.DOTALL)
_CLOSING = {"(": ")", "[": "]"}
_CHANGES = {"WithField": 2, "dropfield": 1}
"""The operations on a field of a struct, and how many arguments each has."""
_LOGIC = {"AND": "And", "OR": "Or"}
_SUBQUERIES = {"scalar-subquery": "ScalarSubquery", "exists": "Exists", "list": "ListQuery"}


def expression(text: str, columns: Columns) -> Expression:
    """The expression that a text shows, names and aliases apart.

    >>> expression("(a#1 + 1)", Columns({1: "a"})).children[0].values["id"]
    1
    """
    try:
        return _Reader(text, columns).whole()
    except (Unreadable, IndexError):
        return unreadable(text, columns)


def named(text: str, columns: Columns) -> Expression:
    """A named expression: a column, or ``expression AS name#id``."""
    try:
        reader = _Reader(text, columns, ends_at_name=True)
        inner = reader.sequence()
        return _aliased(inner, reader.after_as(), columns)
    except (Unreadable, IndexError):
        computed, _, alias = text.rpartition(" AS ")
        if not computed:
            return unreadable(text, columns)
        return _aliased(unreadable(computed, columns), alias, columns)


def _aliased(inner: Expression, alias: str, columns: Columns) -> Expression:
    """``name#id``, or ``name#id AS name#id`` where Spark has put one alias over another, or over a field of one."""
    if not alias:
        return inner
    if found := _FIELD_OF_ALIAS.fullmatch(alias):
        return _aliased(_fields(inner, found["fields"]), found["rest"], columns)
    name, _, number = alias.rpartition("#")
    below = name.partition(" AS ")[0]
    if "#" in below and below.rpartition("#")[2].rstrip("L").isdigit():
        inner, name = _aliased(inner, below, columns), name.partition(" AS ")[2]
    if not number.rstrip("L").isdigit():
        raise Unreadable
    return Expression("Alias", (inner,), {}, {"id": int(number.rstrip("L")), "name": name})


def _fields(value: Expression, path: str) -> Expression:
    for name in path.split("."):
        value = Expression("GetStructField", (value,), {}, {"field": name})
    return value


class _Reader(Cursor):
    """Reads one text from left to right."""

    def __init__(self, text: str, columns: Columns, *, ends_at_name: bool = False) -> None:
        super().__init__(text, columns.names)
        self._columns = columns
        self._open_end = ends_at_name  # outside of every bracket AS is the end of the expression

    def whole(self) -> Expression:
        found = self.sequence()
        if self.place < len(self.tokens):
            raise Unreadable
        return found

    def after_as(self) -> str:
        """The alias: all that follows AS."""
        if self.place >= len(self.tokens):
            return ""
        if self.next().text != "AS":
            raise Unreadable
        return self.text[self.tokens[self.place].start :] if self.place < len(self.tokens) else ""

    def sequence(self, *ends: str) -> Expression:
        """Operands and operators up to a comma, a closing bracket, one of ``ends`` or the end; at the top also AS."""
        parts: list[Expression] = []
        logic: list[str] = []
        terms: list[Expression] = []
        words: list[str] = []
        begun = self.place
        while (token := self.peek()) is not None:
            plain = token.kind in ("sign", "word")
            if plain and (token.text in (",", ")", "]", *ends) or (self._open_end and token.text == "AS")):
                break
            if plain and token.text == "AS":
                # `f(x#1) AS name#2` inside another expression: the alias is passed over, the value counts by its place
                while self.next().kind not in ("id", "attribute"):
                    pass
            elif plain and token.text in _LOGIC:
                self.place += 1
                parts.append(combined(terms, words))
                logic.append(token.text)
                terms, words = [], []
            elif (term := self._term(terms, words)) is not None:
                terms.append(self._postfix(term))
        last = combined(terms, words) if terms or logic else literal(self._between(begun))
        return Expression(_LOGIC[logic[0]], (*parts, last)) if logic else last

    def _between(self, begun: int) -> str:
        """The text from a word up to the next, with its blanks, save the one that follows a comma."""
        start = self.tokens[begun - 1].end if begun else 0
        end = self.tokens[self.place].start if self.place < len(self.tokens) else len(self.text)
        found = self.text[start:end]
        return found[1:] if begun and self.tokens[begun - 1].text == "," else found

    def _term(self, terms: list[Expression], words: list[str]) -> Expression | None:
        token = self.next()
        if token.kind in ("attribute", "variable"):
            return attribute(token, self._columns) if token.kind == "attribute" else session_variable(token.text)
        if token.kind == "lambda":
            return Expression("NamedLambdaVariable", (), {}, {"id": token.expr_id, "name": token.text})
        if token.kind == "subquery":
            plan = self._columns.plans.get(token.expr_id)
            name = _SUBQUERIES.get(token.text, "FunctionTableSubqueryArgumentExpression")
            return Expression(name, (), {"plan": plan} if plan else {})
        if token.text in _CLOSING:
            return self._tuple(_CLOSING[token.text])
        if token.kind == "word":
            return self._word(token, terms, words)
        if token.kind == "sign":
            words.append(token.text)
        return None

    def _word(self, token: Token, terms: list[Expression], words: list[str]) -> Expression | None:
        if token.text == "CASE":
            return self._case()
        if token.text == "if" and self.at("("):
            return self._if()
        if token.text == "FILTER" and terms and self.at("("):
            terms[-1] = self._postfix(self._filtered(terms[-1]))
            return None
        if self.at("(") and self.tokens[self.place].start == token.end:
            self.place += 1
            return self._call(token.text)
        words.append(token.text)
        return None

    def _tuple(self, closing: str) -> Expression:
        items = self._items(closing)
        return items[0] if len(items) == 1 else Expression("Several", tuple(items))

    def _items(self, closing: str) -> list[Expression]:
        items: list[Expression] = []
        outside, self._open_end = self._open_end, False
        while not self.at(closing):
            items.append(self.sequence())
            if self.at(","):
                self.place += 1
            elif not self.at(closing):
                raise Unreadable
        self.place += 1
        self._open_end = outside
        return items

    def _call(self, name: str) -> Expression:
        if name in CASTS:
            return self._cast()
        if name == "outer":
            column = self._tuple(")")
            return Expression("OuterReference", (), {"e": column})
        begun, distinct = self.tokens[self.place].start, self.at("distinct")
        arguments = self._items(")")
        if name == "update_fields":
            return updated(arguments[0], arguments[1:])
        if name not in ("named_struct", "struct", *_CHANGES):
            return function(name, arguments, distinct=distinct, collated=self._columns.collated)
        texts = split(self.text[begun : self.last.start], self._columns.names)
        if name not in _CHANGES:
            return named_struct(texts, arguments)
        if not len(texts) == len(arguments) == _CHANGES[name]:
            raise Unreadable
        kind = "WithField" if len(arguments) > 1 else "DropField"
        return Expression(kind, tuple(arguments[1:]), {}, {"name": texts[0]})

    def _cast(self) -> Expression:
        outside, self._open_end = self._open_end, False
        inner = self.sequence("as")
        self.expect("as")
        self._open_end = outside
        depth, begun = 0, self.tokens[self.place].start
        while depth or not self.at(")"):
            token = self.next()
            depth += (token.text == "(") - (token.text == ")")
        kind = self.text[begun : self.next().start].strip()
        leaves = recast(type_of(inner), kind)
        return Expression("Cast", (inner,), {}, {"dataType": kind, "same": leaves is True, "leaves": leaves})

    def _case(self) -> Expression:
        parts = [self.sequence("WHEN")] if not self.at("WHEN") else []
        while self.at("WHEN"):
            self.place += 1
            parts.append(self.sequence("THEN"))
            self.expect("THEN")
            parts.append(self.sequence("WHEN", "ELSE", "END"))
        if self.at("ELSE"):
            self.place += 1
            parts.append(self.sequence("END"))
        self.expect("END")
        return Expression("CaseWhen", tuple(parts))

    def _if(self) -> Expression:
        self.expect("(")
        test = self._tuple(")")
        yes = self.sequence("else")
        self.expect("else")
        return Expression("If", (test, yes, self.sequence("else")))

    def _filtered(self, aggregate: Expression) -> Expression:
        self.expect("(")
        self.expect("WHERE")
        test = self._tuple(")")
        return Expression("AggregateExpression", (*aggregate.children[:1], test))

    def _postfix(self, term: Expression) -> Expression:
        """``s.field``, ``a[0]``, and the id that follows the call of a Python function."""
        while (token := self.peek()) is not None and token.start == self.last.end:
            if token.kind == "id":
                self.place += 1
                called = term.children if term.name == "Function" else (term,)
                term = Expression("PythonUDF", called, {}, term.values if term.name == "Function" else {})
            elif token.text == "[":
                self.place += 1
                term = Expression("GetItem", (term, self._tuple("]")))
            elif token.text == "." and self.place + 1 < len(self.tokens):
                self.place += 2
                term = _fields(term, self.last.text)
            else:
                break
        return term
