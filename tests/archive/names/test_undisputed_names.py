"""Names that Spark gives their meanings have those that a store gives them, and as many as there are."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from headwater.archive.cache import CachedFrames
from headwater.archive.events.schema import EVENT
from headwater.archive.names.name_meanings import Links, meanings_of_names
from headwater.archive.names.resolver import name_resolver
from headwater.model import Dataset

pytestmark = pytest.mark.spark
OF_NAMES = StructType([EVENT[name] for name in ("at", "renames", "links", "twins")])


def declared(seed: int) -> Iterator[Links]:
    """Other names in many worlds: a table with its location, and now and then chains, circles and names in dispute."""
    chance = random.Random(seed)
    for world in range(60):
        names = [Dataset(f"n{world}", name) for name in "abcde"]
        for _ in range(chance.choice([1, 1, 2, 3])):
            dataset, *others = chance.sample(names, chance.randint(2, 3))
            yield Links(dataset, tuple(sorted((one, "TABLE") for one in others)), 0)


def parts(dataset: Dataset) -> tuple[str, str]:
    return dataset.namespace, dataset.name


def test_names_mean_what_they_mean_in_a_store(spark: Any) -> None:
    links = sorted(set(declared(3)))
    events = [(1, None, [(*parts(one.dataset), [(*parts(of), kind) for of, kind in one.others])], []) for one in links]
    cache = CachedFrames()
    resolver = name_resolver(spark, spark.createDataFrame(events, OF_NAMES), cache)
    found = {tuple(row)[:-1] for row in resolver.meanings.collect()}
    cache.close()
    expected = meanings_of_names([], links).meanings
    assert found == {(*parts(one[0]), *one[1:3], *parts(one[3]), one[4]) for one in expected}
    assert 0 < len(resolver.names.meanings) < resolver.count == len(expected), "some go through a store, not all"


def test_a_driver_holds_nothing_of_30_000_names(spark: Any) -> None:
    """A dataset each with a name in a catalog; with a store for all of 300,000 it took the better part of an hour."""
    other = sf.struct(sf.lit("hive").alias("namespace"), sf.concat(sf.lit("t"), "id").alias("name"), sf.lit("TABLE"))
    links = sf.struct(sf.lit("s3").alias("namespace"), sf.concat(sf.lit("a"), "id").alias("name"), sf.array(other))
    values = {"at": sf.lit(1), "renames": sf.lit(None), "links": sf.array(links), "twins": sf.array()}
    columns = (value.cast(OF_NAMES[name].dataType).alias(name) for name, value in values.items())
    cache = CachedFrames()
    resolver = name_resolver(spark, spark.range(15_000).select(*columns), cache)
    assert (resolver.count, resolver.names.meanings) == (30_000, ())
    named = spark.createDataFrame([(1, "hive", "t77"), (1, "hive", "t15000")], "at long, namespace string, name string")
    assert {row.dataset for row in resolver.datasets(named, "at").collect()} == {"a77", "t15000"}
    cache.close()
