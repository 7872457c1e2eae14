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

from headwater.openlineage.naming.locations import FILE_SYSTEMS
from headwater.openlineage.reading.explicit_lineage import WHOLE
from headwater.store.questions.walk.steps_inside import BYTES, STRINGS, TEXT

UP, DOWN = "up", "down"
"""Toward what a field is made of, and toward what is made of it."""

LINK = ("source", "target")
_FIELD = ("field_id", "dataset_id")
_WHOLE = ("input_field_id", "input_dataset_id", "input_field")
_ENDS = ("input_field_id", "input_dataset_id", "output_field_id", "output_dataset_id")
_TOGETHER = 8  # levels whose rows are read as one, so that the plan of the next does not grow with each


@dataclass(frozen=True, slots=True)
class Edges:
    """The ends of edges as ids: ``of_fields`` between fields, ``of_datasets`` to all fields of a dataset.

    ``fields`` are the fields that there are, by dataset.
    """

    of_fields: DataFrame
    of_datasets: DataFrame
    fields: DataFrame

    def steps(self, near: DataFrame, way: str, kept: tuple[str, ...] = ()) -> DataFrame:
        """The fields one step from those in ``near``, as rows (…kept, field_id, dataset_id), each once."""
        if way == UP:
            over = near.join(self.of_fields, near.field_id == self.of_fields.output_field_id)
            whole = near.join(self.of_datasets, near.dataset_id == self.of_datasets.output_dataset_id)
            return _ends(over, "input", kept).union(_ends(whole, "input", kept)).distinct()
        over = near.join(self.of_fields, near.field_id == self.of_fields.input_field_id)
        whole = near.join(self.of_datasets, near.field_id == self.of_datasets.input_field_id)
        written = whole.select(*kept, sf.col("output_dataset_id").alias("dataset_id")).distinct()
        of_written = self.fields.join(written, "dataset_id").select(*kept, *_FIELD)
        return _ends(over, "output", kept).union(of_written).distinct()

    def links(self) -> DataFrame:
        """Each field with each that is made of it, as rows (source, target), each once."""
        whole = self.of_datasets.withColumnRenamed("output_dataset_id", "dataset_id").drop("input_dataset_id")
        written = whole.join(self.fields, "dataset_id").select("input_field_id", "field_id")
        return self.of_fields.select("input_field_id", "output_field_id").union(written).toDF(*LINK).distinct()


def _ends(edges: DataFrame, side: str, kept: tuple[str, ...]) -> DataFrame:
    return edges.select(*kept, *(edges[f"{side}_{name}"].alias(name) for name in _FIELD))


@contextmanager
def edges_at(tables: Mapping[str, DataFrame], at: datetime | None) -> Iterator[Edges]:
    """The edges that were so at a moment, or are so now; Spark keeps them as long as they are in use."""
    between, whole = (tables[name].where(then(at)) for name in ("column_edges", "dataset_edges"))
    kept = [
        between.select(*_ENDS).unionByName(steps_inside(tables, at)),
        whole.select(*_names("input"), "output_dataset_id"),
        tables["fields"].select(*_FIELD),
    ]
    kept = [frame.distinct().persist(StorageLevel.MEMORY_AND_DISK) for frame in kept]
    try:
        yield Edges(*kept)
    finally:
        for frame in kept:
            frame.unpersist()


def steps_inside(tables: Mapping[str, DataFrame], at: datetime | None) -> DataFrame:
    """The steps between fields of one dataset that no event has, as ids of both ends: for those who read the latter.

    They lead to a field that stands for all, and to those of files that are read in another format than they were
    written in (`headwater.store.questions.walk.steps_inside`).
    """
    between, whole = (tables[name].where(then(at)) for name in ("column_edges", "dataset_edges"))
    read = between.select(*_WHOLE).union(whole.select(*_WHOLE)).distinct()
    pairs = _whole_sources(read, tables["fields"]).unionByName(_format_steps(between, tables["fields"]))
    return pairs.join(read.select(sf.col("input_field_id").alias("output_field_id")), "output_field_id", "left_semi")


def _whole_sources(read: DataFrame, fields: DataFrame) -> DataFrame:
    """From each column of a dataset that is read as a whole to the field that stands for all of them."""
    stars = read.where(sf.col("input_field") == WHOLE).select(
        *(sf.col(f"input_{name}").alias(f"output_{name}") for name in _FIELD)
    )
    columns = fields.select(*(sf.col(name).alias(f"input_{name}") for name in _FIELD))
    steps = columns.join(stars, columns.input_dataset_id == stars.output_dataset_id)
    return steps.where("input_field_id != output_field_id")


def _format_steps(between: DataFrame, fields: DataFrame) -> DataFrame:
    """From each column that is written into files to each that may hold it where they are read in another format."""
    name, scheme = sf.lower("name"), sf.substring_index("namespace", "://", 1)
    of_files = fields.where(scheme.isin(*FILE_SYSTEMS) | sf.col("dataset").startswith("/"))
    with_contents = of_files.where(name.isin(TEXT, BYTES)).select("dataset_id").distinct()
    made = between.select(sf.col("output_field_id").alias("field_id"), sf.lit(True).alias("made")).distinct()
    columns = of_files.join(with_contents, "dataset_id", "left_semi").join(made, "field_id", "left")
    named = sf.col("written") | sf.col("made").isNotNull()
    of_text = (name == TEXT) & sf.coalesce("type", sf.lit("")).isin(*STRINGS)
    inputs = columns.where(named).select(*(sf.col(one).alias(f"input_{one}") for one in _FIELD), of_text.alias("text"))
    contents = name.isin(TEXT, BYTES).alias("contents")
    others = columns.where(~named).select(*(sf.col(one).alias(f"output_{one}") for one in _FIELD), contents)
    steps = inputs.join(others, inputs.input_dataset_id == others.output_dataset_id)
    return steps.where("text OR contents").select(*_ENDS)


def _names(side: str) -> tuple[str, ...]:
    return tuple(f"{side}_{name}" for name in _FIELD)


def then(at: datetime | None) -> Column:
    """Whether an edge was so at a moment; now without one."""
    if at is None:
        return sf.col("current")
    return (sf.col("valid_from") <= at) & (sf.col("valid_to").isNull() | (sf.col("valid_to") > at))


def reach(  # noqa: PLR0913 - each bound of a walk by its name
    start: DataFrame,
    edges: Edges,
    way: str,
    within: DataFrame | None = None,
    *,
    kept: tuple[str, ...] = (),
    until: DataFrame | None = None,
) -> DataFrame:
    """The fields that edges lead to from those in ``start``, those too: (…kept, field_id, dataset_id, distance).

    Args:
        start: with ``field_id``, ``dataset_id``, and what is kept.
        edges: what to walk on.
        way: `UP` or `DOWN`.
        within: the fields beyond which nothing is looked at, by ``field_id``.
        kept: columns of ``start`` that are kept: a walk of its own for each value of them.
        until: fields by ``field_id``; the walk ends on the level on which one of them is met.
    """
    known = frontier = cut(start.select(*kept, *_FIELD, sf.lit(0).alias("distance")).distinct())
    for level in count(1):
        if until is not None and not frontier.join(until, "field_id", "left_semi").isEmpty():
            break
        found = edges.steps(frontier, way, kept).join(known, [*kept, "field_id"], "left_anti")
        if within is not None:
            found = found.join(within, "field_id", "left_semi")
        frontier = cut(found.select(*kept, *_FIELD, sf.lit(level).alias("distance")))
        if frontier.isEmpty():
            break
        known = known.union(frontier)
        if level % _TOGETHER == 0:
            known = cut(known)
    return known


def cut(frame: DataFrame) -> DataFrame:
    """The rows as they are now: on the cluster's own disks where the application has a folder for checkpoints."""
    reliably = frame.sparkSession.sparkContext.getCheckpointDir() is not None
    return frame.checkpoint() if reliably else frame.localCheckpoint()
