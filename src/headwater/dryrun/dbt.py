"""Projects of dbt: the SQL that it compiled, as statements that make what each model is."""

import json
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from headwater.errors import SettingError
from headwater.yaml_map import read_yaml

PROJECT = "dbt_project.yml"
_OF_SPARK = ("spark", "databricks")


def compiled(project: Path) -> Iterator[tuple[str, str]]:
    """The file of each seed, model and snapshot of a project that is compiled, with a statement in Spark's SQL.

    That of a model in Python is empty. Each comes after those that it refers to.

    Raises:
        SettingError: the project is not compiled, or not in a dialect that can be read.
    """
    file = project / _target(project) / "manifest.json"
    try:
        manifest = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(f"There is no manifest of dbt in {file} ({error}); run dbt compile before.") from error
    nodes: Mapping[str, Mapping[str, Any]] = manifest["nodes"]
    graph = {key: [one for one in node["depends_on"].get("nodes", ()) if one in nodes] for key, node in nodes.items()}
    try:
        order = tuple(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise SettingError(f"The models in {file} depend on each other in a circle: {error.args[1]}.") from error
    for node in map(nodes.__getitem__, order):
        path = str(project / (node.get("compiled_path") or node["original_file_path"]))
        if node.get("language") == "python":
            yield path, ""
        elif statement := _statement(project, node, manifest["metadata"]["adapter_type"]):
            yield path, f"CREATE SCHEMA IF NOT EXISTS `{node['schema']}`; {statement}"


def _target(project: Path) -> str:
    return read_yaml(project / PROJECT).text("target-path", "target")


def _statement(project: Path, node: Mapping[str, Any], adapter: str) -> str:
    """The statement that makes a node; empty of those that make nothing: tests, and models inside others."""
    kind, name = node["resource_type"], f"`{node['schema']}`.`{node['alias']}`"
    if kind == "seed":
        path = str(project.absolute() / node["original_file_path"]).replace("'", "\\'")
        return f"CREATE TABLE {name} USING csv OPTIONS (path '{path}', header 'true', inferSchema 'true')"
    made = node["config"].get("materialized")
    if kind not in ("model", "snapshot") or made == "ephemeral":
        return ""
    if not node.get("compiled_code"):
        raise SettingError(f"The model {node['name']} is not compiled; run dbt compile before.")
    query = node["compiled_code"] if adapter in _OF_SPARK else _translated(node["compiled_code"], adapter, node["name"])
    using = f"TABLE {name} USING {node['config'].get('file_format') or 'parquet'}"
    return f"CREATE {f'VIEW {name}' if made == 'view' else using} AS {query}"


def _translated(query: str, adapter: str, model: str) -> str:
    """A query of another database in Spark's SQL, its tables without the name of that database."""
    from sqlglot import exp, parse_one  # other jobs need it not
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_one(query, dialect=adapter)
    except (SqlglotError, ValueError) as error:
        raise SettingError(f"The SQL of the model {model} ({adapter}) cannot be read: {error}.") from error
    for table in tree.find_all(exp.Table):
        table.set("catalog", None)
    return tree.sql(dialect="spark")
