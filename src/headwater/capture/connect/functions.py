"""Texts of a server: SQL functions, generated columns, and parameters of statements.

DESCRIBE has the body of each SQL function, EXPLAIN what it is made of. The columns that a Delta table works out itself
are in no description: the plan of an UPDATE has the value of every column of the table. A server of Spark 3.5 explains
no statement with parameters, so they are written into its text as literals.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

import sqlglot

from headwater.capture.connect.row_changes import DIALECT
from headwater.extract import column_lineage
from headwater.plan.text import Body, TextFacts, analyzed_plan, body_of, calls_in, decode_text, updated_values

_FUNCTION = re.compile(r"\bfunction\b", re.IGNORECASE)
_USAGE = "Usage: "


class SqlFunctions:
    """The bodies of the functions that texts of plans call, each asked for once until a statement changes functions.

    ``rows`` gives the rows of a query, ``explained`` the text of EXPLAIN EXTENDED for one.
    """

    def __init__(self, rows: Callable[[str], list[tuple[Any, ...]]], explained: Callable[[str], str]) -> None:
        self._rows = rows
        self._explained = explained
        self._own: frozenset[str] = frozenset()
        self._bodies: dict[str, Body | None] = {}

    def note(self, plan: Any) -> None:
        """Forget what is known when a request may make or drop a function."""
        if plan.command.HasField("sql_command") and _FUNCTION.search(str(plan.command.sql_command)):
            self._bodies = {}

    def bodies(self, text: str) -> Mapping[str, Body]:
        """The bodies of the SQL functions that a text calls, and of those that they call."""
        found: dict[str, Body] = {}
        texts = [text]
        while texts:
            for name in calls_in(texts.pop()):
                if name not in found and (body := self._body(name)) is not None:
                    found[name] = body
                    texts += [body.get("expression", ""), *(value for _, value in body.get("definitions", ()))]
        return found

    def _body(self, name: str) -> Body | None:
        self._own = self._own or frozenset(str(row[0]) for row in self._rows("SHOW SYSTEM FUNCTIONS"))
        if name in self._own:
            return None
        if name not in self._bodies:
            self._bodies[name] = self._described(name)
        return self._bodies[name]

    def _described(self, name: str) -> Body | None:
        """The body of a function; None of one that is not in SQL, empty where it cannot be had."""
        quoted = ".".join(f"`{part}`" for part in name.split("."))
        try:
            lines = [str(row[0]) for row in self._rows(f"DESCRIBE FUNCTION EXTENDED {quoted}")]
            described = json.loads(next(line for line in lines if line.startswith(_USAGE)).removeprefix(_USAGE))
        except Exception:  # a function of Spark's or of others has no such description
            return None
        if described.get("sqlFunction.isTableFunc") != "false":
            return None
        try:
            return body_of(analyzed_plan(self._explained(_query(name, described))))
        except Exception:
            return {}


def _query(name: str, described: Mapping[str, str]) -> str:
    """The body as a query, over one row with the parameters as its columns.

    >>> _query("c.d.f", {"sqlFunction.inputParam": "a INT", "sqlFunction.expression": "a + f.a",
    ...     "sqlFunction.returnType": "INT"})
    'SELECT CAST((a + f.a) AS INT) AS x FROM (SELECT CAST(NULL AS INT) AS `a`) AS `f`'
    """
    body = described.get("sqlFunction.expression") or described["sqlFunction.query"]
    table = sqlglot.parse_one(f"CREATE TABLE t ({described['sqlFunction.inputParam']})", dialect=DIALECT)
    columns = [(one.name, one.args["kind"].sql(DIALECT)) for one in table.this.expressions]
    parameters = ", ".join(f"CAST(NULL AS {kind}) AS `{name}`" for name, kind in columns)
    kind, alias = described["sqlFunction.returnType"], name.rpartition(".")[2]
    return f"SELECT CAST(({body}) AS {kind}) AS x FROM (SELECT {parameters}) AS `{alias}`"


_MAY_GENERATE = re.compile(r"delta\.feature\.generatedColumns=supported|delta\.minWriterVersion=[456]\b")


def may_generate(properties: str) -> bool:
    """Whether the text of a table's properties says that its columns may be generated."""
    return _MAY_GENERATE.search(properties) is not None


def generated_columns(
    name: str, types: Mapping[str, str], explained: Callable[[str], str]
) -> Mapping[str, list[Mapping[str, Any]]]:
    """The inputs of each generated column of a table: columns of the same row, and how.

    An UPDATE hides how the column that it sets is generated: two are explained, so that each is seen in one of them.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for column in tuple(types)[:2]:
        text = analyzed_plan(explained(f"UPDATE {name} SET `{column}` = `{column}`"))
        values, columns = updated_values(text)
        for made, value in values.items():
            if not re.fullmatch(rf"{re.escape(made)}#\d+L?", value):
                found[made] = list(_origins(made, value, columns, types))
    return found


def _origins(name: str, value: str, columns: str, types: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    text = f"Project [{value} AS {name}#0]\n+- Relation row[{columns}]"
    lineage, _ = column_lineage(decode_text(text, TextFacts({"row": {"types": types}})))
    for edge in lineage.fields[name]:
        how = edge.transformation
        yield {
            "column": edge.input.name,
            "subtype": how.subtype.value,
            "masking": how.masking,
            "opaque": how.opaque,
        }


_WORDS = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|--[^\n]*|/\*.*?\*/|::|:(?P<name>[A-Za-z_]\w*)|(?P<mark>\?)",
    re.DOTALL,
)
_NUMBERS = ("byte", "short", "integer", "long")


def with_literals(relation: Any) -> Any:
    """The relation of a statement with its parameters in the text.

    Of a kind of value that lineage does not ask for there stands NULL.
    """
    found = type(relation)()
    found.CopyFrom(relation)
    named = {name: _literal(value) for name, value in relation.sql.args.items()}
    found.sql.query = with_parameters(relation.sql.query, list(map(_literal, relation.sql.pos_args)), named)
    found.sql.ClearField("args")
    found.sql.ClearField("pos_args")
    return found


def with_parameters(query: str, positional: Sequence[str], by_name: Mapping[str, str]) -> str:
    """A statement with texts in the place of its parameters; strings, names in backticks and comments as they are.

    >>> with_parameters("SELECT ?, ':a', :a", ["1"], {"a": "x"})
    "SELECT 1, ':a', x"
    """
    values = chain(positional, repeat("NULL"))

    def bound(word: re.Match[str]) -> str:
        if word["name"] in by_name:
            return by_name[word["name"]]
        return next(values) if word["mark"] and positional else word[0]

    return _WORDS.sub(bound, query)


def _literal(value: Any) -> str:
    kind = value.WhichOneof("literal_type")
    if kind in _NUMBERS:
        return str(getattr(value, kind))
    if kind == "boolean":
        return str(value.boolean).upper()
    if kind == "double":
        return f"{value.double!r}D"
    if kind == "string":
        escaped = value.string.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'"
    return "NULL"
