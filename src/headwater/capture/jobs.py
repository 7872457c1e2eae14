"""Words that the names of jobs are made of."""

import re

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
