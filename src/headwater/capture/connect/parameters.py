"""The parameters of a statement as literals in its text: a server of Spark 3.5 explains no statement that has any."""

import re
from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

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
    found.sql.query = "".join(_parts(relation.sql))
    found.sql.ClearField("args")
    found.sql.ClearField("pos_args")
    return found


def _parts(statement: Any) -> Iterator[str]:
    """The text piece by piece; strings, names in backticks and comments as they are."""
    begun = 0
    values = chain(map(_literal, statement.pos_args), repeat("NULL"))
    for word in _WORDS.finditer(statement.query):
        yield statement.query[begun : word.start()]
        begun = word.end()
        if word["name"] and word["name"] in statement.args:
            yield _literal(statement.args[word["name"]])
        else:
            yield next(values) if word["mark"] and statement.pos_args else word[0]
    yield statement.query[begun:]


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
