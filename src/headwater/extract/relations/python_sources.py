"""Data sources written in Python (``spark.dataSource.register``): named by their short name and their options."""

from collections.abc import Mapping

from headwater.model import Dataset
from headwater.openlineage.naming.locations import path_dataset

PYTHON_TABLE = "PythonTable"
"""The class of the table that Spark has for each of them."""

_PARTS = ("database", "dbtable", "table", "collection", "topic", "subscribe", "path")


def python_dataset(short_name: str, options: Mapping[str, str]) -> Dataset:
    """The dataset of a data source, told apart by the options that say where data is; ``inmemory://`` without any.

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
