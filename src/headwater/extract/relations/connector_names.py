"""Datasets as connectors themselves name them: by ``LineageRelation`` and by the properties of a table.

A table of the v2 API says by ``openlineage.dataset.name`` and ``openlineage.dataset.namespace`` which dataset it is
(both, or it says nothing), and by ``openlineage.dataset.facets.<name>`` more of it, each a JSON object.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from headwater.extract.scope import Extraction
from headwater.model import Dataset, DatasetDescription, Facet, Symlink
from headwater.openlineage.naming.locations import path_dataset
from headwater.plan import Operator

Facts = Mapping[str, Any]
PYTHON_TABLE = "PythonTable"
"""The class of the table that Spark has for each data source written in Python (``spark.dataSource.register``)."""

_PARTS = ("database", "dbtable", "table", "collection", "topic", "subscribe", "path")
_UNNAMED = "inmemory://"


def described(identifier: Facts) -> DatasetDescription | None:
    """The dataset of an OpenLineage identifier: namespace, name and symlinks; None without the first two."""
    dataset = _dataset(identifier)
    if dataset is None:
        return None
    symlinks = [
        Symlink(other, str(link.get("type") or "TABLE"))
        for link in identifier.get("symlinks") or ()
        if (other := _dataset(link))
    ]
    return DatasetDescription(dataset, symlinks=tuple(symlinks), source=dataset.namespace)


def of_relation(node: Operator | None) -> DatasetDescription | None:
    """The dataset that the relation of an operator, or the provider of a command, says that it is; None without."""
    identifier = node.facts("openlineage").get("relation") if node else None
    return described(identifier) if identifier else None


def named_by(
    properties: Facts, description: DatasetDescription | None, extraction: Extraction
) -> DatasetDescription | None:
    """A dataset as the properties of its table name it, with their facets; the name found without them is a symlink."""
    if not properties:
        return description
    own = described(properties)
    if own is None and (properties.get("name") or properties.get("namespace")):
        why = "of openlineage.dataset.name and openlineage.dataset.namespace one is missing: a table has both or none"
        extraction.report("extension", str(properties.get("name") or properties.get("namespace")), why)
    named = also_known_as(own, description) if own else description
    if named is None:
        return None
    facets = tuple(Facet(name, content) for name, content in sorted((properties.get("facets") or {}).items()))
    return replace(named, facets=(*named.facets, *facets))


def also_known_as(by_connector: DatasetDescription, description: DatasetDescription | None) -> DatasetDescription:
    """The dataset as its connector names it, with all else that was found out of it, the name too."""
    if description is None:
        return by_connector
    own = description.dataset
    known = () if own == by_connector.dataset or own.namespace.startswith(_UNNAMED) else (Symlink(own),)
    symlinks = tuple(dict.fromkeys((*by_connector.symlinks, *known, *description.symlinks)))
    return replace(description, dataset=by_connector.dataset, source=by_connector.source, symlinks=symlinks)


def facets_of_connector(text: object, of: str, what: str, extraction: Extraction) -> Iterator[Facet]:
    """The facets of a JSON object of them; one that is none is reported as a gap about ``what``."""
    if not isinstance(text, str):
        return
    try:
        facets = json.loads(text)
    except ValueError:
        facets = None
    if not isinstance(facets, dict):
        extraction.report("extension", what, "the facets that it gave are no JSON object")
        return
    for name, content in facets.items():
        if content is not None:
            yield Facet(name, json.dumps(content), of)


def _dataset(identifier: Facts) -> Dataset | None:
    namespace, name = identifier.get("namespace"), identifier.get("name")
    return Dataset(str(namespace), str(name)) if namespace and name else None


def python_dataset(short_name: str, options: Mapping[str, str]) -> Dataset:
    """The dataset of a data source written in Python, by the options that say where data is; ``inmemory://`` without.

    >>> python_dataset("crm", {"url": "https://shop.com/api", "table": "people"})
    Dataset(namespace='crm://shop.com', name='api/people')
    >>> python_dataset("crm", {"table": "people"}), python_dataset("crm", {})
    (Dataset(namespace='crm', name='people'), Dataset(namespace='inmemory://', name='crm'))
    """
    address = options.get("url") or options.get("endpoint") or options.get("host") or ""
    place = path_dataset(address if "://" in address or not address else f"{short_name}://{address}")
    parts = [place.name, *(options.get(key, "") for key in _PARTS)] if address else [options.get(k, "") for k in _PARTS]
    name = "/".join(part.strip("/") for part in parts if part.strip("/"))
    host = place.namespace.partition("://")[2]
    if not name and not host:
        return Dataset("inmemory://", short_name)
    return Dataset(f"{short_name}://{host}" if host else short_name, name or "/")
