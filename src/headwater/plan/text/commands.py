"""The commands at the root of a plan's text: what they write, and where."""

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from headwater.errors import PlanError
from headwater.model.nested_fields import name_parts
from headwater.plan.text.lines import tree
from headwater.plan.text.operator_text import OperatorText, attributes
from headwater.plan.text.tokens import split

Facts = dict[str, Any]


def create_table(parsed: OperatorText) -> Facts:
    """``CreateDataSourceTableAsSelectCommand `catalog`.`db`.`t`, ErrorIfExists, [a, b]``."""
    return {"table": _identifier(parsed.parts[0]), "mode": parsed.parts[1], "outputColumnNames": parsed.listed(2)}


def insert_into_files(parsed: OperatorText) -> Facts:
    """``InsertIntoHadoopFsRelationCommand file:/t, false, Parquet, [path=…], Append, `c`.`db`.`t`, …, [a, b]``."""
    table = next((part for part in parsed.parts[1:] if part.startswith("`")), "")
    mode = next((part for part in parsed.parts if part in ("Append", "Overwrite", "ErrorIfExists", "Ignore")), "")
    format_, options = _format_and_options(parsed)
    files = {"fileFormat": format_, "options": options, "partitions": _partitions(parsed)}
    found: Facts = {"outputPath": parsed.parts[0], "mode": mode, "outputColumnNames": parsed.last_list(), **files}
    if mode == "Overwrite" and _of_partitions(parsed):
        found["partial"] = True
    return {**found, "catalogTable": _identifier(table)} if table else found


def _of_partitions(parsed: OperatorText) -> bool:
    """Whether partitions or their columns stand before the format: how they are overwritten is not in the text."""
    return any(part.startswith("[") for part in _before_format(parsed))


def _before_format(parsed: OperatorText) -> list[str]:
    return list(takewhile(lambda part: part in ("true", "false") or part.startswith("["), parsed.parts[1:]))


def _partitions(parsed: OperatorText) -> tuple[str, ...]:
    """The columns of partitions before the format; constant ones of a statement are no columns of its query."""
    lists = [place for place, part in enumerate(_before_format(parsed), 1) if part.startswith("[")]
    return tuple(one.label for place in lists for one in attributes(parsed.listed(place)))


def _format_and_options(parsed: OperatorText) -> tuple[str, Mapping[str, str]]:
    """The format and the options after it: ``CSV, [header=true, path=file:/t]``."""
    place = 1 + len(_before_format(parsed))
    pairs = (one.partition("=") for one in parsed.listed(place + 1))
    return "".join(parsed.parts[place : place + 1]), {key.lower(): value for key, _, value in pairs}


def create_view(parsed: OperatorText) -> Facts:
    """``CreateViewCommand `catalog`.`db`.`v`, [(a,None)], SELECT …, false, false, PersistedView, …``."""
    names = (
        [re.sub(r"^\(?(.*?),(None|Some\(.*)\)$", r"\1", one) for one in parsed.listed(1)] if _has_list(parsed) else []
    )
    kind = next((part for part in parsed.parts if part in ("PersistedView", "LocalTempView", "GlobalTempView")), "")
    left_alone = bool(kind) and parsed.parts[parsed.parts.index(kind) - 2] == "true"
    return {
        "name": name_parts(parsed.parts[0]),
        "userSpecifiedColumns": tuple((name,) for name in names),
        "viewType": kind,
        "allowExisting": left_alone,
    }


def alter_view(parsed: OperatorText) -> Facts:
    """``AlterViewAsCommand `catalog`.`db`.`v`, SELECT …``."""
    return {"name": name_parts(parsed.parts[0])}


def insert_into_hive(parsed: OperatorText) -> Facts:
    """``InsertIntoHiveTable `catalog`.`db`.`t`, serde, {…}, overwrite, …, [a, b]``."""
    return {
        "table": _identifier(parsed.parts[0]),
        "overwrite": "true" in parsed.parts,
        "partial": True,  # of a table with partitions, which the text need not say
        "outputColumnNames": parsed.last_list(),
    }


def insert_into_directory(parsed: OperatorText) -> Facts:
    """``InsertIntoDataSourceDirCommand Storage(Location: file:/d, …), provider, overwrite``."""
    storage = parsed.parts[0]
    found = re.search(r"Location: ([^,)\]\n]+)", storage)
    header = re.search(r"(?i)\bheader=(\w+)", storage)
    facts = {"location": found[1] if found else "", "header": header[1] if header else ""}
    return {"storage": facts, "provider": "".join(parsed.parts[1:2])}


def write_v2(parsed: OperatorText) -> Facts:
    """``AppendData RelationV2[a#1, b#2] c.db.t, false``: the last part says whether columns go by name."""
    columns, _, name = parsed.parts[0].removeprefix("RelationV2[").rpartition("] ")
    by_name = parsed.parts[-1] == "true"
    names = () if by_name else tuple(column.rpartition("#")[0] for column in split(columns, {}))
    return {
        "tableDesc": {"identifier": tuple(name.split()[0].split("."))},
        "mode": "Append",
        "outputColumnNames": names,
    }


def overwrite_v2(parsed: OperatorText) -> Facts:
    """``OverwriteByExpression RelationV2[a#1] c.db.t, true, false``: the rows of a predicate, which may be all."""
    whole = len(parsed.parts) > 2 and parsed.parts[1] == "true"
    return {**write_v2(parsed), "mode": "Overwrite", **({} if whole else {"partial": True})}


def overwrite_v2_partitions(parsed: OperatorText) -> Facts:
    """``OverwritePartitionsDynamic RelationV2[a#1] c.db.t, true``."""
    return {**write_v2(parsed), "mode": "Overwrite", "partial": True}


def create_v2(parsed: OperatorText) -> Facts:
    """``CreateTableAsSelect TableSpec(…), false``, above it the name of the table as the catalog knows it."""
    left_alone = bool(parsed.parts) and parsed.parts[-1] == "true"
    return {"tableDesc": {"identifier": _resolved(parsed)}, "mode": "", "ignoreIfExists": left_alone}


def replace_v2(parsed: OperatorText) -> Facts:
    """``ReplaceTableAsSelect TableSpec(…), true``."""
    return {**create_v2(parsed), "mode": "Overwrite", "ignoreIfExists": False}


def create_empty(parsed: OperatorText) -> Facts:
    """``CreateTable TableSpec(…), false`` and ``CreateDataSourceTableCommand `c`.`db`.`t`, false``."""
    name = _resolved(parsed) or (name_parts(parsed.parts[0]) if parsed.parts else ())
    return {"changed": {"identifier": name}, "ignoreIfExists": bool(parsed.parts) and parsed.parts[-1] == "true"}


def updated_values(text: str) -> tuple[Mapping[str, str], str]:
    """The values of Delta's ``UpdateCommand …, [a#1, cast(a#1 as date)]`` by column, and the columns of its table.

    Raises:
        PlanError: the text is one of another plan.
    """
    root = tree(text)
    line = root
    while line.children or line.inner:
        line = (line.children or line.inner)[0]
    columns = re.search(r"\[(.*#\d+L?)\]", line.rest, re.DOTALL)
    values = split(split(root.rest, {})[-1][1:-1], {}) if root.name == "UpdateCommand" else []
    names = [one.rpartition("#")[0].strip() for one in columns[1].split(",")] if columns else []
    if not columns or len(values) != len(names):
        raise PlanError(f"The plan of an UPDATE with a value for each column was expected; met {text[:200]!r}.")
    return dict(zip(names, values, strict=True)), columns[1]


def _resolved(parsed: OperatorText) -> tuple[str, ...]:
    """The name in ``ResolvedIdentifier org.….SparkCatalog@1a2b, db.t``, without its catalog."""
    found = (plan.facts("identifier")["parts"] for plan in parsed.inputs if plan.name.startswith("ResolvedIdentifier"))
    return tuple(next(found, ()))


def _has_list(parsed: OperatorText) -> bool:
    return len(parsed.parts) > 1 and parsed.parts[1].startswith("[")


def _identifier(text: str) -> Facts:
    return {"identifier": name_parts(text)}


COMMANDS: Mapping[str, Callable[[OperatorText], Facts]] = {
    "AlterViewAsCommand": alter_view,
    "CreateDataSourceTableAsSelectCommand": create_table,
    "CreateHiveTableAsSelectCommand": create_table,
    "CreateViewCommand": create_view,
    "InsertIntoDataSourceDirCommand": insert_into_directory,
    "InsertIntoHadoopFsRelationCommand": insert_into_files,
    "InsertIntoHiveTable": insert_into_hive,
}
"""Commands that stand in a plan's text as a driver has them."""

V2_COMMANDS: Mapping[str, tuple[str, Callable[[OperatorText], Facts]]] = {
    "AppendData": ("SaveAsV1TableCommand", write_v2),
    "CreateDataSourceTableCommand": ("CreateTable", create_empty),
    "CreateTable": ("CreateTable", create_empty),
    "CreateTableAsSelect": ("SaveAsV1TableCommand", create_v2),
    "OverwriteByExpression": ("SaveAsV1TableCommand", overwrite_v2),
    "OverwritePartitionsDynamic": ("SaveAsV1TableCommand", overwrite_v2_partitions),
    "ReplaceTable": ("ReplaceTable", create_empty),
    "ReplaceTableAsSelect": ("SaveAsV1TableCommand", replace_v2),
}
"""Commands whose text lacks the catalog's side of the table: the command that stands for each, and what it says."""
