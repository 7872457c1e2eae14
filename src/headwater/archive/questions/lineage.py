"""Questions over the tables of an archive, whose answers are tables again: of any size, with Spark."""

from collections.abc import Mapping
from datetime import datetime

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import DOWN, UP, Edges, cut, edges_at, reach, then
from headwater.archive.questions.components import adjacent, components
from headwater.archive.tables import ROOTS
from headwater.graph import closed_cycles

Tables = Mapping[str, DataFrame]
_EDGE = (
    *("output_namespace", "output_dataset", "output_field", "input_namespace", "input_dataset", "input_field"),
    *("job_namespace", "job_name", "type", "subtype", "masking", "opaque"),
)


def roots(archive: Tables, start: DataFrame, at: datetime | None = None) -> DataFrame:
    """The fields that some fields are made of in the end: those that nothing stands before.

    Only lineage that holds at one moment is followed. A store goes on over what a dataset had when it was read
    (`headwater.store.questions.walk.past`), so of a stage that was replaced since it finds roots that are not here.

    Rows are (namespace, dataset, field, distance, cycle); ``cycle`` is true of a field that is made of itself only, by
    itself or with others, of which all are told. A field that nothing stands before is its own root.

    Args:
        archive: its tables, as `headwater.archive.build` and `headwater.archive.read` give them.
        start: rows with ``field_id`` and ``dataset_id``, such as some of the table ``fields``.
        at: the lineage of that moment; of now without it.
    """
    with edges_at(archive, at) as edges:
        return _named(archive, _roots(reach(start, edges, UP), edges), "cycle").localCheckpoint()


def column_roots(archive: Tables, at: datetime | None = None) -> DataFrame:
    """Every field with each of its roots: what `roots` says of each by itself, from one walk for all.

    Rows are those of the table ``column_roots``, `headwater.archive.tables.ROOTS`: there are as many as fields have
    roots together, which may be their number squared. Where the archive was built with them they are read.

    Args:
        archive: as for `roots`.
        at: as for `roots`.
    """
    if at is None and "column_roots" in archive:
        return archive["column_roots"]
    with edges_at(archive, at) as edges:
        every = edges.fields.withColumn("distance", sf.lit(0))
        start = cut(_roots(every, edges).withColumn("root_field_id", sf.col("field_id")))
        found = reach(start, edges, DOWN, kept=("root_field_id", "cycle"))
        names = _names(archive)
        of_roots = names.select(*(sf.col(name).alias(f"root_{name}") for name in names.columns))
        return ROOTS.made_of(found.join(names, "field_id").join(of_roots, "root_field_id")).localCheckpoint()


def cycles(archive: Tables, at: datetime | None = None) -> DataFrame:
    """The fields that are made of one another, by themselves or by way of others.

    Rows are (field_id, namespace, dataset, field, component, size): fields of one ``component``, named by the least of
    their ids, each lead to all others of it; ``size`` is how many they are. A field that is made of itself is one of
    size 1.

    Args:
        archive: as for `roots`.
        at: as for `roots`.
    """
    with edges_at(archive, at) as edges:
        found = _names(archive).join(components(edges.links()), "field_id")
        return found.orderBy("component", "namespace", "dataset", "field").localCheckpoint()


def impact(archive: Tables, start: DataFrame, at: datetime | None = None) -> DataFrame:
    """Every field that depends on some fields: (namespace, dataset, field, distance), without those.

    Args:
        archive: as for `roots`.
        start: as for `roots`.
        at: as for `roots`.
    """
    with edges_at(archive, at) as edges:
        return _named(archive, reach(start, edges, DOWN).where("distance > 0")).localCheckpoint()


def changes(archive: Tables, since: datetime, until: datetime | None = None) -> DataFrame:
    """The edges that were so at one of two moments only, with ``change``: ``added`` or ``removed``.

    ``output_field`` is NULL of an edge to all fields of a dataset. Without ``until`` the other moment is now.
    """
    before, after = _edges(archive, since), _edges(archive, until)
    return (
        after.exceptAll(before)
        .withColumn("change", sf.lit("added"))
        .union(before.exceptAll(after).withColumn("change", sf.lit("removed")))
        .select("change", *_EDGE)
    )


def _edges(archive: Tables, at: datetime | None) -> DataFrame:
    of_datasets = archive["dataset_edges"].where(then(at)).withColumn("output_field", sf.lit(None).cast("string"))
    return archive["column_edges"].where(then(at)).select(*_EDGE).union(of_datasets.select(*_EDGE)).distinct()


def _roots(reached: DataFrame, edges: Edges) -> DataFrame:
    """Those of the fields that are roots, with ``cycle``; all that is upstream of the fields is among them."""
    ends = _without_steps(reached, edges)
    found = ends.withColumn("cycle", sf.lit(False))
    circles = _circles(reached, ends, edges)
    if not circles:
        return found
    members = reached.sparkSession.createDataFrame([(one,) for one in circles], "field_id string")
    return found.unionByName(reached.join(members, "field_id").withColumn("cycle", sf.lit(True)))


def _without_steps(reached: DataFrame, edges: Edges) -> DataFrame:
    """Those of the fields that no edge leads to, nor one to their dataset."""
    made = edges.of_fields.select(sf.col("output_field_id").alias("field_id")).distinct()
    written = edges.of_datasets.select(sf.col("output_dataset_id").alias("dataset_id")).distinct()
    return reached.join(made, "field_id", "left_anti").join(written, "dataset_id", "left_anti").select(*reached.columns)


def _circles(reached: DataFrame, ends: DataFrame, edges: Edges) -> set[str]:
    """The fields of circles that nothing else stands before. They are few: those behind a circle only are collected."""
    explained = reach(ends, edges, DOWN, within=reached)
    lost = reached.join(explained, "field_id", "left_anti").select("field_id", "dataset_id")
    if lost.isEmpty():
        return set()
    graph = adjacent(_before(lost, edges))
    circles: set[str] = closed_cycles(graph, (), graph.__getitem__)
    return circles


def _before(fields: DataFrame, edges: Edges) -> DataFrame:
    """Each of the fields with each of those that it is made of; none is made of others."""
    over = edges.of_fields.join(fields, fields.field_id == edges.of_fields.output_field_id)
    whole = edges.of_datasets.join(fields, fields.dataset_id == edges.of_datasets.output_dataset_id)
    return over.select("field_id", "input_field_id").union(whole.select("field_id", "input_field_id")).distinct()


def _names(archive: Tables) -> DataFrame:
    """What the fields are called: rows (field_id, namespace, dataset, field)."""
    return archive["fields"].select("field_id", "namespace", "dataset", sf.col("name").alias("field"))


def _named(archive: Tables, found: DataFrame, *more: str) -> DataFrame:
    rows = found.join(_names(archive), "field_id").select("namespace", "dataset", "field", "distance", *more)
    return rows.orderBy("distance", "namespace", "dataset", "field")
