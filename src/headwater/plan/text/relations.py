"""The leaves of a plan's text: which table, and what it says of files."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from headwater.plan.text.bodies import Body
from headwater.plan.text.operator_text import column
from headwater.plan.tree import Expression, Operator

_RELATION = re.compile(r"(?P<table>[^\[]*)\[(?P<columns>.*?)\](?P<rest>[^\]]*)", re.DOTALL)
_COLUMN = re.compile(r"(?P<name>.*?)#(?P<id>\d+)L?(?:,\s?|$)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class TextFacts:
    """Facts that a text does not have and the server was asked for.

    ``tables`` has the facts of catalog tables by their full name, as extraction expects them of a ``CatalogTable``,
    with the types of the columns under ``types``. ``sources`` are the facts of the relations without a name, by the
    exprIds of their columns. ``session`` is that of `Plan`. ``functions`` are the bodies of SQL functions by the names
    that the text has for them; ``program`` says that the request has rows of the program. ``transposed`` are the texts
    of the plans whose rows are the columns of a ``Transpose``, in the order of these.
    """

    tables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    sources: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    session: Mapping[str, Any] = field(default_factory=dict)
    functions: Mapping[str, Body] = field(default_factory=dict)
    program: bool = False
    transposed: tuple[str, ...] = ()

    def with_tables(self, tables: Mapping[str, Mapping[str, Any]]) -> "TextFacts":
        """The same with further tables."""
        return replace(self, tables={**self.tables, **tables})

    def with_transposed(self, parts: Sequence[tuple[str, "TextFacts"]]) -> "TextFacts":
        """The same with the texts of plans whose rows became columns, and the facts that these lack."""
        found = self
        for text, facts in parts:
            found = replace(
                found,
                tables={**found.tables, **facts.tables},
                sources={**found.sources, **facts.sources},
                functions={**found.functions, **facts.functions},
                transposed=(*found.transposed, text),
            )
        return found


def tables_of(text: str) -> tuple[str, ...]:
    """The full names of the catalog tables that a plan's text reads.

    >>> tables_of("Project [a#1]\\n+- Relation spark_catalog.default.t[a#1,b#2] parquet")
    ('spark_catalog.default.t',)
    """
    return tuple(dict.fromkeys(name for line in text.split("\n") if (name := _table(line))))


def _table(line: str) -> str:
    """The full name of the table that a line reads; empty when it reads none."""
    if found := re.match(r"[ :]*(?:[+:]- )?~?StreamingRelationV2 ([^,@\n]+),", line):
        return found[1]
    if found := re.match(r"[ :]*(?:[+:]- )?HiveTableRelation \[([^,\n]+),", line):
        return found[1].replace("`", "")
    found = re.match(r"[ :]*(?:[+:]- )?(?:Relation ([^\[\n]+)\[|RelationV2\[.*\] (\S+))", line)
    return (found[1] or found[2]).strip() if found else ""


def relation(text: str, facts: TextFacts) -> Operator:
    """The leaf of ``Relation …``."""
    found = _RELATION.fullmatch(text)
    if found is None:
        return Operator("Relation", (), {}, {})
    table = found["table"].strip()
    ids = [int(one["id"]) for one in _COLUMN.finditer(found["columns"])]
    source = next((facts.sources[one] for one in ids if one in facts.sources), {})
    known = facts.tables.get(table, {}) if table else source
    output = _columns(found["columns"], known.get("types", {}))
    if table:
        values = {"catalogTable": {"identifier": tuple(table.split(".")), **known}}
    else:
        values = {"relation": {**known, **_in_files(known, found["rest"].strip(), output)}}
    return Operator("LogicalRelation", (), {"output": output}, values)


def _in_files(facts: Mapping[str, Any], format_: str, output: Sequence[Expression]) -> Mapping[str, Any]:
    """The places of columns in files that do not keep their names; of CSV where the request says whether they do."""
    if format_ != "text" and "header" not in facts:
        return {}
    folders = (*facts.get("partitions", ()), "_metadata")
    found = {"format": format_, "positions": tuple(one.label for one in output if one.label not in folders)}
    return {**found, "names": tuple(name for name in facts.get("names", ()) if name not in folders)}


def relation_v2(text: str, facts: TextFacts) -> Operator:
    """The leaf of ``RelationV2[a#1] catalog.db.t catalog.db.t``."""
    found = _RELATION.fullmatch(text)
    table = found["rest"].split()[0] if found and found["rest"].split() else ""
    known = facts.tables.get(table, {})
    ids = [int(one["id"]) for one in _COLUMN.finditer(found["columns"])] if found else []
    if source := next((facts.sources[one] for one in ids if one in facts.sources), None):
        output = _columns(found["columns"] if found else "", {})
        return Operator("DataSourceV2Relation", (), {"output": output}, _of_format(table, source))
    owner, *parts = table.split(".") if table else [""]
    values = {
        "table": {"location": known.get("location", ""), "provider": known.get("provider", ""), "name": table},
        "catalog": {"name": owner},
        "identifier": {"parts": tuple(parts)},
    }
    output = _columns(found["columns"] if found else "", known.get("types", {}))
    return Operator("DataSourceV2Relation", (), {"output": output}, values)


def _of_format(name: str, source: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values of a relation of the v2 API that no catalog has, such as a Python data source."""
    paths = source.get("paths", ())
    return {"table": {"name": name, "class": "PythonTable"}, "options": {"path": paths[0]} if paths else {}}


def streaming_relation(text: str, facts: TextFacts) -> Operator:
    """The leaf of ``StreamingRelation DataSource(…, Map(path -> /d, …), None), FileSource[/d], [a#1]``."""
    source: dict[str, Any] = {"options": _options(r"Map\((.*?)\),", " -> ", text)}
    if path := source["options"].get("path"):
        source["path"] = path
    named = [re.search(rf"(?m)^{key}: (\S+)$", text) for key in ("Catalog", "Database", "Table")]
    name = [found[1] for found in named if found]
    if len(name) == len(named):
        source["catalogTable"] = facts.tables.get(".".join(name), {"identifier": tuple(name)})
    return Operator("StreamingRelation", (), {"output": _last_columns(text)}, {"dataSource": source})


def streaming_relation_v2(text: str, facts: TextFacts) -> Operator:
    """The leaf of ``StreamingRelationV2 source, name, table, [a=b], [a#1], catalog, db.t``."""
    first, name, rest = (*text.split(", ", 2), "", "")[:3]
    values: dict[str, Any] = {"sourceName": name, "extraOptions": _options(r", \[(.*?)\], \[", "=", f", {rest}")}
    if "@" not in first and "." in first:
        owner, *parts = first.split(".")
        known = facts.tables.get(first, {})
        values |= {
            "table": {"location": known.get("location", ""), "provider": known.get("provider", ""), "name": first},
            "catalog": {"name": owner},
            "identifier": {"parts": tuple(parts)},
        }
    return Operator("StreamingRelationV2", (), {"output": _last_columns(text)}, values)


def local_relation(text: str, facts: TextFacts) -> Operator:
    """The leaf of ``LocalRelation [a#1, b#2]``; without rows ``LocalRelation <empty>, [a#1]``."""
    program = facts.program and not text.startswith("<empty>")
    return Operator("LocalRelation", (), {"output": _last_columns(text)}, {"program": program})


def _options(pattern: str, sign: str, text: str) -> dict[str, str]:
    found = re.search(pattern, text, re.DOTALL)
    pairs = (pair.partition(sign) for pair in found[1].split(", ")) if found else ()
    return {key.strip(): value.strip() for key, _, value in pairs if value}


def _last_columns(text: str) -> tuple[Expression, ...]:
    lists = re.findall(r"\[((?:[^\[\]]*#\d+L?(?:, )?)+)\]", text)
    return _columns(lists[-1], {}) if lists else ()


def hive_relation(text: str, facts: TextFacts) -> Operator:
    """The leaf of ``HiveTableRelation [`catalog`.`db`.`t`, serde, Data Cols: [a#1], Partition Cols: [p#2]]``."""
    name = ".".join(re.findall(r"`([^`]+)`", text.partition(",")[0]))
    known = facts.tables.get(name, {"identifier": tuple(name.split("."))})
    lists = re.findall(r"(?:Data|Partition) Cols: \[(.*?)\]", text)
    output = tuple(one for listed in lists for one in _columns(listed, known.get("types", {})))
    return Operator("HiveTableRelation", (), {"output": output}, {"tableMeta": known})


def _columns(text: str, types: Mapping[str, str]) -> tuple[Expression, ...]:
    found = (column(f"{one['name']}#{one['id']}") for one in _COLUMN.finditer(text))
    return tuple(_typed(one, types) for one in found if one is not None)


def _typed(attribute: Expression, types: Mapping[str, str]) -> Expression:
    more: dict[str, Any] = {"dataType": types[attribute.label]} if attribute.label in types else {}
    if attribute.label == "_metadata":  # of files, unless the data has a column of that name, as its type shows
        more = more or {"metadataColumn": True}
    return Expression("AttributeReference", (), {}, {**attribute.values, **more})


LEAVES: Mapping[str, Callable[[str, TextFacts], Operator]] = {
    "HiveTableRelation": hive_relation,
    "LocalRelation": local_relation,
    "Relation": relation,
    "RelationV2": relation_v2,
    "StreamingRelation": streaming_relation,
    "StreamingRelationV2": streaming_relation_v2,
}
