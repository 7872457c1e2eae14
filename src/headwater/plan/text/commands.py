"""The commands at the root of a plan's text: what they write, and where."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from headwater.plan.text.said import Said

Facts = dict[str, Any]


def create_table(said: Said) -> Facts:
    """``CreateDataSourceTableAsSelectCommand `catalog`.`db`.`t`, ErrorIfExists, [a, b]``."""
    return {"table": _identifier(said.parts[0]), "mode": said.parts[1], "outputColumnNames": said.listed(2)}


def insert_into_files(said: Said) -> Facts:
    """``InsertIntoHadoopFsRelationCommand file:/t, false, Parquet, [path=…], Append, `c`.`db`.`t`, …, [a, b]``."""
    table = next((part for part in said.parts[1:] if part.startswith("`")), "")
    mode = next((part for part in said.parts if part in ("Append", "Overwrite", "ErrorIfExists", "Ignore")), "")
    found: Facts = {"outputPath": said.parts[0], "mode": mode, "outputColumnNames": said.last_list()}
    return {**found, "catalogTable": _identifier(table)} if table else found


def create_view(said: Said) -> Facts:
    """``CreateViewCommand `catalog`.`db`.`v`, [(a,None)], SELECT …, false, false, PersistedView, …``."""
    names = [re.sub(r"^\(?(.*?),(None|Some\(.*)\)$", r"\1", one) for one in said.listed(1)] if _has_list(said) else []
    kind = next((part for part in said.parts if part in ("PersistedView", "LocalTempView", "GlobalTempView")), "")
    return {"name": _parts(said.parts[0]), "userSpecifiedColumns": tuple((name,) for name in names), "viewType": kind}


def alter_view(said: Said) -> Facts:
    """``AlterViewAsCommand `catalog`.`db`.`v`, SELECT …``."""
    return {"name": _parts(said.parts[0])}


def insert_into_hive(said: Said) -> Facts:
    """``InsertIntoHiveTable `catalog`.`db`.`t`, serde, {…}, overwrite, …, [a, b]``."""
    return {
        "table": _identifier(said.parts[0]),
        "overwrite": "true" in said.parts,
        "outputColumnNames": said.last_list(),
    }


def insert_into_directory(said: Said) -> Facts:
    """``InsertIntoDataSourceDirCommand Storage(Location: file:/d, …), provider, overwrite``."""
    found = re.search(r"Location: ([^,)\]\n]+)", ", ".join(said.parts))
    return {"storage": {"location": found[1] if found else ""}}


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
