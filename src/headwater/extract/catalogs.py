"""Commands that write to tables of the v2 API: a catalog has them, or is about to make them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from headwater.extract.lifecycle import altered, columns_of, table_of
from headwater.extract.relations import connector_names, naming
from headwater.extract.relations.catalog_facts import stored
from headwater.extract.relations.leaves import note
from headwater.extract.relations.positions import names_in_files
from headwater.extract.scope import Extraction, attribute
from headwater.extract.trace import Paths, source
from headwater.extract.written import completed, mode, query, written
from headwater.model import DatasetDescription, InputField, Output, SchemaField
from headwater.plan import Operator

NO_TABLE = "NoopTable"
"""The table of ``format("noop")``: what is written to it is nowhere."""

_OF_ICEBERGS_ACTIONS = ("SparkCachedTableCatalog", "SparkRewriteTableCatalog")


def to_v2_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``INSERT INTO`` a table of the v2 API: by position to its columns, unless it says by name.

    Iceberg rewrites a table's files by writes into a catalog of its own: nothing is new in the table.
    """
    table = node.operator("table")
    if table and str(table.facts("catalog").get("class")).rpartition(".")[2] in _OF_ICEBERGS_ACTIONS:
        return ()
    if table and table.text("table") == NO_TABLE:
        return ()
    found = naming.v2_table(table, extraction)
    by_name = node.values.get("isByName") or table is None
    own = [attribute(column) for column in table.expressions("output")] if table else []
    names = None if by_name else [column.name for column in own]
    target = replace(found[0], schema=tuple(SchemaField(column.name, column.type) for column in own)) if found else None
    how = "OVERWRITE" if "Overwrite" in node.name else ""
    outputs = written(target, query(node, extraction), names, how, extraction)
    return completed(outputs, table.facts("table") if table else {}, extraction)


def create_v2_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """CTAS and RTAS of a v2 catalog: the name is a resolved identifier, with the place that the catalog gives it."""
    return written(_made(node, extraction), query(node, extraction), None, _how(node), extraction)


def create(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``CREATE TABLE`` without a query, ``LIKE`` too: a table with its columns and no rows.

    The tap leaves out a statement that finds the table there; where it cannot know, one that may have is left out too.
    """
    table = table_of(node, extraction)
    if table is None and not node.values.get("ignoreIfExists"):
        table = naming.table_description(node.facts("table"), extraction) or _made(node, extraction)
    if table is None:
        return ()
    return altered(table, _how(node), columns_of(node), traces=_found_there(table, node, extraction))


def _found_there(table: DatasetDescription, node: Operator, extraction: Extraction) -> Mapping[str, Paths]:
    """The columns of files that a new table finds at its location, where those are a part of another dataset.

    Who writes the month ``/k/2025/10`` writes ``/k``; a table at ``/k/2025`` has a name of its own.
    """
    folder = naming.folder_of(table, extraction)
    if node.facts("changed").get("kind") != "EXTERNAL" or folder.dataset == table.dataset:
        return {}
    columns, facts = columns_of(node), node.facts("changed")
    partitions = {str(name).lower() for name in facts.get("partitions") or ()}
    own = [column.name for column in columns if column.name.lower() not in partitions]
    format_ = str(facts.get("serde") if facts.get("provider") == "hive" else facts.get("provider"))
    in_files = dict(zip(own, names_in_files(format_, facts.get("header"), own), strict=True))
    note(folder, columns, extraction, in_files)
    return {one.name: source(InputField(folder.dataset, in_files.get(one.name, one.name))) for one in columns}


def _how(node: Operator) -> str:
    return "OVERWRITE" if node.name.startswith("Replace") else "CREATE"


def _made(node: Operator, extraction: Extraction) -> DatasetDescription | None:
    name = node.operator("name")
    place = str(node.facts("tableSpec").get("location") or (name.text("location") if name else ""))
    found = named_in_catalog(name, place, extraction)
    found = stored(found, node.facts("tableSpec")) if found else None
    return connector_names.named_by(node.facts("tableSpec").get("openlineage") or {}, found, extraction)


def create_v2_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``CREATE VIEW ice.db.v (a, b) AS SELECT`` in a catalog of Iceberg's: a view has no place."""
    target = named_in_catalog(node.operator("child"), "", extraction)
    return written(target, query(node, extraction), node.values.get("columnAliases"), "CREATE", extraction)


def named_in_catalog(name: Operator | None, place: str, extraction: Extraction) -> DatasetDescription | None:
    """The dataset of a resolved identifier, at the version that it has now; None where the plan has no identifier."""
    parts = tuple(name.facts("identifier").get("parts", ())) if name else ()
    if name is None or not parts:
        return None
    found = naming.in_catalog(name.facts("catalog"), parts, place, extraction)
    return replace(found, version=str(name.values.get("version") or ""))


def clone(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``CREATE TABLE … CLONE``: all columns as they are; without a query, as for ``LIKE``, it is empty."""
    if node.operator("query") is None:
        return create(node, extraction)
    target = naming.table_description(node.facts("table"), extraction)
    target = replace(target, version=node.text("current")) if target else None
    return written(target, query(node, extraction), None, mode(node) or "CREATE", extraction)
