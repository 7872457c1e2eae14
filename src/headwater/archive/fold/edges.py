"""The edges of spans: distinct lineage is exploded once and its names resolved; then adjacent spans are merged."""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.fold.replacements import MARKS
from headwater.archive.fold.run_lineage import JOB
from headwater.archive.names.resolver import Resolver
from headwater.model import Subtype
from headwater.model.time import FOREVER

_DIRECT = [one.value for one in Subtype if one.type.value == "DIRECT"]
_TRANSFORMATION = ("subtype", "masking", "opaque", "description")
_INPUT = ("input_dataset_id", "input_dataset_namespace", "input_dataset", "input_field_id", "input_own")
_DATASET = ("dataset_id", "dataset_namespace", "dataset")
_FIELD = ("field_id", "own")
_RUNS = ("runs", "first_run", "last_run", "last_at")


def column_edges(edges: DataFrame) -> DataFrame:
    """The edges to fields, of rows that `span_edges` makes."""
    key = ["input_field_id", "field_id", *JOB, *_TRANSFORMATION]
    return _merged(edges.where("own IS NOT NULL"), key)


def dataset_edges(edges: DataFrame) -> DataFrame:
    """The edges that act on all fields of a dataset, of rows that `span_edges` makes."""
    key = ["input_field_id", "dataset_id", *JOB, *_TRANSFORMATION]
    return _merged(edges.where("own IS NULL"), key)


def span_edges(spans: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The edges of each span with the ids of their ends; those that act on all fields have no ``own``."""
    exploded = spans.withColumn("one", sf.explode("shapes")).select(
        *JOB, *_DATASET, "since", "until", *MARKS, *_RUNS, "one.*"
    )
    resolved = _resolved(exploded.select("shape", "epoch", *_DATASET).distinct(), shapes, resolver)
    return exploded.join(resolved, ["shape", "epoch", "dataset_id"]).select(
        *JOB,
        *_DATASET,
        *_FIELD,
        *_INPUT,
        *_TRANSFORMATION,
        "since",
        sf.coalesce("until", sf.lit(FOREVER)).alias("until"),
        *MARKS,
        *_RUNS,
    )


def _resolved(distinct: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The edges of distinct lineage, with the datasets and fields that their names meant at the time."""
    lineage = distinct.join(shapes.select("shape", "edges"), "shape")
    edges = lineage.select("shape", "epoch", "dataset_id", sf.explode("edges").alias("edge"))
    edges = edges.select("shape", "epoch", "dataset_id", "edge.*").withColumnRenamed("field", "field_name")
    edges = edges.withColumnRenamed("input_field", "input_field_name")
    edges = resolver.fields(edges, "epoch", "field_name")
    edges = resolver.datasets(edges, "epoch", "input_", "input_")
    edges = resolver.fields(edges, "epoch", "input_field_name", "input_")
    return edges.select("shape", "epoch", "dataset_id", *_FIELD, *_INPUT, *_TRANSFORMATION)


def _merged(edges: DataFrame, key: list[str]) -> DataFrame:
    """The spans of edges; those of one edge that overlap or adjoin are merged, with the runs of all of them.

    Spark sorts by ``key``, and compares most rows by the first eight bytes of its first column: an id differs there,
    where names of one namespace do not.
    """
    # What is not compared is packed, because each sort and window copies rows column by column.
    ends = [name for name in (*_DATASET, *_FIELD, *_INPUT) if name not in key]
    packed = (sf.struct(*ends).alias("ends"), sf.struct("last_run", "last_at", *MARKS).alias("last"))
    spans = edges.select(*key, "since", "until", "runs", "first_run", *packed).repartition(*key)
    spans = spans.dropDuplicates([*key, "since"])
    before = Window.partitionBy(*key).orderBy("since")
    reached = sf.max("until").over(before.rowsBetween(Window.unboundedPreceding, -1))
    spans = spans.withColumn("new", sf.when(sf.col("since") <= reached, 0).otherwise(1))
    islands = spans.withColumn("island", sf.sum("new").over(before.rowsBetween(Window.unboundedPreceding, 0)))
    merged = islands.groupBy(*key, "island").agg(
        sf.first("ends").alias("ends"),
        sf.min("since").alias("since"),
        sf.max("until").alias("until"),
        sf.sum("runs").alias("runs"),
        sf.min_by("first_run", "since").alias("first_run"),
        sf.max_by("last", "since").alias("last"),
    )
    merged = merged.select(*key, "ends.*", "since", "until", "runs", "first_run", "last.*")
    edge_type = sf.when(sf.col("subtype").isin(*_DIRECT), "DIRECT").otherwise("INDIRECT")
    return merged.withColumn("type", edge_type).withColumn("until", sf.nullif("until", sf.lit(FOREVER)))


def with_spellings(edges: DataFrame, spelled: DataFrame | None, *ends: str) -> DataFrame:
    """Add the names of fields at the ends of edges, as the fields are spelled.

    Args:
        edges: with ``<end>field_id`` and ``<end>own`` for each end.
        spelled: ``field_id`` and ``field``, at least of fields that are not spelled as ``own``; None where all are.
        ends: the prefixes of the columns of the ends.
    """
    if spelled is None:
        return edges.withColumns({f"{end}field": sf.col(f"{end}own") for end in ends})
    for end in ends:
        shown = spelled.select(sf.col("field_id").alias("shown_id"), sf.col("field").alias("shown_name"))
        edges = edges.join(shown, edges[f"{end}field_id"] == shown.shown_id, "left")
        edges = edges.withColumn(f"{end}field", sf.coalesce("shown_name", f"{end}own")).drop("shown_id", "shown_name")
    return edges
