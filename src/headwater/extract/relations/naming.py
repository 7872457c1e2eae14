"""From the facts the JVM side wrote about a table, a path or a JDBC relation to the datasets it is."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from headwater.extract.queries import is_query
from headwater.extract.relations.catalog_facts import in_own_catalog, in_session_catalog, stored
from headwater.extract.relations.connector_names import (
    PYTHON_TABLE,
    also_known_as,
    named_by,
    of_relation,
    python_dataset,
)
from headwater.extract.scope import Extraction
from headwater.model import Dataset, DatasetDescription, Symlink
from headwater.openlineage.naming.jdbc_url import jdbc_table
from headwater.openlineage.naming.locations import (
    SESSION_CATALOG,
    Catalog,
    catalog_dataset,
    jdbc_dataset,
    jdbc_source,
    kafka_namespace,
    kafka_topics,
    path_dataset,
)
from headwater.openlineage.naming.trimming import trim
from headwater.plan import Operator

Facts = Mapping[str, Any]
_VERSION = re.compile(r"(branch|tag)_.+|(snapshot_id|at_timestamp)_\d+")


def catalog(extraction: Extraction) -> Catalog:
    """Where the session's catalog keeps its tables."""
    session = extraction.session
    return Catalog(metastore=str(session.get("metastore") or ""), warehouse=str(session.get("warehouse") or ""))


def table_description(table: Facts, extraction: Extraction) -> DatasetDescription | None:
    """The dataset of a catalog table or view (Spark's CatalogTable); None without an identifier.

    A table without a database belongs to the session's current one; one behind JDBC is the table there, or where it is
    a query only the name in the catalog.
    Delta gives a table without a name the identifier ``delta.`/path```.
    """
    identifier = tuple(table.get("identifier", ()))
    if not identifier:
        return None
    if _is_path(identifier):
        return written_path(identifier[-1], extraction)
    options, provider = options_with_values(table.get("options") or {}), str(table.get("provider") or "")
    if "url" in options and "dbtable" in options:
        if is_query(options["dbtable"]):
            return catalog_name(table, extraction)
        behind = jdbc_description({"url": options["url"], "table": options["dbtable"]})
        return with_symlink(behind, named(identifier, "", extraction))
    found = in_session_catalog(named(identifier, str(table.get("location") or ""), extraction), provider, extraction)
    return stored(found, {"provider": provider})


def catalog_name(table: Facts, extraction: Extraction) -> DatasetDescription | None:
    """The catalog name of a table whose data is elsewhere, such as behind JDBC; None without an identifier.

    Spark gives such a table a location that nothing is ever written to.
    """
    identifier = tuple(table.get("identifier", ()))
    return named(identifier, "", extraction) if identifier else None


def named(identifier: tuple[str, ...], location: str, extraction: Extraction) -> DatasetDescription:
    """The dataset of a table by its catalog name and, where it has one, its location."""
    parts = identifier if len(identifier) > 1 else (str(extraction.session.get("database") or "default"), *identifier)
    return catalog_dataset(parts, location, catalog(extraction))


def path_descriptions(paths: Iterable[str], extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets at the paths that are read: partition directories and globs trimmed, each dataset once."""
    trimmed = [trim(_known_place("relation", path, extraction), extraction.settings.trimming) for path in paths]
    return tuple(DatasetDescription(dataset, source=dataset.namespace) for dataset in dict.fromkeys(trimmed))


def written_path(path: str, extraction: Extraction) -> DatasetDescription:
    """The dataset at a path that is written: in it a star is a letter."""
    dataset = trim(_known_place("target", path, extraction), extraction.settings.trimming.literal)
    return DatasetDescription(dataset, source=dataset.namespace)


def _known_place(kind: str, path: str, extraction: Extraction) -> Dataset:
    """The dataset at a path, and a gap of ``kind`` where a relative one says too little of where that is."""
    dataset = path_dataset(path)
    if dataset.namespace == "file" and not dataset.name.startswith("/"):
        extraction.report(kind, path, "a relative path: the folder that Spark looks it up in is not in the plan")
    return dataset


def folder_of(table: DatasetDescription, extraction: Extraction) -> DatasetDescription:
    """The dataset that the files at the location of a table belong to, for who writes and reads them by path."""
    dataset = trim(table.dataset, extraction.settings.trimming.literal)
    return DatasetDescription(dataset, source=dataset.namespace)


def options_with_values(options: Facts) -> dict[str, str]:
    """The options of a reader or writer that have a value, in lower case: Spark ignores case."""
    return {key.lower(): value for key, value in options.items() if value}


def kafka_descriptions(options: Facts, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The topics that the options of Spark's Kafka source name; empty where they are not such options.

    A pattern (``subscribePattern``) stands for topics that only the broker knows: it is the name, with a gap.
    """
    known = options_with_values(options)
    servers = known.get("kafka.bootstrap.servers")
    if not servers:
        return ()
    topics = list(kafka_topics(known))
    if known.get("subscribepattern"):
        extraction.report(
            "relation", known["subscribepattern"], "a pattern of topics: which it meets is not in the plan"
        )
        topics.append(Dataset(kafka_namespace(servers), known["subscribepattern"]))
    return tuple(DatasetDescription(topic, source=topic.namespace) for topic in topics)


def jdbc_description(relation: Facts) -> DatasetDescription:
    """The table behind a JDBC relation."""
    url = str(relation.get("url", ""))
    return DatasetDescription(jdbc_dataset(url, str(relation.get("table", ""))), source=jdbc_source(url))


def kafka_target(options: Facts, extraction: Extraction) -> DatasetDescription:
    """The topic in the option ``topic``; without it each row names its own in the column ``topic``."""
    found = kafka_descriptions({key: value for key, value in options.items() if key != "subscribe"}, extraction)
    if found:
        return found[0]
    extraction.report("target", "topic", "the column `topic` names a topic for each row, which only the rows know")
    return DatasetDescription(Dataset(kafka_namespace(str(options.get("kafka.bootstrap.servers"))), "unknown"))


def option_description(options: Facts, extraction: Extraction) -> DatasetDescription | None:
    """The target of a v1 source: a JDBC table, a topic or a path among its options; None for other sources."""
    by_key = options_with_values(options)
    table = by_key.get("dbtable") or by_key.get("table")
    if "url" in by_key and table:
        return jdbc_description({"url": by_key["url"], "table": table})
    if "kafka.bootstrap.servers" in by_key:
        return kafka_target(by_key, extraction)
    return written_path(by_key["path"], extraction) if "path" in by_key else None


def with_symlink(description: DatasetDescription, symlink: DatasetDescription | None) -> DatasetDescription:
    """The same dataset, also known by the name of ``symlink``."""
    if symlink is None or symlink.dataset == description.dataset:
        return description
    return replace(description, symlinks=(*description.symlinks, Symlink(symlink.dataset)))


def in_catalog(facts: Facts, parts: tuple[str, ...], location: str, extraction: Extraction) -> DatasetDescription:
    """The dataset of a table that a catalog of the v2 API has, or is about to make.

    A path in the place of a name (``delta.`/path```, Iceberg's PathIdentifier) is a dataset without a catalog name.
    """
    url, owner = str(facts.get("url") or ""), str(facts.get("name") or "")
    if url:
        return in_own_catalog(DatasetDescription(jdbc_table(url, parts), source=jdbc_source(url)), facts)
    if _is_path(parts):
        return written_path(parts[-1] if _is_absolute(parts[-1]) else location or "/".join(parts), extraction)
    if owner in ("", SESSION_CATALOG):
        provider = "delta" if "delta" in str(facts.get("class")).lower() else ""
        return in_session_catalog(
            named((owner, *parts) if owner else parts, location, extraction), provider, extraction
        )
    return in_own_catalog(catalog_dataset((owner, *parts), location, _own_catalog(facts, extraction)), facts)


def _own_catalog(facts: Facts, extraction: Extraction) -> Catalog:
    """Where a catalog keeps its tables by its own settings (``spark.sql.catalog.<name>.warehouse`` and ``.uri``)."""
    uri, warehouse = str(facts.get("uri") or ""), str(facts.get("warehouse") or "")
    if uri.startswith("thrift:"):
        return Catalog(metastore=uri, warehouse=warehouse)
    if uri.startswith(("http:", "https:")):
        return Catalog(service=uri, warehouse=warehouse)
    return Catalog(warehouse=warehouse) if warehouse else catalog(extraction)


def _is_path(parts: Sequence[str]) -> bool:
    """True when a table goes by where it is: no name of a table or a database begins like that."""
    return len(parts) > 1 and any(map(_is_absolute, parts))


def _is_absolute(part: str) -> bool:
    return part.startswith("/") or ":/" in part


def relation_descriptions(node: Operator, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets of a relation of either API: those of an extension, a table of the catalog, else the paths read."""
    if (known := extraction.relations.get(node)) is not None:
        return known
    if node.name == "DataSourceV2Relation":
        return v2_descriptions(node.values, extraction)
    relation, named = node.facts("relation"), of_relation(node)
    table = table_description(node.facts("catalogTable") or relation.get("catalogTable") or {}, extraction)
    if named:
        return _at_version((also_known_as(named, table),), relation)
    found = (table,) if table else path_descriptions(relation.get("paths") or (), extraction)
    return _at_version(found, relation)


def v2_table(node: Operator | None, extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets of a relation of the v2 API that a command writes to; none for None."""
    if node is None:
        return ()
    known = extraction.relations.get(node)
    return v2_descriptions(node.values, extraction) if known is None else known


def v2_descriptions(node_values: Mapping[str, Any], extraction: Extraction) -> tuple[DatasetDescription, ...]:
    """The datasets of a DataSourceV2Relation: files by path, a JDBC table, or a table of a catalog."""
    table = node_values.get("table") or {}
    found = _v2_descriptions(node_values, extraction)
    if table.get("openlineage"):
        named = named_by(table["openlineage"], found[0] if found else None, extraction)
        found = (named,) if named else found
    return _at_version(found, table)


def _at_version(descriptions: tuple[DatasetDescription, ...], facts: Facts) -> tuple[DatasetDescription, ...]:
    """The datasets with their table format, and the version that the plan was made for, where they have these."""
    version = str(facts.get("version") or "")
    located = tuple(stored(description, facts) for description in descriptions)
    return tuple(replace(description, version=version) for description in located) if version else located


def _v2_descriptions(node_values: Mapping[str, Any], extraction: Extraction) -> tuple[DatasetDescription, ...]:
    table = node_values.get("table") or {}
    known = table_description(table.get("catalogTable") or {}, extraction)
    if known:
        return (known,)
    if table.get("paths"):
        return path_descriptions(table["paths"], extraction)
    if table.get("url"):
        return (jdbc_description(table),)
    identifier = tuple((node_values.get("identifier") or {}).get("parts", ()))
    if identifier:
        location, facts = str(table.get("location") or ""), node_values.get("catalog") or {}
        if table.get("changes"):
            return (in_catalog(facts, identifier[:-1], location, extraction),)
        parts = _without_version(identifier) if table.get("provider") == "iceberg" else identifier
        found = in_catalog(facts, parts, location, extraction)
        return (_about(found, parts[-1]),) if table.get("metadata") else (found,)
    name = str(table.get("name") or "")
    options = options_with_values(node_values.get("options") or {}) if table.get("class") == PYTHON_TABLE else {}
    return (_of_source(name, options, extraction),) if name else ()


def _of_source(name: str, options: Mapping[str, str], extraction: Extraction) -> DatasetDescription:
    """A data source without a catalog; one written in Python says by options where its data is, by path as files do."""
    path = options.get("path", "")
    if _is_absolute(path):
        return written_path(path, extraction)
    found = python_dataset(name, options)
    return DatasetDescription(found, source=found.namespace if options else "")


def _about(table: DatasetDescription, kind: str) -> DatasetDescription:
    """A table that Iceberg keeps about a table (``t.snapshots``): ``/place/of/t#snapshots``, as it is read by path."""
    dataset = table.dataset
    return replace(table, dataset=Dataset(dataset.namespace, f"{dataset.name}#{kind.rpartition('#')[2]}"))


def subject(metadata: DatasetDescription) -> DatasetDescription:
    """The table that a metadata table is about, by the place that both have."""
    dataset = metadata.dataset
    return DatasetDescription(Dataset(dataset.namespace, dataset.name.rpartition("#")[0]), source=metadata.source)


def _without_version(parts: tuple[str, ...]) -> tuple[str, ...]:
    """A table's name without the branch, tag, snapshot or time that Iceberg takes as one part more (SparkCatalog)."""
    return parts[:-1] if len(parts) > 1 and _VERSION.fullmatch(parts[-1]) else parts
