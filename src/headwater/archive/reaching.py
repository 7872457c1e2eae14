"""Everything upstream or downstream of fields, level by level, in edges of any number.

Each level joins the fields that were new in the last one with the edges, and leaves out what was reached before
(semi-naive evaluation); no path is followed twice.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import count

from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

UP, DOWN = "up", "down"
"""Toward what a field is made of, and toward what is made of it."""

_FIELD = ("field_id", "dataset_id")
_TOGETHER = 8  # levels whose rows are read as one, so that the plan of the next does not grow with each


@dataclass(frozen=True, slots=True)
class Edges:
    """The ends of edges as ids: ``of_fields`` between fields, ``of_datasets`` to all fields of a dataset.

    ``fields`` are the fields that there are, by dataset.
    """

    of_fields: DataFrame
    of_datasets: DataFrame
    fields: DataFrame

    def steps(self, near: DataFrame, way: str) -> DataFrame:
        """The fields one step from those in ``near``, as rows (field_id, dataset_id), each once."""
        if way == UP:
            over = near.join(self.of_fields, near.field_id == self.of_fields.output_field_id)
            whole = near.join(self.of_datasets, near.dataset_id == self.of_datasets.output_dataset_id)
            return _ends(over, "input").union(_ends(whole, "input")).distinct()
        over = near.join(self.of_fields, near.field_id == self.of_fields.input_field_id)
        whole = near.join(self.of_datasets, near.field_id == self.of_datasets.input_field_id)
        written = whole.select(sf.col("output_dataset_id").alias("dataset_id")).distinct()
        return _ends(over, "output").union(self.fields.join(written, "dataset_id").select(*_FIELD)).distinct()


def _ends(edges: DataFrame, side: str) -> DataFrame:
    return edges.select(*(edges[f"{side}_{name}"].alias(name) for name in _FIELD))


@contextmanager
def edges_at(tables: Mapping[str, DataFrame], at: datetime | None) -> Iterator[Edges]:
    """The edges that were so at a moment, or are so now; Spark keeps them as long as they are in use."""
    kept = [
        tables["column_edges"].where(then(at)).select(*_names("input"), *_names("output")),
        tables["dataset_edges"].where(then(at)).select(*_names("input"), "output_dataset_id"),
        tables["fields"].select(*_FIELD),
    ]
    kept = [frame.distinct().persist(StorageLevel.MEMORY_AND_DISK) for frame in kept]
    try:
        yield Edges(*kept)
    finally:
        for frame in kept:
            frame.unpersist()


def _names(side: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}" for name in _FIELD)


def then(at: datetime | None) -> Column:
    """Whether an edge was so at a moment; now without one."""
    if at is None:
        return sf.col("current")
    return (sf.col("valid_from") <= at) & (sf.col("valid_to").isNull() | (sf.col("valid_to") > at))


def reach(start: DataFrame, edges: Edges, way: str, within: DataFrame | None = None) -> DataFrame:
    """The fields that edges lead to from those in ``start``, those too: (field_id, dataset_id, distance).

    ``within`` has the fields beyond which nothing is looked at, by ``field_id``.
    """
    known = frontier = _cut(start.select(*_FIELD, sf.lit(0).alias("distance")).distinct())
    for level in count(1):
        found = edges.steps(frontier, way).join(known, "field_id", "left_anti")
        if within is not None:
            found = found.join(within, "field_id", "left_semi")
        frontier = _cut(found.select(*_FIELD, sf.lit(level).alias("distance")))
        if frontier.isEmpty():
            break
        known = known.union(frontier)
        if level % _TOGETHER == 0:
            known = _cut(known)
    return known


def _cut(frame: DataFrame) -> DataFrame:
    """The rows as they are now: on the cluster's own disks where the application has a folder for checkpoints."""
    reliably = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    return frame.checkpoint() if reliably else frame.localCheckpoint()
