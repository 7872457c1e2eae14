"""By which catalog a statement reached a dataset, and in which table format it is kept."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headwater.extract.scope import Extraction
from headwater.model import CatalogEntry, DatasetDescription, Storage
from headwater.openlineage.naming.locations import SESSION_CATALOG

Facts = Mapping[str, Any]

_LAYERS = ("delta", "iceberg", "hudi")
# Iceberg catalogs that are configured by a class in the place of a type.
_IMPLEMENTATIONS = {
    "DynamoDbCatalog": "dynamodb",
    "GlueCatalog": "glue",
    "HadoopCatalog": "hadoop",
    "HiveCatalog": "hive",
    "JdbcCatalog": "jdbc",
    "NessieCatalog": "nessie",
    "RESTCatalog": "rest",
    "SnowflakeCatalog": "snowflake",
}


def in_session_catalog(description: DatasetDescription, provider: str, extraction: Extraction) -> DatasetDescription:
    """The description of a table of the session's own catalog, of a source such as ``parquet`` or ``delta``."""
    session = extraction.session
    kind = str(session.get("catalogImplementation") or "in-memory")
    known = provider.lower()
    framework = known if known in _LAYERS else "hive" if kind == "hive" else "spark"
    metastore, warehouse = str(session.get("metastore") or ""), str(session.get("warehouse") or "")
    return replace(description, catalog=CatalogEntry(framework, kind, SESSION_CATALOG, metastore, warehouse))


def in_own_catalog(description: DatasetDescription, facts: Facts) -> DatasetDescription:
    """The description of a table of a catalog of the v2 API, as ``spark.sql.catalog.<name>`` configures it."""
    owner = str(facts.get("class") or "")
    url, uri = str(facts.get("url") or ""), str(facts.get("uri") or "")
    implementation = str(facts.get("implementation") or "").rpartition(".")[2]
    framework = "jdbc" if url else next((layer for layer in _LAYERS if layer in owner.lower()), "spark")
    kind = str(facts.get("type") or _IMPLEMENTATIONS.get(implementation, "")) or _kind(framework, uri)
    entry = CatalogEntry(framework, kind, str(facts.get("name") or ""), url or uri, str(facts.get("warehouse") or ""))
    return replace(description, catalog=entry)


def _kind(framework: str, uri: str) -> str:
    """The type of a catalog that does not say it: Iceberg takes Hive then (``CatalogUtil``)."""
    if framework == "iceberg":
        return "rest" if uri.startswith("http") else "hive"
    return framework


def stored(description: DatasetDescription, table: Facts) -> DatasetDescription:
    """The description of a table with its format and that of its files; itself where it has no table format."""
    provider = str(table.get("provider") or table.get("format") or "").lower()
    layer = next((layer for layer in _LAYERS if provider.startswith(layer)), "")
    if not layer:
        return description
    _, inner, files = str(table.get("format") or "").partition("/")
    return replace(description, storage=Storage(layer, files if inner else "parquet" if layer == "delta" else ""))
