"""Roots, impact, cycles and changes: questions over the tables of an archive, of any size, answered by Spark."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import Edges, edges_at, materialized, reach, valid_at
from headwater.archive.questions.components import adjacent, components
from headwater.archive.questions.past import SEPARATOR, START, PastEdges, past_edges
from headwater.archive.tables import ROOTS
from headwater.graph import closed_cycles
from headwater.store.questions import Direction

Tables = Mapping[str, DataFrame]
_EDGE = (
    *("output_namespace", "output_dataset", "output_field", "input_namespace", "input_dataset", "input_field"),
    *("job_namespace", "job_name", "type", "subtype", "masking", "opaque"),
)


def roots(archive: Tables, start: DataFrame, at: datetime | None = None) -> DataFrame:
    """The roots of fields: the fields upstream of them that no edge leads to.

    Those of now also lead through the lineage that a dataset had when it was read, where its rows were replaced since.

    Rows are (namespace, dataset, field, distance, cycle). ``cycle`` is true of the fields of a cycle that no edge leads
    to from outside: all of them are roots. A field that no edge leads to is its own root.

    Args:
        archive: tables as `headwater.archive.build` and `headwater.archive.read` return them.
        start: rows with ``field_id`` and ``dataset_id``, such as some of the table ``fields``.
        at: the lineage of that moment; of now without it.
    """
    with edges_at(archive, at) as edges:
        reached = reach(start, edges, Direction.UP)
        past = past_edges(archive) if at is None else None
        readers = None if past is None else past.readers(edges.fields).join(reached, "field_id", "left_semi")
        if past is None or readers is None or readers.isEmpty():
            return materialized(_named(archive, _roots(reached, edges), "cycle"))
        of_past = start.join(reach(readers, edges, Direction.DOWN, within=reached), "field_id", "left_semi")
        others = start.join(of_past, "field_id", "left_anti")
        found = _roots(reach(others, edges, Direction.UP), edges).select("field_id", "distance", "cycle")
        found = found.union(_roots_of_each(of_past, edges, past).select("field_id", "distance", "cycle"))
        nearest = (sf.min("distance").alias("distance"), sf.bool_or("cycle").alias("cycle"))
        return materialized(_named(archive, found.groupBy("field_id").agg(*nearest), "cycle"))


def column_roots(archive: Tables, at: datetime | None = None) -> DataFrame:
    """Every field with each of its roots, as `roots` has them for each, from one walk for all.

    Rows are those of the table ``column_roots``, `headwater.archive.tables.ROOTS`, as many as all fields have roots
    together, which may be the square of their number. They are read where the archive was built with them.

    Args:
        archive: as for `roots`.
        at: as for `roots`.
    """
    if at is None and "column_roots" in archive:
        return archive["column_roots"]
    with edges_at(archive, at) as edges:
        by_number, numbers = edges.numbered()
        every = by_number.fields.withColumn("distance", sf.lit(0))
        start = materialized(_roots(every, by_number).withColumn("root", sf.col("field_id")))
        found = reach(start, by_number, Direction.DOWN, carried=("root",)).withColumnRenamed("field_id", "number")
        names = _names(archive).join(numbers.select("field_id", sf.col("field").alias("number")), "field_id")
        of_roots = names.select(*(sf.col(name).alias(f"root_{name}") for name in names.columns))
        of_roots = of_roots.join(start.select(sf.col("root").alias("root_number"), "cycle"), "root_number")
        named = ROOTS.select_from(found.join(names, "number").join(of_roots, found.root == of_roots.root_number))
        past = past_edges(archive) if at is None else None
        if past is None:
            return materialized(named)
        of_past = materialized(reach(past.readers(edges.fields), edges, Direction.DOWN).select(*edges.fields.columns))
        each = _roots_of_each(of_past, edges, past).withColumnRenamed("field_id", "root_field_id")
        each = each.withColumnRenamed(START, "field_id").drop("dataset_id")
        of_roots = _names(archive).select(*(sf.col(name).alias(f"root_{name}") for name in _names(archive).columns))
        of_each = each.join(_names(archive), "field_id").join(of_roots, "root_field_id")
        return materialized(named.join(of_past, "field_id", "left_anti").union(ROOTS.select_from(of_each)))


def cycles(archive: Tables, at: datetime | None = None) -> DataFrame:
    """The fields in cycles: the strongly connected components of the graph of fields.

    Rows are (field_id, namespace, dataset, field, component, size). Fields of one ``component``, which is the least of
    their ids, each lead to all others of it; ``size`` is their number, 1 for a field with an edge to itself.

    Args:
        archive: as for `roots`.
        at: as for `roots`.
    """
    with edges_at(archive, at) as edges:
        found = _names(archive).join(components(edges.links()), "field_id")
        return materialized(found.orderBy("component", "namespace", "dataset", "field"))


def impact(archive: Tables, start: DataFrame, at: datetime | None = None) -> DataFrame:
    """All fields downstream of some fields: (namespace, dataset, field, distance), without those.

    Args:
        archive: as for `roots`.
        start: as for `roots`.
        at: as for `roots`.
    """
    with edges_at(archive, at) as edges:
        return materialized(_named(archive, reach(start, edges, Direction.DOWN).where("distance > 0")))


def changes(archive: Tables, since: datetime, until: datetime | None = None) -> DataFrame:
    """The edges that were current at only one of two moments, with ``change``: ``added`` or ``removed``.

    ``output_field`` is NULL for an edge to all fields of a dataset. Without ``until`` the other moment is now.
    """
    before, after = _edges(archive, since), _edges(archive, until)
    return (
        after.exceptAll(before)
        .withColumn("change", sf.lit("added"))
        .union(before.exceptAll(after).withColumn("change", sf.lit("removed")))
        .select("change", *_EDGE)
    )


def _edges(archive: Tables, at: datetime | None) -> DataFrame:
    of_datasets = archive["dataset_edges"].where(valid_at(at)).withColumn("output_field", sf.lit(None).cast("string"))
    return archive["column_edges"].where(valid_at(at)).select(*_EDGE).union(of_datasets.select(*_EDGE)).distinct()


def _roots(reached: DataFrame, edges: Edges) -> DataFrame:
    """The roots among fields, with ``cycle``; all fields upstream of these are among them."""
    # The fields that no edge leads to, nor one to their dataset
    made = edges.of_fields.select(sf.col("output_field_id").alias("field_id")).distinct()
    written = edges.of_datasets.select(sf.col("output_dataset_id").alias("dataset_id")).distinct()
    ends = reached.join(made, "field_id", "left_anti").join(written, "dataset_id", "left_anti").select(*reached.columns)
    sources = ends.withColumn("cycle", sf.lit(False))
    in_cycles = _root_cycles(reached, ends, edges)
    if not in_cycles:
        return sources
    members = reached.sparkSession.createDataFrame([(one,) for one in in_cycles], reached.select("field_id").schema)
    return sources.unionByName(reached.join(members, "field_id").withColumn("cycle", sf.lit(True)))


def _roots_of_each(start: DataFrame, edges: Edges, past: PastEdges) -> DataFrame:
    """The roots of fields with what was read before it was replaced, each by `START` and ``field_id``."""
    found = _roots(*past.edges_of_each(start, edges))
    both = sf.split("field_id", SEPARATOR)
    return found.withColumns({START: both[0], "field_id": both[1]})


def _root_cycles(reached: DataFrame, ends: DataFrame, edges: Edges) -> set[Any]:
    """The fields of cycles that no edge leads to from outside; only fields that no source leads to are collected."""
    with_sources = reach(ends, edges, Direction.DOWN, within=reached)
    rest = reached.join(with_sources, "field_id", "left_anti").select("field_id", "dataset_id")
    if rest.isEmpty():
        return set()
    graph = adjacent(_before(rest, edges))
    found: set[Any] = closed_cycles(graph, (), graph.__getitem__)
    return found


def _before(fields: DataFrame, edges: Edges) -> DataFrame:
    """Fields with the fields one step upstream, which are all among them."""
    over = edges.of_fields.join(fields, fields.field_id == edges.of_fields.output_field_id)
    whole = edges.of_datasets.join(fields, fields.dataset_id == edges.of_datasets.output_dataset_id)
    return over.select("field_id", "input_field_id").union(whole.select("field_id", "input_field_id")).distinct()


def _names(archive: Tables) -> DataFrame:
    """The names of all fields: rows (field_id, namespace, dataset, field)."""
    return archive["fields"].select("field_id", "namespace", "dataset", sf.col("name").alias("field"))


def _named(archive: Tables, fields: DataFrame, *more: str) -> DataFrame:
    rows = fields.join(_names(archive), "field_id").select("namespace", "dataset", "field", "distance", *more)
    return rows.orderBy("distance", "namespace", "dataset", "field")
