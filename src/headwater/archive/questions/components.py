"""Strongly connected components of the graph of fields, with Spark.

Fields without an incoming or without an outgoing link are in no cycle: they are removed, again and again. Then each
field takes the least id of those that lead to it, its color; the component of a field whose own id is its color are the
fields of that color that lead to it over fields of that color (Fleischer, Hendrickson and Pinar 2000; coloring as in
Orzan 2004). Components are removed, and all is repeated. As soon as few links are left the driver does the rest.
"""

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import counted, materialized
from headwater.graph import components as components_of

_MEMBER = "field_id string, component string"
DRIVER_LINKS = 200_000
"""The number of links at most whose components the driver finds: some 100 MB of its memory."""


def components(links: DataFrame) -> DataFrame:
    """The fields in cycles as rows (field_id, component, size); ``component`` is the least id in it.

    ``links`` are rows (source, target), each once. A field with a link to itself is a cycle of one.
    """
    found = []
    left = _trimmed(materialized(links))
    while left.count() > DRIVER_LINKS:
        found.append(_members(left, _least(left)))
        left = _trimmed(materialized(_without(left, found[-1])))
    found.append(links.sparkSession.createDataFrame(_of_few(left), _MEMBER))
    every = reduce(DataFrame.union, found)
    size = sf.count("*").over(Window.partitionBy("component")).alias("size")
    own = links.where("source = target").select(sf.col("source").alias("field_id"), sf.lit(True).alias("own"))
    return every.select("*", size).join(own, "field_id", "left").where("size > 1 OR own").drop("own")


def _trimmed(links: DataFrame) -> DataFrame:
    """The links that may be in cycles: each ends where another begins. It stops early when few are left."""
    count = links.count()
    while count > DRIVER_LINKS:
        ends = links.select(sf.col("target").alias("source")), links.select(sf.col("source").alias("target"))
        before = count
        links, count = counted(links.join(ends[0], "source", "left_semi").join(ends[1], "target", "left_semi"))
        if count == before:
            break
    return links


def _of_few(links: DataFrame) -> list[tuple[str, str]]:
    """The components of few links as rows (field_id, component)."""
    graph = adjacent(links)
    return [(one, min(some)) for some in components_of(graph, graph.__getitem__) for one in some]


def adjacent(links: DataFrame) -> dict[str, list[str]]:
    """Each id of few links with those that it leads to; ``links`` are rows of two ids, from one to the other."""
    graph: dict[str, list[str]] = {}
    ids: dict[str, str] = {}  # each row has texts of its own: one of each id is enough
    for source, target in links.collect():
        graph.setdefault(ids.setdefault(source, source), []).append(ids.setdefault(target, target))
    return {one: graph.get(one, []) for one in ids}


def _least(links: DataFrame) -> DataFrame:
    """The least id of the fields that lead to a field and its own: rows (field_id, component)."""
    best = new = materialized(
        links.select(sf.col("source").alias("field_id"), sf.col("source").alias("component")).distinct()
    )
    while True:
        least = sf.min("component").alias("least")
        lowest = links.join(new.withColumnRenamed("field_id", "source"), "source").groupBy("target").agg(least)
        less = lowest.withColumnRenamed("target", "field_id").join(best, "field_id").where("least < component")
        new, many = counted(less.select("field_id", sf.col("least").alias("component")))
        if not many:
            return best
        better = new.withColumnRenamed("component", "least")
        best = best.join(better, "field_id", "left").select("field_id", sf.coalesce("least", "component"))
        best = materialized(best.toDF("field_id", "component"))


def _members(links: DataFrame, least: DataFrame) -> DataFrame:
    """The fields that lead to the field of their color, over fields of that color."""
    source, target = (_at(side, least) for side in ("source", "target"))
    within = materialized(links.join(source, "source").join(target, ["target", "component"]))
    members = new = materialized(least.where("field_id = component"))
    while True:
        before = _at("target", new).join(within, ["target", "component"])
        found = before.select(sf.col("source").alias("field_id"), "component").distinct()
        new, many = counted(found.join(members, "field_id", "left_anti"))
        if not many:
            return members
        members = materialized(members.union(new))


def _at(side: str, members: DataFrame) -> DataFrame:
    """Members by one side of links."""
    # New columns, because Spark 3.5 fails where both sides of a join have the same one.
    return members.select(sf.col("field_id").alias(side), sf.col("component").alias("component"))


def _without(links: DataFrame, members: DataFrame) -> DataFrame:
    gone = members.select("field_id")
    for side in ("source", "target"):
        links = links.join(gone.withColumnRenamed("field_id", side), side, "left_anti")
    return links.select("source", "target")
