"""Expressions from their text (Spark's ``Expression.toString``).

The text is not made to be read back: literals stand without quotes. What is read is what lineage needs, which columns
there are and what stands around them; a text that cannot be followed becomes ``Unreadable``, with every column in it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from headwater.plan.text.functions import AGGREGATES, CASTS, CLASSES
from headwater.plan.text.tokens import Token, split, tokens
from headwater.plan.tree import Expression, Node, Operator

_QUIET = frozenset({"ASC", "DESC", "NULLS", "FIRST", "LAST", "distinct", "DISTINCT", "lambda"})
_LOGIC = {"AND": "And", "OR": "Or"}
_CHECKS = ("varcharTypeWriteSideCheck", "charTypeWriteSideCheck", "readSidePadding")
_SUBQUERIES = {"scalar-subquery": "ScalarSubquery", "exists": "Exists", "list": "ListQuery"}


@dataclass(frozen=True, slots=True)
class Columns:
    """What an expression may refer to: names and types by exprId, and the plans of subqueries by theirs."""

    names: Mapping[int, str]
    types: Mapping[int, str] = field(default_factory=dict)
    plans: Mapping[int, Operator] = field(default_factory=dict)


class _Unreadable(Exception):
    """The text is not what was expected."""


def expression(text: str, columns: Columns) -> Expression:
    """The expression that a text shows, names and aliases apart.

    >>> expression("(a#1 + 1)", Columns({1: "a"})).children[0].values["id"]
    1
    """
    try:
        return _Reader(text, columns).whole()
    except (_Unreadable, IndexError):
        return unreadable(text, columns)


def unreadable(text: str, columns: Columns) -> Expression:
    """All the columns in a text."""
    found = [_attribute(token, columns) for token in tokens(text, columns.names) if token.kind == "attribute"]
    return Expression("Unreadable", tuple(found), {}, {"text": text[:200]})


def named(text: str, columns: Columns) -> Expression:
    """A named expression: a column, or ``expression AS name#id``."""
    try:
        reader = _Reader(text, columns, named=True)
        inner = reader.sequence()
        return _aliased(inner, reader.after_as(), columns)
    except (_Unreadable, IndexError):
        computed, _, alias = text.rpartition(" AS ")
        if not computed:
            return unreadable(text, columns)
        return _aliased(unreadable(computed, columns), alias, columns)


def _aliased(inner: Expression, alias: str, columns: Columns) -> Expression:
    """``name#id``, or ``name#id AS name#id`` where Spark has put one alias over another."""
    if not alias:
        return inner
    name, _, number = alias.rpartition("#")
    below = name.partition(" AS ")[0]
    if "#" in below and below.rpartition("#")[2].rstrip("L").isdigit():
        inner, name = _aliased(inner, below, columns), name.partition(" AS ")[2]
    if not number.rstrip("L").isdigit():
        raise _Unreadable
    return Expression("Alias", (inner,), {}, {"id": int(number.rstrip("L")), "name": name})


def _attribute(token: Token, columns: Columns) -> Expression:
    values = {"id": token.expr_id, "name": token.text}
    if token.expr_id in columns.types:
        values["dataType"] = columns.types[token.expr_id]
    return Expression("AttributeReference", (), {}, values)


class _Reader:
    """Reads one text from left to right."""

    def __init__(self, text: str, columns: Columns, *, named: bool = False) -> None:
        self._text = text
        self._columns = columns
        self._tokens = tokens(text, columns.names)
        self._place = 0
        self._open_end = named  # outside of every bracket AS is the end of the expression

    def whole(self) -> Expression:
        found = self.sequence()
        if self._place < len(self._tokens):
            raise _Unreadable
        return found

    def after_as(self) -> str:
        """The alias: all that follows AS."""
        if self._place >= len(self._tokens):
            return ""
        if self._next().text != "AS":
            raise _Unreadable
        return self._text[self._tokens[self._place].start :] if self._place < len(self._tokens) else ""

    def sequence(self, *ends: str) -> Expression:
        """Operands and operators up to a comma, a closing bracket, one of ``ends`` or the end; at the top also AS."""
        parts: list[Expression] = []
        logic: list[str] = []
        terms: list[Expression] = []
        words: list[str] = []
        while (token := self._peek()) is not None:
            plain = token.kind in ("sign", "word")
            if plain and (token.text in (",", ")", "]", *ends) or (self._open_end and token.text == "AS")):
                break
            if plain and token.text == "AS":
                self._skip_alias()
            elif plain and token.text in _LOGIC:
                self._place += 1
                parts.append(_combined(terms, words))
                logic.append(token.text)
                terms, words = [], []
            elif (term := self._term(terms, words)) is not None:
                terms.append(self._postfix(term))
        last = _combined(terms, words)
        return Expression(_LOGIC[logic[0]], (*parts, last)) if logic else last

    def _term(self, terms: list[Expression], words: list[str]) -> Expression | None:
        token = self._next()
        if token.kind == "attribute":
            return _attribute(token, self._columns)
        if token.kind == "subquery":
            return self._subquery(token)
        if token.text == "(":
            return self._tuple(")")
        if token.text == "[":
            return self._tuple("]")
        if token.kind == "word":
            return self._word(token, terms, words)
        if token.kind == "sign":
            words.append(token.text)
        return None

    def _word(self, token: Token, terms: list[Expression], words: list[str]) -> Expression | None:
        if token.text == "CASE":
            return self._case()
        if token.text == "if" and self._at("("):
            return self._if()
        if token.text == "FILTER" and terms and self._at("("):
            terms[-1] = self._filtered(terms[-1])
            return None
        if self._at("(") and self._tokens[self._place].start == token.end:
            self._place += 1
            return self._call(token.text)
        words.append(token.text)
        return None

    def _subquery(self, token: Token) -> Expression:
        plan = self._columns.plans.get(token.expr_id)
        name = _SUBQUERIES.get(token.text, "FunctionTableSubqueryArgumentExpression")
        return Expression(name, (), {"plan": plan} if plan else {})

    def _tuple(self, closing: str) -> Expression:
        items = self._items(closing)
        return items[0] if len(items) == 1 else Expression("Several", tuple(items))

    def _items(self, closing: str) -> list[Expression]:
        items: list[Expression] = []
        outside, self._open_end = self._open_end, False
        while not self._at(closing):
            items.append(self.sequence())
            if self._at(","):
                self._place += 1
            elif not self._at(closing):
                raise _Unreadable
        self._place += 1
        self._open_end = outside
        return items

    def _skip_alias(self) -> None:
        """``f(x#1) AS name#2`` inside another expression: it is known by its place."""
        while self._next().kind not in ("id", "attribute"):
            pass

    def _call(self, name: str) -> Expression:
        if name in CASTS:
            return self._cast()
        if name == "outer":
            column = self._tuple(")")
            return Expression("OuterReference", (), {"e": column})
        begun = self._tokens[self._place].start
        arguments = self._items(")")
        if name in ("named_struct", "struct"):
            return self._struct(begun, arguments)
        return _function(name, arguments)

    def _struct(self, begun: int, arguments: Sequence[Expression]) -> Expression:
        texts = split(self._text[begun : self._tokens[self._place - 1].start], self._columns.names)
        if len(texts) != len(arguments) or len(texts) % 2:
            return _function("named_struct", arguments)
        return Expression("CreateNamedStruct", tuple(arguments), {}, {"names": tuple(texts[::2])})

    def _cast(self) -> Expression:
        outside, self._open_end = self._open_end, False
        inner = self.sequence("as")
        self._expect("as")
        self._open_end = outside
        depth, begun = 0, self._tokens[self._place].start
        while depth or not self._at(")"):
            token = self._next()
            depth += (token.text == "(") - (token.text == ")")
        kind = self._text[begun : self._next().start].strip()
        known = inner.text("dataType")
        return Expression("Cast", (inner,), {}, {"dataType": kind, "same": bool(known) and known == kind})

    def _case(self) -> Expression:
        parts = [self.sequence("WHEN")] if not self._at("WHEN") else []
        while self._at("WHEN"):
            self._place += 1
            parts.append(self.sequence("THEN"))
            self._expect("THEN")
            parts.append(self.sequence("WHEN", "ELSE", "END"))
        if self._at("ELSE"):
            self._place += 1
            parts.append(self.sequence("END"))
        self._expect("END")
        return Expression("CaseWhen", tuple(parts))

    def _if(self) -> Expression:
        self._expect("(")
        test = self._tuple(")")
        yes = self.sequence("else")
        self._expect("else")
        return Expression("If", (test, yes, self.sequence("else")))

    def _filtered(self, aggregate: Expression) -> Expression:
        self._expect("(")
        self._expect("WHERE")
        test = self._tuple(")")
        return Expression("AggregateExpression", (*aggregate.children[:1], test))

    def _postfix(self, term: Expression) -> Expression:
        """``s.field``, ``a[0]``, and the id that follows the call of a Python function."""
        while (token := self._peek()) is not None and token.start == self._tokens[self._place - 1].end:
            if token.kind == "id":
                self._place += 1
                called = term.children if term.name == "Function" else (term,)
                term = Expression("PythonUDF", called, {}, term.values if term.name == "Function" else {})
            elif token.text == "[":
                self._place += 1
                term = Expression("GetItem", (term, self._tuple("]")))
            elif token.text == "." and self._place + 1 < len(self._tokens):
                self._place += 2
                for name in self._tokens[self._place - 1].text.split("."):
                    term = Expression("GetStructField", (term,), {}, {"field": name})
            else:
                break
        return term

    def _peek(self) -> Token | None:
        return self._tokens[self._place] if self._place < len(self._tokens) else None

    def _next(self) -> Token:
        self._place += 1
        return self._tokens[self._place - 1]

    def _at(self, text: str) -> bool:
        token = self._peek()
        return token is not None and token.kind in ("sign", "word") and token.text == text

    def _expect(self, text: str) -> None:
        if not self._at(text):
            raise _Unreadable
        self._place += 1


def _combined(terms: list[Expression], words: list[str]) -> Expression:
    loud = [word for word in words if word not in _QUIET]
    if not terms:
        return Expression("Literal")
    if len(terms) == 2 and terms[1].name == "WindowSpecDefinition":
        return Expression("WindowExpression", (_over_window(terms[0]), terms[1]))
    if terms[-1].name == "ListQuery" and len(terms) > 1:
        return _negated(_in_subquery(terms), "NOT" in loud)
    if len(terms) == 1 and (not loud or loud == ["NOT"]):
        return _negated(terms[0], bool(loud))
    return Expression("Operation", tuple(terms))


def _negated(inner: Expression, negative: bool) -> Expression:
    return Expression("Not", (inner,)) if negative else inner


def _in_subquery(terms: Sequence[Expression]) -> Expression:
    """``x IN (list#1 [])``; several values stand as a struct."""
    first = terms[0]
    values = first.children[1::2] if first.name == "CreateNamedStruct" else tuple(terms[:-1])
    values = first.children if first.name == "Several" else values
    return Expression("InSubquery", (*values, terms[-1]), {"values": values, "query": terms[-1]})


def _over_window(function: Expression) -> Expression:
    if function.name == "PythonUDF":
        return Expression("PythonUDAF", function.children, {}, function.values)
    return function


def _function(name: str, arguments: Sequence[Node]) -> Expression:
    children = tuple(one for one in arguments if isinstance(one, Expression))
    if name.endswith(_CHECKS):
        return Expression("KnownNotNull", children)
    if name == "nvl2":
        return Expression("If", children)
    if name == "decode" and len(children) > 2:
        return _decode(children)
    if name == "nullif":
        return Expression("NullIfResult", (Expression("Operation", children), *children[:1]))
    if name == "pivotfirst":
        return Expression("PivotFirst", children[:2])
    function = Expression(CLASSES.get(name, "Function"), children, {}, {"name": name})
    return Expression("AggregateExpression", (function,)) if name in AGGREGATES else function


def _decode(children: Sequence[Expression]) -> Expression:
    """``decode(x, a, one, b, two, other)``: the value is compared, and chooses."""
    rest = children[1:]
    pairs = len(rest) // 2 * 2
    tests = [Expression("Operation", (children[0], one)) for one in rest[0:pairs:2]]
    chosen = [part for test, value in zip(tests, rest[1:pairs:2], strict=True) for part in (test, value)]
    return Expression("CaseWhen", (*chosen, *rest[pairs:]))
