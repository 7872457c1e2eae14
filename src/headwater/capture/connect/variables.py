"""Statements of a Connect client about session variables, and ``EXECUTE IMMEDIATE``, whose statement is in a string.

From Spark 4.1 on the analysis of ``EXECUTE IMMEDIATE`` runs what is in the string, below EXPLAIN too: only the
statement within is explained. The values that USING binds to its parameters are written into it, so that the plan names
the variables among them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.dialects import Databricks

from headwater.capture.connect.functions import with_parameters
from headwater.capture.connect.row_changes import DIALECT
from headwater.errors import PlanError

_BLANK = r"(?:\s|--[^\n]*(?:\n|$)|/\*(?:[^*]|\*(?!/))*\*/)*"
_EXECUTE = re.compile(r"\bexecute\b.*\bimmediate\b", re.IGNORECASE | re.DOTALL)
_ASSIGNS = re.compile(rf"{_BLANK}(?:declare|set\b{_BLANK}var(?:iable)?)\b", re.IGNORECASE)
_SCRIPT = re.compile(rf"{_BLANK}(?:\w+{_BLANK}:{_BLANK})?begin\b", re.IGNORECASE)
_STRINGS = ("STRING", "RAW_STRING")


@dataclass(frozen=True, slots=True)
class ExecuteImmediate:
    """The statement in the string of an ``EXECUTE IMMEDIATE``, and the names of the variables that it fills."""

    statement: str
    into: tuple[str, ...] = ()


def statement_kind(statement: str) -> str:
    """The name of a statement that assigns a variable, or may do so; empty for others.

    >>> [statement_kind(text) for text in ("/* 1 */ SET VAR x = 1", "set spark.sql.ansi.enabled = true", "BEGIN END")]
    ['SetVariable', '', 'Script']
    """
    if is_immediate(statement):
        following = _parts(_words(statement))[1][:1]
        return "SetVariable" if [word.text.upper() for word in following] == ["INTO"] else "ExecuteImmediate"
    if _SCRIPT.match(statement):
        return "Script"
    return "SetVariable" if _ASSIGNS.match(statement) else ""


def is_immediate(statement: str) -> bool:
    """Whether a statement is ``EXECUTE IMMEDIATE``: to analyze it is to run it."""
    return _EXECUTE.search(statement) is not None and bool(_words(statement))


def immediate(statement: str) -> ExecuteImmediate:
    """The parts of an ``EXECUTE IMMEDIATE``.

    Raises:
        PlanError: the statement is not written out as a string, or its parts cannot be read.

    >>> immediate("EXECUTE IMMEDIATE 'SELECT max(a) FROM t WHERE b > :low' INTO x USING low + 1 AS low")
    ExecuteImmediate(statement='SELECT max(a) FROM t WHERE b > (system.session.`low` + 1)', into=('x',))
    """
    strings, rest = _parts(_words(statement))
    following = [word.text.upper() for word in rest]
    if not strings or following[:1] not in ([], ["INTO"], ["USING"], [";"]):
        raise PlanError("The statement of this EXECUTE IMMEDIATE is in an expression, whose value is not looked up.")
    using = following.index("USING") if "USING" in following else len(rest)
    names = rest[1:using] if following[:1] == ["INTO"] else []
    into = statement[names[0].start : names[-1].end + 1].rstrip("; ").split(",") if names else ()
    values = statement[rest[using].end + 1 :].strip("; \n") if using < len(rest) else ""
    text = with_parameters("".join(_joined(strings)), *_bound(values))
    return ExecuteImmediate(text, tuple(name.strip() for name in into))


def _words(statement: str) -> list[Any]:
    """The words from IMMEDIATE on, which the tokenizer takes for one; none of another statement."""
    first = Databricks().tokenize(statement)[:1]
    if [word.text.upper() for word in first] != ["EXECUTE"]:
        return []
    begun = first[0].end + 1
    return list(Databricks().tokenize(" " * begun + statement[begun:]))


def _parts(words: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    """The strings that stand after IMMEDIATE, and what follows them."""
    end = next((n for n, word in enumerate(words) if n and word.token_type.name not in _STRINGS), len(words))
    return words[1:end], words[end:]


def _joined(strings: Sequence[Any]) -> Iterator[str]:
    """The strings one after another; two quotes within one are a quote."""
    end = -1
    for word in strings:
        yield f"'{word.text}" if word.start == end else word.text
        end = word.end + 1


def _bound(text: str) -> tuple[list[str], dict[str, str]]:
    """The values of USING by position and by name; a name in one is that of a variable, whatever columns there are."""
    listed = sqlglot.parse_one(f"SELECT {text}", dialect=DIALECT).expressions if text else []
    if len(listed) == 1 and isinstance(listed[0], exp.Tuple | exp.Paren):
        listed = listed[0].expressions or [listed[0].this]
    values = [f"({one.unalias().transform(_variable).sql(DIALECT)})" for one in listed]
    return values, {one.alias: value for one, value in zip(listed, values, strict=True) if one.alias}


def _variable(node: exp.Expression) -> exp.Expression:
    if not isinstance(node, exp.Column):
        return node
    names = [part.name for part in node.parts]
    for catalog in ("system", "session"):
        names = names[1:] if names[1:] and names[0].lower() == catalog else names
    return exp.Var(this=".".join(("system", "session", *(f"`{name}`" for name in names))))
