"""A table before and after ``ALTER TABLE … RENAME TO``: which of its names change depends on who keeps its files."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headwater.extract.relations import naming
from headwater.extract.scope import Extraction
from headwater.model import DatasetDescription
from headwater.openlineage.naming.jdbc import jdbc_table
from headwater.plan import Operator

Renamed = tuple[DatasetDescription, DatasetDescription]
"""A table by its former and by its present names."""


def renamed_session_table(node: Operator, extraction: Extraction) -> Renamed | None:
    """A table or view of the session's catalog; None for a temporary view.

    When the rename was over before the catalog could be asked, it knows the table by its new name.
    """
    before, after = node.facts("changed"), node.facts("renamed")
    if before:
        return _renamed(before, _moved(before, _last(node, "newName")), extraction)
    return _renamed(_moved(after, _last(node, "oldName")), after, extraction) if after else None


def renamed_v2_table(node: Operator, table: Operator, extraction: Extraction) -> Renamed | None:
    """A table of a catalog of the v2 API: it keeps its location, unless the session's catalog moves it."""
    new = tuple(node.values.get("newName") or ())
    facts = table.facts("table")
    known = facts.get("catalogTable") or {}
    if known and new:
        return _renamed(known, _moved(known, new[-1].lower()), extraction)
    found = naming.v2_descriptions(table.values, extraction)
    if not found or not new:
        return None
    parts = _in_full(new, tuple(table.facts("identifier").get("parts", ())), str(table.facts("catalog").get("name")))
    if facts.get("url"):
        return found[0], replace(found[0], dataset=jdbc_table(str(facts["url"]), parts))
    return found[0], naming.in_catalog(table.facts("catalog"), parts, str(facts.get("location") or ""), extraction)


def _in_full(new: tuple[str, ...], old: tuple[str, ...], catalog: str) -> tuple[str, ...]:
    """The new name with its namespace: a bare one stays in that of the old, and the catalog may stand before it."""
    if len(new) == 1:
        return (*old[:-1], *new)
    return new[1:] if len(new) == len(old) + 1 and new[0] == catalog else new


def _last(node: Operator, field: str) -> str:
    identifier = tuple(node.values.get(field) or ("",))
    return str(identifier[-1]).lower()


def _moved(table: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The table by another name: a managed one whose folder has its name moves too (ExternalCatalog.renameTable)."""
    identifier, location = tuple(table["identifier"]), str(table.get("location") or "")
    folder, _, own = location.rstrip("/").rpartition("/")
    if table.get("kind") == "MANAGED" and own.lower() == identifier[-1].lower():
        location = f"{folder}/{name}"
    return {**table, "identifier": (*identifier[:-1], name), "location": location}


def _renamed(before: Mapping[str, Any], after: Mapping[str, Any], extraction: Extraction) -> Renamed | None:
    former, present = (naming.table_description(table, extraction) for table in (before, after))
    return (former, present) if former and present else None
