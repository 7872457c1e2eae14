"""The names of jobs."""

import re
from collections.abc import Collection, Hashable

from headwater.model import Dataset


def last_part(dataset: Dataset) -> str:
    """A dataset's own name, without folders, catalog and database.

    >>> last_part(Dataset("file", "/data/shop.db/orders/"))
    'orders'
    """
    return re.split(r"[/.]", dataset.name.rstrip("/"))[-1] or "root"


def snake(name: str) -> str:
    """A class of Spark in snake case.

    >>> snake("org.apache.spark.InsertIntoHadoopFsRelationCommand")
    'insert_into_hadoop_fs_relation_command'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.rpartition(".")[2]).lower()


def is_denied(command: str, denied: Collection[str]) -> bool:
    """Whether nothing is emitted for a command: its class is listed, in full or without its package.

    >>> is_denied("InsertIntoStatement", {"org.apache.spark.sql.catalyst.plans.logical.InsertIntoStatement"})
    True
    """
    return any(command == name or command == name.rpartition(".")[2] for name in denied)


def numbered(name: str, what: Hashable, known: dict[str, list[Hashable]]) -> str:
    """The name for the first that has it, with a number for each other; ``known`` remembers who has which.

    >>> known = {}
    >>> [numbered("app.write", what, known) for what in ("a", "b", "a")]
    ['app.write', 'app.write.2', 'app.write']
    """
    same = known.setdefault(name, [])
    if what not in same:
        same.append(what)
    place = same.index(what)
    return f"{name}.{place + 1}" if place else name
