"""A shortest path between fields, traced back from its end by the distances of a walk from its start."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import Edges, edges_at, materialized, reach, steps_inside, valid_at
from headwater.archive.questions.past import PastEdges, past_edges
from headwater.archive.tables import EDGES
from headwater.store.questions import Direction
from headwater.store.questions.walk.steps_inside import ANY_COLUMN

_EDGE = (
    *("input_namespace", "input_dataset", "input_field", "output_namespace", "output_dataset", "output_field"),
    *("job_namespace", "job_name", "type", "subtype", "masking", "opaque", "whole_dataset"),
)
_STEP = "step int, input_field_id string, output_field_id string, output_dataset_id string"


class _Field(NamedTuple):
    field_id: str
    dataset_id: str


def paths(archive: Mapping[str, DataFrame], one: DataFrame, other: DataFrame, at: datetime | None = None) -> DataFrame:
    """A shortest path from some fields to others in the direction of data, or against it when there is none.

    Rows are the edges of each step, in order: (step, input_namespace, input_dataset, input_field, output_namespace,
    output_dataset, output_field, job_namespace, job_name, type, subtype, masking, opaque, whole_dataset). ``step``
    counts from 1; one may have several edges, of several jobs. ``whole_dataset`` is true for an edge to all fields of
    a dataset. There is no row where no path leads either way, or a field is in both. Those of now also lead through the
    lineage that a dataset had when it was read, where its rows were replaced since.

    Args:
        archive: tables as `headwater.archive.build` and `headwater.archive.read` return them.
        one: rows with ``field_id`` and ``dataset_id``, such as some of the table ``fields``.
        other: the same.
        at: the lineage of that moment; of now without it.
    """
    with edges_at(archive, at) as edges:
        past = past_edges(archive, _with_whole, _of_past_edges()) if at is None else None
        graph = edges if past is None else replace(past, carried=()).with_edges(edges)
        path = _path(graph, one, other) or _path(graph, other, one) or []
        return materialized(_named(archive, path, at, past))


def _path(edges: Edges, start: DataFrame, end: DataFrame) -> list[_Field]:
    """The fields of a path, empty when there is none; of several the one with the least ids from its end on."""
    reached = reach(start, edges, Direction.DOWN, until=end)
    row = reached.join(end.select("field_id"), "field_id", "left_semi").orderBy("distance", "field_id").first()
    if row is None:
        return []
    path = [_Field(row.field_id, row.dataset_id)]
    for distance in range(row.distance - 1, -1, -1):
        last = reached.where(sf.col("field_id") == path[-1].field_id)
        before = edges.steps(last, Direction.UP).select("field_id")
        near = before.join(reached.where(sf.col("distance") == distance), "field_id")
        found = near.orderBy("field_id").select("field_id", "dataset_id").first()
        path.append(_Field(*found))
    return path[::-1]


def _named(
    archive: Mapping[str, DataFrame], path: list[_Field], at: datetime | None, past: PastEdges | None
) -> DataFrame:
    pairs = enumerate(pairwise(path), start=1)
    rows = [(step, source.field_id, *target) for step, (source, target) in pairs]
    steps = sf.broadcast(archive["fields"].sparkSession.createDataFrame(rows, _STEP))
    between = archive["column_edges"].where(valid_at(at)).drop("output_dataset_id")
    over = between.join(steps, ["input_field_id", "output_field_id"]).withColumn("whole_dataset", sf.lit(False))
    names = archive["fields"].select(sf.col("field_id").alias("output_field_id"), sf.col("name").alias("output_field"))
    ends = steps.join(names, "output_field_id").drop("output_field_id")
    whole = archive["dataset_edges"].where(valid_at(at)).join(ends, ["input_field_id", "output_dataset_id"])
    every = over.select("step", *_EDGE).union(whole.withColumn("whole_dataset", sf.lit(True)).select("step", *_EDGE))
    every = every.union(_inside(archive, steps, at))
    if past is not None:
        every = every.union(_as_read(past, steps, ends))
    return every.distinct().orderBy("step", *_EDGE)


def _as_read(past: PastEdges, steps: DataFrame, ends: DataFrame) -> DataFrame:
    """The steps to spans and out of them; a span of a whole dataset leads to the field that was read then."""
    into = steps.join(past.spans, steps.output_field_id == past.spans.span_id).select("step", *_EDGE)
    of_field, of_dataset = (past.behind[f"near_{one}id"] for one in ("", "dataset_"))
    near = sf.coalesce(of_field == steps.output_field_id, of_dataset == steps.output_dataset_id)
    out = steps.join(past.behind, (steps.input_field_id == past.behind.span_id) & near).select("step", *_EDGE)
    read = out.groupBy((sf.col("step") - 1).alias("step")).agg(sf.min("input_field").alias("read"))
    read = read.union(ends.select("step", "output_field"))
    named = into.union(out).join(read, "step", "left").withColumn("output_field", sf.coalesce("output_field", "read"))
    return named.select("step", *_EDGE)


def _with_whole(edges: DataFrame) -> DataFrame:
    """The edges of a table with whether they are to all fields of a dataset; these have no output field."""
    if "output_field" in edges.columns:
        return edges.withColumn("whole_dataset", sf.lit(False))
    return edges.withColumns({"whole_dataset": sf.lit(True), "output_field": sf.lit(None).cast("string")})


def _of_past_edges() -> dict[str, Column]:
    """The columns of edges of the past, with those of a step to the field that such an edge has read."""
    own = {name: sf.col(name) for name in _EDGE}
    return own | _step_inside() | {"input_field": sf.col("column"), "output_field": sf.col("input_field")}


def _step_inside() -> dict[str, Column]:
    """The columns of a step between fields of the dataset that is its input."""
    return {
        "output_namespace": sf.col("input_namespace"),
        "output_dataset": sf.col("input_dataset"),
        "type": sf.lit(ANY_COLUMN.subtype.type.value),
        "subtype": sf.lit(ANY_COLUMN.subtype.value),
        "masking": sf.lit(False),
        "opaque": sf.lit(True),
        "whole_dataset": sf.lit(False),
    }


def _inside(archive: Mapping[str, DataFrame], steps: DataFrame, at: datetime | None) -> DataFrame:
    """The steps between fields of one dataset, with each job that reads the latter."""
    ids = ("input_field_id", "input_namespace", "input_dataset", "job_namespace", "job_name")
    read = reduce(DataFrame.union, (archive[name].where(valid_at(at)).select(*ids) for name in EDGES))
    of = archive["fields"].select("field_id", sf.col("name").alias("field"))
    found = steps.join(steps_inside(archive, at), ["input_field_id", "output_field_id", "output_dataset_id"])
    for end in ("input", "output"):
        found = found.join(of.toDF(f"{end}_field_id", f"{end}_field"), f"{end}_field_id")
    found = found.join(read.withColumnRenamed("input_field_id", "output_field_id"), "output_field_id")
    return found.withColumns(_step_inside()).select("step", *_EDGE)
