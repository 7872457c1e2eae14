"""Commands that write to tables of the v2 API: a catalog has them, or is about to make them."""

from collections.abc import Sequence
from dataclasses import replace

from headwater.extract.relations import naming
from headwater.extract.scope import Extraction
from headwater.extract.written import completed, query, written
from headwater.model import DatasetDescription, Output
from headwater.plan import Operator


def to_v2_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``INSERT INTO`` a table of the v2 API: by position to its columns, unless it says by name."""
    table = node.operator("table")
    found = naming.v2_descriptions(table.values, extraction) if table else ()
    by_name = node.values.get("isByName") or table is None
    names = None if by_name or table is None else [column.label for column in table.expressions("output")]
    how = "OVERWRITE" if "Overwrite" in node.name else ""
    outputs = written(found[0] if found else None, query(node, extraction), names, how, extraction)
    return completed(outputs, table.facts("table") if table else {}, extraction)


def create_v2_table(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """CTAS and RTAS of a v2 catalog: the name is a resolved identifier, with the place that the catalog gives it."""
    name = node.operator("name")
    place = str(node.facts("tableSpec").get("location") or (name.text("location") if name else ""))
    target = _named(name, place, extraction)
    how = "OVERWRITE" if node.name.startswith("Replace") else "CREATE"
    return written(target, query(node, extraction), None, how, extraction)


def create_v2_view(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """``CREATE VIEW ice.db.v (a, b) AS SELECT`` in a catalog of Iceberg's: a view has no place."""
    target = _named(node.operator("child"), "", extraction)
    return written(target, query(node, extraction), node.values.get("columnAliases"), "CREATE", extraction)


def _named(name: Operator | None, place: str, extraction: Extraction) -> DatasetDescription | None:
    """The dataset of a resolved identifier, at the version that it has now."""
    parts = tuple(name.facts("identifier").get("parts", ())) if name else ()
    if name is None or not parts:
        return None
    found = naming.in_catalog(name.facts("catalog"), parts, place, extraction)
    return replace(found, version=str(name.values.get("version") or ""))


def clone(node: Operator, extraction: Extraction) -> Sequence[Output]:
    """Delta's ``CREATE TABLE … CLONE``: all columns as they are; without a query the table is empty."""
    if node.operator("query") is None:
        return ()
    target = naming.table_description(node.facts("table"), extraction)
    return written(target, query(node, extraction), None, "CREATE", extraction)
