"""The commands at the root of a plan's text: what they write, and where."""

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from headwater.errors import PlanError
from headwater.plan.text.lines import tree
from headwater.plan.text.said import Said
from headwater.plan.text.tokens import split

Facts = dict[str, Any]


def create_table(said: Said) -> Facts:
    """``CreateDataSourceTableAsSelectCommand `catalog`.`db`.`t`, ErrorIfExists, [a, b]``."""
    return {"table": _identifier(said.parts[0]), "mode": said.parts[1], "outputColumnNames": said.listed(2)}


def insert_into_files(said: Said) -> Facts:
    """``InsertIntoHadoopFsRelationCommand file:/t, false, Parquet, [path=…], Append, `c`.`db`.`t`, …, [a, b]``."""
    table = next((part for part in said.parts[1:] if part.startswith("`")), "")
    mode = next((part for part in said.parts if part in ("Append", "Overwrite", "ErrorIfExists", "Ignore")), "")
    found: Facts = {"outputPath": said.parts[0], "mode": mode, "outputColumnNames": said.last_list()}
    if mode == "Overwrite" and _of_partitions(said):
        found["partial"] = True
    return {**found, "catalogTable": _identifier(table)} if table else found


def _of_partitions(said: Said) -> bool:
    """Whether static partitions or partition columns stand before the format: how they are overwritten is not said."""
    before = takewhile(lambda part: part in ("true", "false") or part.startswith("["), said.parts[1:])
    return any(part.startswith("[") for part in before)


def create_view(said: Said) -> Facts:
    """``CreateViewCommand `catalog`.`db`.`v`, [(a,None)], SELECT …, false, false, PersistedView, …``."""
    names = [re.sub(r"^\(?(.*?),(None|Some\(.*)\)$", r"\1", one) for one in said.listed(1)] if _has_list(said) else []
    kind = next((part for part in said.parts if part in ("PersistedView", "LocalTempView", "GlobalTempView")), "")
    left_alone = bool(kind) and said.parts[said.parts.index(kind) - 2] == "true"
    return {
        "name": _parts(said.parts[0]),
        "userSpecifiedColumns": tuple((name,) for name in names),
        "viewType": kind,
        "allowExisting": left_alone,
    }


def alter_view(said: Said) -> Facts:
    """``AlterViewAsCommand `catalog`.`db`.`v`, SELECT …``."""
    return {"name": _parts(said.parts[0])}


def insert_into_hive(said: Said) -> Facts:
    """``InsertIntoHiveTable `catalog`.`db`.`t`, serde, {…}, overwrite, …, [a, b]``."""
    return {
        "table": _identifier(said.parts[0]),
        "overwrite": "true" in said.parts,
        "partial": True,  # of a table with partitions, which the text need not say
        "outputColumnNames": said.last_list(),
    }


def insert_into_directory(said: Said) -> Facts:
    """``InsertIntoDataSourceDirCommand Storage(Location: file:/d, …), provider, overwrite``."""
    found = re.search(r"Location: ([^,)\]\n]+)", ", ".join(said.parts))
    return {"storage": {"location": found[1] if found else ""}}


def write_v2(said: Said) -> Facts:
    """``AppendData RelationV2[a#1, b#2] c.db.t, false``: the last part says whether columns go by name."""
    columns, _, name = said.parts[0].removeprefix("RelationV2[").rpartition("] ")
    by_name = said.parts[-1] == "true"
    names = () if by_name else tuple(column.rpartition("#")[0] for column in split(columns, {}))
    return {
        "tableDesc": {"identifier": tuple(name.split()[0].split("."))},
        "mode": "Append",
        "outputColumnNames": names,
    }


def overwrite_v2(said: Said) -> Facts:
    """``OverwriteByExpression RelationV2[a#1] c.db.t, true, false``: the rows of a predicate, which may be all."""
    whole = len(said.parts) > 2 and said.parts[1] == "true"
    return {**write_v2(said), "mode": "Overwrite", **({} if whole else {"partial": True})}


def overwrite_v2_partitions(said: Said) -> Facts:
    """``OverwritePartitionsDynamic RelationV2[a#1] c.db.t, true``."""
    return {**write_v2(said), "mode": "Overwrite", "partial": True}


def create_v2(said: Said) -> Facts:
    """``CreateTableAsSelect TableSpec(…), false``, above it the name of the table as the catalog knows it."""
    left_alone = bool(said.parts) and said.parts[-1] == "true"
    return {"tableDesc": {"identifier": _resolved(said)}, "mode": "", "ignoreIfExists": left_alone}


def replace_v2(said: Said) -> Facts:
    """``ReplaceTableAsSelect TableSpec(…), true``."""
    return {**create_v2(said), "mode": "Overwrite", "ignoreIfExists": False}


def create_empty(said: Said) -> Facts:
    """``CreateTable TableSpec(…), false`` and ``CreateDataSourceTableCommand `c`.`db`.`t`, false``."""
    name = _resolved(said) or (_parts(said.parts[0]) if said.parts else ())
    return {"changed": {"identifier": name}, "ignoreIfExists": bool(said.parts) and said.parts[-1] == "true"}


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


def _resolved(said: Said) -> tuple[str, ...]:
    """The name in ``ResolvedIdentifier org.….SparkCatalog@1a2b, db.t``, without its catalog."""
    found = [plan.text("text") for plan in said.inputs if plan.name.startswith("ResolvedIdentifier")]
    return tuple(found[0].rpartition(", ")[2].split(".")) if found else ()


def _has_list(said: Said) -> bool:
    return len(said.parts) > 1 and said.parts[1].startswith("[")


def _parts(text: str) -> tuple[str, ...]:
    return tuple(name.replace("``", "`") for name in re.findall(r"`((?:[^`]|``)+)`", text)) or tuple(text.split("."))


def _identifier(text: str) -> Facts:
    return {"identifier": _parts(text)}


COMMANDS: Mapping[str, Callable[[Said], Facts]] = {
    "AlterViewAsCommand": alter_view,
    "CreateDataSourceTableAsSelectCommand": create_table,
    "CreateHiveTableAsSelectCommand": create_table,
    "CreateViewCommand": create_view,
    "InsertIntoDataSourceDirCommand": insert_into_directory,
    "InsertIntoHadoopFsRelationCommand": insert_into_files,
    "InsertIntoHiveTable": insert_into_hive,
}
"""Commands that stand in a plan's text as a driver has them."""

V2_COMMANDS: Mapping[str, tuple[str, Callable[[Said], Facts]]] = {
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
