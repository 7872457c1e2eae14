"""The names of jobs."""

import hashlib
import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from headwater.extract import Stream
from headwater.extract.rdd_actions import TAKEN
from headwater.model import Dataset, DatasetDescription, Statement
from headwater.openlineage.settings import JobNames

_LONGEST = 200


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


def target_name(described: DatasetDescription) -> str:
    """The name of a dataset in the name of the job that writes it: its name in a catalog, else its whole name.

    It is the same whatever else the application writes, so that it has to be unique by itself. It has no colon but
    those of a URI: Marquez parses the ids of jobs.

    >>> target_name(DatasetDescription(Dataset("file", "/lake/silver/orders"), source="file"))
    '/lake/silver/orders'
    >>> target_name(DatasetDescription(Dataset("hdfs://nn:8020", "/lake/orders"), source="hdfs://nn:8020"))
    'hdfs://nn:8020/lake/orders'
    """
    tables = [link.dataset.name for link in described.symlinks if link.type == "TABLE"]
    if tables or not described.source:
        return tables[0] if tables else described.dataset.name
    namespace, name = described.dataset.namespace, described.dataset.name
    return name if namespace == "file" else f"{namespace}/{name.removeprefix('/')}"


def shortened(name: str) -> str:
    """A name of bearable length: what is left out of a longer one is in a digest in its place.

    >>> shortened("shop." + "x" * 300 + "/orders") == shortened("shop." + "x" * 301 + "/orders")
    False
    """
    if len(name) <= _LONGEST:
        return name
    digest = hashlib.sha256(name.encode("utf-8", "backslashreplace")).hexdigest()[:10]
    return f"{name[:60]}-{digest}-{name[-128:]}"


@dataclass(frozen=True, slots=True)
class JobNamer:
    """The names of the jobs of one application: a function of the application and the target alone."""

    application: str
    settings: JobNames

    def of_statement(self, command: str, statement: Statement) -> str:
        """The name for a statement, by the class of its operator and what it reads and writes.

        One that writes no dataset goes by what it does (``read``, ``call``, ``foreach``) and what it reads.
        """
        targets = [output.description for output in statement.outputs]
        # A job of its own, so that no later write of the application ends the lineage that a restoration brings back.
        kind = "restore" if any(output.restores is not None for output in statement.outputs) else ""
        if self.settings.by_operator:
            last = last_part(targets[0].dataset) if targets else "read" if statement.inputs else "unknown"
            return self._joined(kind or snake(command), *([last] if self.settings.append_dataset else ()))
        if targets:
            return self._joined(kind, _all(targets))
        verb = "read" if statement.inputs and command not in ("Call", *TAKEN) else snake(command)
        return self._joined(verb, _all(statement.inputs))

    def of_stream(self, name: str, plan: Stream | None) -> str:
        """The name for a streaming query: its own, else by what it writes, else by its sink and what it reads."""
        if name or plan is None:
            return self._joined(name or "stream")
        targets = [output.description for output in plan.statement.outputs]
        kind = snake(plan.sink.removesuffix("Sink").removesuffix("Table").removesuffix("Writer")) or "stream"
        if self.settings.by_operator:
            ends = (targets or plan.statement.inputs)[:1]
            return self._joined("stream" if targets else kind, *(last_part(one.dataset) for one in ends))
        return self._joined("stream", _all(targets)) if targets else self._joined(kind, _all(plan.statement.inputs))

    def _joined(self, *parts: str) -> str:
        name = shortened(".".join(filter(None, (self.application, *parts))))
        return name.replace(".", "_") if self.settings.underscores else name


def _all(described: Iterable[DatasetDescription]) -> str:
    return "+".join(sorted(set(map(target_name, described))))
