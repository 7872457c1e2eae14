"""Fields that are made of one another: the strongly connected components of the graph of fields, with Spark.

What no circle goes through falls off first: fields that nothing stands before, or that nothing is made of, again and
again. In what is left each field takes the least id of those that lead to it; fields that the owner of such an id is
made of in turn, by way of fields with that id only, are its component (Fleischer, Hendrickson and Pinar 2000; coloring
as in Orzan 2004). Components are taken out, and it begins anew. As soon as few links are left the driver does the rest.
"""

from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.questions.closure import cut
from headwater.graph import components as components_of

_MEMBER = "field_id string, component string"
_FEW = 200_000  # links: some 100 MB on the driver


def components(links: DataFrame) -> DataFrame:
    """The fields of circles as rows (field_id, component, size); ``component`` is the least id in it.

    ``links`` are rows (source, target), each once. A field that is made of itself is a circle of one.
    """
    found = []
    left = _trimmed(cut(links))
    while left.count() > _FEW:
        found.append(_members(left, _least(left)))
        left = _trimmed(cut(_without(left, found[-1])))
    found.append(links.sparkSession.createDataFrame(_of_few(left), _MEMBER))
    every = reduce(DataFrame.union, found)
    size = sf.count("*").over(Window.partitionBy("component")).alias("size")
    own = links.where("source = target").select(sf.col("source").alias("field_id"), sf.lit(True).alias("own"))
    return every.select("*", size).join(own, "field_id", "left").where("size > 1 OR own").drop("own")


def _trimmed(links: DataFrame) -> DataFrame:
    """The links that are left when those are gone that nothing leads to, or that lead to nothing; or few are left."""
    count = links.count()
    while count > _FEW:
        ends = links.select(sf.col("target").alias("source")), links.select(sf.col("source").alias("target"))
        links = cut(links.join(ends[0], "source", "left_semi").join(ends[1], "target", "left_semi"))
        before, count = count, links.count()
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
    """Of each field the least id of those that lead to it, its own among them: rows (field_id, component)."""
    known = new = cut(links.select(sf.col("source").alias("field_id"), sf.col("source").alias("component")).distinct())
    while True:
        least = sf.min("component").alias("least")
        told = links.join(new.withColumnRenamed("field_id", "source"), "source").groupBy("target").agg(least)
        less = told.withColumnRenamed("target", "field_id").join(known, "field_id").where("least < component")
        new = cut(less.select("field_id", sf.col("least").alias("component")))
        if new.isEmpty():
            return known
        better = new.withColumnRenamed("component", "least")
        known = known.join(better, "field_id", "left").select("field_id", sf.coalesce("least", "component"))
        known = cut(known.toDF("field_id", "component"))


def _members(links: DataFrame, least: DataFrame) -> DataFrame:
    """The fields from which links lead to the owner of their id, by way of fields with that id."""
    source, target = (_at(side, least) for side in ("source", "target"))
    within = cut(links.join(source, "source").join(target, ["target", "component"]))
    known = new = cut(least.where("field_id = component"))
    while True:
        before = _at("target", new).join(within, ["target", "component"])
        found = before.select(sf.col("source").alias("field_id"), "component").distinct()
        new = cut(found.join(known, "field_id", "left_anti"))
        if new.isEmpty():
            return known
        known = cut(known.union(new))


def _at(side: str, members: DataFrame) -> DataFrame:
    """Members by one side of links; with new columns: Spark 3.5 fails where both sides of a join have the same one."""
    return members.select(sf.col("field_id").alias(side), sf.col("component").alias("component"))


def _without(links: DataFrame, members: DataFrame) -> DataFrame:
    gone = members.select("field_id")
    for side in ("source", "target"):
        links = links.join(gone.withColumnRenamed("field_id", side), side, "left_anti")
    return links.select("source", "target")
