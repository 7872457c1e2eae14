"""The SQL functions of a server: DESCRIBE has the body of each, EXPLAIN what it is made of."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

import sqlglot

from headwater.capture.connect.row_changes import DIALECT
from headwater.plan.text import Body, analyzed_plan, body_of, calls_in

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
