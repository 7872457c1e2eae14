"""The edges of spans: distinct lineage is taken apart once, its names resolved, and equal edges side by side joined."""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.fold.replacements import MARKS
from headwater.archive.fold.run_lineage import JOB
from headwater.archive.names.resolver import Resolver
from headwater.model import Subtype
from headwater.model.time import FOREVER

_DIRECT = [one.value for one in Subtype if one.type.value == "DIRECT"]
_WAY = ("subtype", "masking", "opaque", "description")
_INPUT = ("input_dataset_id", "input_dataset_namespace", "input_dataset", "input_field_id", "input_own")
_DATASET = ("dataset_id", "dataset_namespace", "dataset")
_FIELD = ("field_id", "own")


def column_edges(spans: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The edges to fields."""
    edges = _edges(
        spans, shapes.withColumn("edges", sf.filter("edges", lambda one: one["field"].isNotNull())), resolver
    )
    return _joined(edges, [*JOB, "field_id", "input_field_id", *_WAY], [*_DATASET, "own", *_INPUT])


def dataset_edges(spans: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The edges that act on all fields of a dataset."""
    edges = _edges(spans, shapes.withColumn("edges", sf.filter("edges", lambda one: one["field"].isNull())), resolver)
    return _joined(edges, [*JOB, "dataset_id", "input_field_id", *_WAY], [*_DATASET, *_INPUT])


def told_fields(heard: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The fields that lineage names, on either side: of which dataset, their own names now, and how it spells them."""
    told = heard.select("shape", "epoch").distinct().join(shapes, "shape")
    outputs = told.select("epoch", "namespace", "name", sf.explode("fields").alias("one"))
    outputs = outputs.select(
        "epoch", "namespace", "name", sf.col("one.name").alias("told"), sf.col("one.own"), sf.lit(True).alias("written")
    )
    sources = told.select("epoch", sf.explode("edges").alias("edge")).select(
        "epoch",
        sf.col("edge.input_namespace").alias("namespace"),
        sf.col("edge.input_name").alias("name"),
        sf.col("edge.input_field").alias("told"),
        sf.col("edge.input_own").alias("own"),
        sf.lit(False).alias("written"),
    )
    named = resolver.datasets(outputs.unionByName(sources).distinct(), "epoch")
    fields = resolver.fields(named, "epoch", "told")
    return fields.select(*_DATASET, "begun", "field_id", "own", "spelled", "written").distinct()


def _edges(spans: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    exploded = spans.withColumn("one", sf.explode("shapes")).select(
        *JOB, *_DATASET, "since", "until", *MARKS, "runs", "first_run", "last_run", "one.*"
    )
    apart = _apart(exploded.select("shape", "epoch", *_DATASET).distinct(), shapes, resolver)
    return exploded.join(apart, ["shape", "epoch", "dataset_id"]).select(
        *JOB,
        *_DATASET,
        *_FIELD,
        *_INPUT,
        *_WAY,
        "since",
        sf.coalesce("until", sf.lit(FOREVER)).alias("until"),
        *MARKS,
        "runs",
        "first_run",
        "last_run",
    )


def _apart(wanted: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The edges of distinct lineage, with what their names meant at the time."""
    told = wanted.join(shapes.select("shape", "edges"), "shape")
    edges = told.select("shape", "epoch", "dataset_id", sf.explode("edges").alias("edge"))
    edges = edges.select("shape", "epoch", "dataset_id", "edge.*").withColumnRenamed("field", "told")
    edges = edges.withColumnRenamed("input_field", "input_told")
    edges = resolver.fields(edges, "epoch", "told")
    edges = resolver.datasets(edges, "epoch", "input_", "input_")
    edges = resolver.fields(edges, "epoch", "input_told", "input_")
    return edges.select("shape", "epoch", "dataset_id", *_FIELD, *_INPUT, *_WAY)


def _joined(edges: DataFrame, key: list[str], shown: list[str]) -> DataFrame:
    """Spans of one edge that overlap or touch made one, with the runs of all of them."""
    apart = edges.repartition(*key).dropDuplicates([*key, "since"])
    before = Window.partitionBy(*key).orderBy("since")
    reached = sf.max("until").over(before.rowsBetween(Window.unboundedPreceding, -1))
    apart = apart.withColumn("new", sf.when(sf.col("since") <= reached, 0).otherwise(1))
    islands = apart.withColumn("island", sf.sum("new").over(before.rowsBetween(Window.unboundedPreceding, 0)))
    joined = islands.groupBy(*key, "island").agg(
        *(sf.first(name).alias(name) for name in shown if name not in key),
        sf.min("since").alias("since"),
        sf.max("until").alias("until"),
        sf.sum("runs").alias("runs"),
        sf.min_by("first_run", "since").alias("first_run"),
        *(sf.max_by(name, "since").alias(name) for name in ("last_run", *MARKS)),
    )
    return joined.withColumn("type", _type()).withColumn("until", sf.nullif("until", sf.lit(FOREVER)))


def with_spellings(edges: DataFrame, fields: DataFrame, *ends: str) -> DataFrame:
    """Edges with the names of fields at their ends as these are shown; most are so spelled that nothing is joined.

    Args:
        edges: with ``<end>field_id`` and ``<end>own`` for each end.
        fields: the rows of the table ``fields``.
        ends: how the columns of the ends begin.
    """
    for end in ends:
        shown = fields.where("field != own").select(
            sf.col("field_id").alias("shown_id"), sf.col("field").alias("shown_name")
        )
        edges = edges.join(shown, edges[f"{end}field_id"] == shown.shown_id, "left")
        edges = edges.withColumn(f"{end}field", sf.coalesce("shown_name", f"{end}own")).drop("shown_id", "shown_name")
    return edges


def _type() -> Column:
    return sf.when(sf.col("subtype").isin(*_DIRECT), "DIRECT").otherwise("INDIRECT")
