"""Relations without a name in a plan's text, files above all: what the request and the scans say of each."""

import re
from collections.abc import Collection, Iterator, Mapping
from itertools import cycle
from typing import Any

from headwater.plan.text import schema_types

_ROWS = ("LocalRelation", "CachedLocalRelation", "ChunkedCachedLocalRelation")
VIEW = "View (`{}`, ["
"""The beginning of a view in a plan's text."""

_RELATION = re.compile(r"Relation(?: |V2(?=\[[^\n]*\] \w+$))\[([^\n]*)\]")
SCAN = re.compile(
    r"FileScan \w+ (?P<table>[^\[\n]*)\[(?P<columns>[^\n]*?)\] [^\n]*Location: \w+\(\d+ paths\)\[(?P<paths>[^\]\n]*)"
    r"(?:[^\n]*ReadSchema: struct<(?P<schema>[^\n]*)>)?"
)
"""A scan of files in a physical plan."""


def data_sources(message: Any) -> Iterator[Any]:
    """The relations without a name that a request reads, in order; rows that become columns are another request."""
    return (one for one in _messages(message, "Transpose") if one.DESCRIPTOR.name == "DataSource")


def transposed(message: Any) -> Iterator[Any]:
    """The relations whose rows a request makes columns (``df.transpose()``), in order, each before those within it."""
    return (one.input for one in _messages(message) if one.DESCRIPTOR.name == "Transpose")


def has_rows(message: Any) -> bool:
    """Whether a request reads rows of the program, which it has with it or has sent before."""
    return any(one.DESCRIPTOR.name in _ROWS for one in _messages(message))


def _messages(message: Any, but: str = "") -> Iterator[Any]:
    """The messages within a message, before each those around it; ``but`` those in one of that name."""
    yield message
    for field, value in message.ListFields() if message.DESCRIPTOR.name != but else ():
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for one in [value] if hasattr(value, "ListFields") else list(value):
                yield from _messages(one, but)


def source_facts(source: Any) -> dict[str, Any]:
    """The facts about a relation without a name: its paths, or the table behind JDBC, and the options of files."""
    options = {key.lower(): value for key, value in source.options.items()}
    if "url" in options:
        return {"url": options["url"], "table": options.get("dbtable") or f"({options.get('query', '')}) q"}
    found: dict[str, Any] = {"paths": tuple(source.paths) or tuple(filter(None, [options.get("path", "")]))}
    if options.get("recursivefilelookup", "").lower() == "true":
        found["recursive"] = True
    if source.format.lower() in ("csv", "text", "libsvm"):
        found |= {"header": options.get("header", "false"), "corrupt": options.get("columnnameofcorruptrecord", "")}
    return found


def facts_by_column(
    text: str, explained: str, reads: Mapping[str, list[Mapping[str, Any]]]
) -> dict[int, Mapping[str, Any]]:
    """The facts of the relations without a name, by the exprIds of their columns.

    Files are named by the scans of the physical plan, which have the same exprIds; what was pruned to no column, and
    what is no file, by the reads of the request and of its views, where there are as many.
    """
    found = {expr_id: facts for scan in SCAN.finditer(explained) for expr_id, facts in _scanned(scan)}
    for view, known in reads.items():
        here = relations(text, view, reads)
        if not known or len(here) % len(known):
            continue
        for columns, read in zip(here, cycle(known), strict=False):
            ids = expr_ids(columns)
            scanned = next((found[one] for one in ids if one in found), {})
            folders = {"paths": read["folders"]} if "folders" in read else {}
            found |= dict.fromkeys(ids, {**read, **scanned, **folders} if "url" not in read else read)
    return found


def _scanned(scan: re.Match[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """The files of a scan by its columns: those that are not read from a file are of partitions."""
    types = schema_types(scan["schema"] or "")
    names = [one.rpartition("#")[0] for one in scan["columns"].split(",")]
    facts: dict[str, Any] = {"paths": tuple(path.strip() for path in scan["paths"].split(", "))}
    if types:
        facts |= {"types": types, "partitions": tuple(name for name in names if name not in types)}
    return ((expr_id, facts) for expr_id in expr_ids(scan["columns"]))


def relations(text: str, view: str = "", views: Collection[str] = ()) -> list[str]:
    """The columns of each relation without a name below a view, of ``views`` the nearest above, or below none.

    One of a Python data source has the name of its format.
    """
    found: list[str] = []
    above: list[tuple[int, str]] = []
    for line in text.split("\n"):
        column = len(line) - len(re.sub(r"^[ :]*(?:[+:]- )?", "", line))
        while above and above[-1][0] >= column:
            above.pop()
        known = next((name for name in views if name and line.startswith(VIEW.format(name), column)), "")
        if known:
            above.append((column, known))
        relation = _RELATION.match(line, column)
        if relation and (above[-1][1] if above else "") == view:
            found.append(relation[1])
    return found


def without_schema(source: Any) -> Any:
    """The same files as they are without the schema; types are not looked for in them, which would read them all."""
    plain = copied(source)
    plain.ClearField("schema")
    for key in [key for key in plain.options if key.lower() == "inferschema"]:
        del plain.options[key]
    return plain


def copied(message: Any) -> Any:
    """The message by itself: a part of another holds the whole in memory."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def expr_ids(columns: str) -> list[int]:
    """The exprIds in a text of columns.

    >>> expr_ids("id#1L,name#2")
    [1, 2]
    """
    return [int(found) for found in re.findall(r"#(\d+)", columns)]
