"""Walks through lineage that is no longer current, and that made what current lineage has read.

The rules are those of `headwater.store.questions.walk.past`. What is behind an edge depends on that edge alone: so all
spans that edges have read are found at once, by joins over time, and walks up and down go over edges and spans alike.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import Edges, counted, materialized, reach, steps_inside
from headwater.archive.tables import EDGES
from headwater.model.time import FOREVER
from headwater.store.questions import Direction
from headwater.store.questions.walk.readings import READINGS_APART, overlap, read_during, read_until

START = "start_id"
"""The column of the field that a walk began with."""

SEPARATOR = " "
"""Between the two ids of a field in the graph of a start."""

_INPUT = ("input_field_id", "input_dataset_id")
_OUTPUT = ("output_field_id", "output_dataset_id")
_NEAR = ("near_id", "near_dataset_id")
_RENEWAL = "struct<at: bigint, before: bigint>"
_READ = (*_NEAR, *_INPUT, "read_from", "read_to")


@dataclass(frozen=True, slots=True)
class PastEdges:
    """Edges that held for a span of time, and were read then.

    Args:
        spans: their ends, by ``span_id``; ``output_field_id`` is NULL of an edge to all fields of a dataset.
        behind: the spans that were read, by the ids of an edge's output, or by ``near_id`` of a span.
        carried: further columns of edges, of both: those of a span, and of the edge that read it.
    """

    spans: DataFrame
    behind: DataFrame
    carried: tuple[str, ...] = ()

    def readers(self, fields: DataFrame) -> DataFrame:
        """The fields that edges lead to which have read what is past."""
        of_fields = self.behind.select(sf.col("near_id").alias("field_id")).union(
            self.behind.where("near_id IS NULL")
            .join(fields, fields.dataset_id == self.behind.near_dataset_id)
            .select("field_id")
        )
        return fields.join(of_fields, "field_id", "left_semi")

    def with_edges(self, edges: Edges) -> Edges:
        """The edges of a walk over fields and spans; these are fields without a dataset."""
        span = sf.col("span_id"), _no_id()
        to_spans = self.behind.select(*span, *_NEAR, *self.carried)
        of_fields = edges.of_fields.select(*_INPUT, *_OUTPUT, *self.carried)
        of_fields = of_fields.union(to_spans.where("near_id IS NOT NULL"))
        of_fields = of_fields.union(self.spans.select(*_INPUT, *span, *self.carried))
        whole = to_spans.where("near_id IS NULL").drop("near_id")
        of_datasets = edges.of_datasets.select(*_INPUT, "output_dataset_id", *self.carried).union(whole)
        return Edges(of_fields, of_datasets, edges.fields)

    def edges_of_each(self, start: DataFrame, edges: Edges) -> tuple[DataFrame, Edges]:
        """For fields a graph of each: all fields in it with their distance, and the edges.

        Its ids are texts of two, that of `START` first.
        """
        each = start.select(sf.col("field_id").alias(START), "field_id", "dataset_id").distinct()
        reached = reach(each, self.with_edges(edges), Direction.UP, carried=(START,))
        fields = materialized(reached.where("dataset_id IS NOT NULL"))
        held = reached.where("dataset_id IS NULL").withColumnRenamed("field_id", "span_id").select(START, "span_id")
        held = held.join(self.spans, "span_id")
        links = (
            fields.join(edges.of_fields, fields.field_id == edges.of_fields.output_field_id),
            fields.join(edges.of_datasets, fields.dataset_id == edges.of_datasets.output_dataset_id),
            held.where("output_field_id IS NOT NULL").withColumn("field_id", sf.col("output_field_id")),
            held.where("output_field_id IS NULL")
            .withColumn("dataset_id", sf.col("output_dataset_id"))
            .join(fields, [START, "dataset_id"]),
        )
        of_start = [
            one.select(
                _id("input_field_id"), "input_dataset_id", _id("field_id", "output_field_id"), "output_dataset_id"
            )
            for one in links
        ]
        of_fields = materialized(reduce(DataFrame.union, of_start).distinct())
        return (
            fields.select(_id("field_id"), "dataset_id", "distance"),
            Edges(of_fields, edges.of_datasets.where("false"), fields.select(_id("field_id"), "dataset_id")),
        )


def past_edges(
    tables: Mapping[str, DataFrame],
    fitting: Callable[[DataFrame], DataFrame] = lambda edges: edges,
    carried: Mapping[str, Column] = MappingProxyType({}),
    readings: Callable[[DataFrame], DataFrame] = lambda reads: reads,
) -> PastEdges | None:
    """The spans of edges that were read before their datasets were replaced; None where there are none.

    Args:
        tables: those of an archive.
        fitting: returns the edges of one of its tables that count, with further columns.
        carried: those of these columns that are needed, each with its value for a step inside a dataset, which leads
            from the field ``column`` to the one that the edge has read.
        readings: returns those of some readings, of ``input_field_id``, behind which past edges are wanted.
    """
    replaced = tables["replacements"].where("certain")
    ends = replaced.groupBy("dataset_id").agg(sf.max(sf.unix_micros("at")).alias("ended"))
    every = reduce(DataFrame.union, (_edges(fitting(tables[name]), carried) for name in EDGES))
    of_replaced = ends.select(sf.col("dataset_id").alias("output_dataset_id"))
    past = every.where("NOT current").join(of_replaced, "output_dataset_id", "left_semi")
    if past.isEmpty():
        return None
    parts = _parts(every.join(of_replaced, "output_dataset_id", "left_semi"), replaced)
    spans, _ = counted(parts.withColumn("span_id", sf.concat(sf.lit("span "), sf.monotonically_increasing_id())))
    of_spans = spans.withColumns({"near_id": sf.col("span_id"), "near_dataset_id": _no_id()})
    reads = _read_now(every.where("current"), replaced, carried)
    reads = reads.union(of_spans.select(*_READ, *carried)).toDF(*_READ, *carried)
    reads = reads.join(ends.withColumnRenamed("dataset_id", "input_dataset_id"), "input_dataset_id")
    reads = materialized(readings(reads.where("ended > read_from")).select(*_READ, *carried))
    inside = _inside(tables, reads)
    ids = {"near_id": sf.col("step_id"), "near_dataset_id": _no_id(), "input_field_id": sf.col("column_id")}
    own = readings(inside.withColumns(ids).withColumns(dict(carried)))
    reads = reads.union(own.select(*_READ, *carried))
    behind, many = counted(_behind(reads, spans, carried))
    if not many:
        return None
    steps = inside.select(*_NEAR, sf.col("step_id").alias("span_id"), *carried)
    steps = steps.join(behind.select(sf.col("near_id").alias("span_id")), "span_id", "left_semi")
    return PastEdges(spans, behind.union(steps.select(*behind.columns)), tuple(carried))


def _inside(tables: Mapping[str, DataFrame], reads: DataFrame) -> DataFrame:
    """The readings of fields to which others of their datasets lead, each with ids of these and of the step."""
    steps = steps_inside(tables, None).select(sf.col("input_field_id").alias("column_id"), "output_field_id")
    names = tables["fields"].select(sf.col("field_id").alias("column_id"), sf.col("name").alias("column"))
    found = steps.join(reads, steps.output_field_id == reads.input_field_id).join(names, "column_id")
    return materialized(found.withColumn("step_id", sf.concat(sf.lit("step "), sf.monotonically_increasing_id())))


def _edges(table: DataFrame, carried: Collection[str]) -> DataFrame:
    """The edges of a table with their times in microseconds."""
    field = "output_field_id" if "output_field_id" in table.columns else sf.lit(None).cast("string")
    moments = {"held_from": "valid_from", "held_to": "valid_to", "last": "last_at"}
    times = (sf.unix_micros(one).alias(name) for name, one in moments.items())
    return table.select(field, "output_dataset_id", *_INPUT, *_of_job(), "current", "last_run", *times, *carried)


def _parts(edges: DataFrame, replaced: DataFrame) -> DataFrame:
    """The parts of the time in which edges held, without that of now (`store.questions.walk.readings`)."""
    pair = ("output_dataset_id", "of_job_namespace", "of_job_name")
    times = (sf.unix_micros("at").alias("at"), sf.unix_micros("before_at").alias("before"))
    own = replaced.where("before_at IS NOT NULL")
    own = own.select(sf.col("dataset_id").alias("output_dataset_id"), *_of_job(), sf.struct(*times).alias("renewal"))
    newest = Window.partitionBy(*pair).orderBy(sf.desc("renewal.at"))
    own = own.withColumn("place", sf.dense_rank().over(newest)).where(f"place <= {READINGS_APART}")
    renewals = own.groupBy(*pair).agg(sf.sort_array(sf.collect_set("renewal")).alias("renewals"))
    joined = edges.join(renewals, [*pair], "left")
    held = sf.filter(
        "renewals",
        lambda one: (one["at"] > sf.col("held_from")) & (one["at"] <= sf.coalesce("held_to", sf.lit(FOREVER))),
    )
    anew = sf.when(sf.col("input_dataset_id") != sf.col("output_dataset_id"), held)
    joined = joined.withColumn("renewals", sf.coalesce(anew, sf.array().cast(f"array<{_RENEWAL}>")))
    starts = joined.withColumn("starts", sf.concat(sf.array("held_from"), sf.col("renewals.at")))
    before = sf.transform("renewals", lambda one, place: _part(sf.col("starts")[place], one["at"], one["before"]))
    last = _part(sf.element_at("starts", -1), sf.col("held_to"), None)
    every = sf.when(sf.element_at("starts", -1) < sf.col("held_to"), sf.concat(before, sf.array(last))).otherwise(
        before
    )
    found = starts.withColumn("part", sf.explode(every)).drop("held_from", "held_to", "renewals", "starts")
    return found.select("*", "part.*").drop("part")


def _part(start: Column, end: Column, last: Column | None) -> Column:
    """A part from a moment to another, and when it was read: until the last of its runs, or during all of it."""
    read = read_during(start, end) if last is None else read_until(start, last)
    names = ("held_from", "held_to", "read_from", "read_to")
    return sf.struct(*(one.alias(name) for one, name in zip((start, end, *read), names, strict=True)))


def _read_now(edges: DataFrame, replaced: DataFrame, carried: Collection[str]) -> DataFrame:
    """When the inputs of edges of now were read: by the last run where it replaced all rows, else by all of them."""
    anew = replaced.select(sf.col("run").alias("last_run"), sf.col("dataset_id").alias("output_dataset_id"))
    joined = edges.join(anew.withColumn("anew", sf.lit(True)), ["last_run", "output_dataset_id"], "left")
    by_last = sf.col("anew").isNotNull() & (sf.col("input_dataset_id") != sf.col("output_dataset_id"))
    since = sf.when(by_last, sf.col("last")).otherwise(sf.least("held_from", "last"))
    return joined.select(*_OUTPUT, *_INPUT, *read_until(since, sf.col("last")), *carried)


def _behind(reads: DataFrame, spans: DataFrame, carried: Collection[str]) -> DataFrame:
    """The spans into fields, and into their datasets, that held when these were read."""
    then = overlap(spans.held_from, spans.held_to, reads.read_from, reads.read_to)
    of_field = reads.input_field_id == spans.output_field_id
    of_dataset = spans.output_field_id.isNull() & (reads.input_dataset_id == spans.output_dataset_id)
    found = (
        reads.join(spans, one & then).select(*_NEAR, "span_id", *(reads[name] for name in carried))
        for one in (of_field, of_dataset)
    )
    return reduce(DataFrame.union, found).distinct()


def _of_job() -> tuple[Column, Column]:
    """The job of a row, beside the columns that are carried."""
    return sf.col("job_namespace").alias("of_job_namespace"), sf.col("job_name").alias("of_job_name")


def _no_id() -> Column:
    return sf.lit(None).cast("string")


def _id(field: str, name: str = "") -> Column:
    """The id of a field in the graph of a start."""
    return sf.concat_ws(SEPARATOR, START, field).alias(name or field)
