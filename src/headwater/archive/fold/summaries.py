"""The rows of events that datasets, fields and jobs depend on: few, however many events there are.

Rows have the names in events, not the datasets that these mean, and moments at which events had them. So a row stays
true when names change their meanings, and more rows than are needed change nothing: updates add rows to those there.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from headwater.archive.cache import Cache
from headwater.archive.events.parsed_events import ParsedEvents
from headwater.archive.events.schema import COUNT, FLAG, TEXT, columns
from headwater.archive.names.resolver import Resolver

_NAME = ("namespace", "name")
_OF_DATASET = ("schema", "source", "lifecycle", "description")
_OF_JOB = ("job_type", "sql", "description", "location")
_ONE = {**dict.fromkeys(_NAME, TEXT), "at": COUNT}

SUMMARIES: Mapping[str, StructType] = MappingProxyType(
    {
        "descriptions": columns(**_ONE, written=FLAG, **dict.fromkeys((*_OF_DATASET, "version"), TEXT)),
        "field_names": columns(**_ONE, written=FLAG, field_name=TEXT, own=TEXT),
        "jobs": columns(**_ONE, **dict.fromkeys(_OF_JOB, TEXT)),
    }
)
"""The columns of the frames of `Summaries`, by name."""


@dataclass(frozen=True, slots=True)
class Summaries:
    """Descriptions of datasets, names of fields in lineage that counts, and jobs, of some events."""

    descriptions: DataFrame
    field_names: DataFrame
    jobs: DataFrame

    def union(self, others: "Summaries") -> "Summaries":
        """The rows of both."""
        mine, theirs = self.frames(), others.frames()
        return Summaries(**{name: mine[name].unionByName(theirs[name]) for name in SUMMARIES})

    def frames(self) -> dict[str, DataFrame]:
        """The frames by name, with the columns in `SUMMARIES`."""
        return {name: getattr(self, name).select(*kind.names) for name, kind in SUMMARIES.items()}


def summaries_of(
    described: DataFrame, lineage: DataFrame, parsed: ParsedEvents, resolver: Resolver, cache: Cache
) -> Summaries:
    """The summaries of descriptions of datasets, of lineage that counts, and of the jobs of events.

    Args:
        described: rows of `described_in`.
        lineage: rows of `headwater.archive.fold.run_lineage.counted_lineage`.
        parsed: the events, and all lineage.
        resolver: the meanings of names.
        cache: caches frames that are read several times.
    """
    return Summaries(
        cache(description_rows(described, resolver, cache)),
        cache(field_name_rows(lineage, parsed.shapes, resolver)),
        cache(job_rows(parsed.events, parents_occur=parsed.occurring.parents)),
    )


def described_in(events: DataFrame) -> DataFrame:
    """The descriptions of datasets in events, by the names there."""
    return events.select(sf.explode("datasets").alias("one")).select("one.*")


def description_rows(described: DataFrame, resolver: Resolver, cache: Cache) -> DataFrame:
    """The first and the last moment of each description of a dataset; versions apart, of which only the last counts.

    ``described`` are elements of ``datasets`` in events, or rows that were made of such.
    """
    key = (*_NAME, "epoch", "written", *_OF_DATASET)
    # By the version too: Spark sorts all rows where it looks for the greatest struct, so there should be few.
    seen = cache(_moments(resolver.with_epoch(described), *key, "version"))
    last = sf.max(sf.struct(sf.col("last").alias("at"), "version")).alias("one")
    versions = seen.where("version != ''").groupBy(*_NAME, "epoch").agg(last)
    versions = versions.select(*_NAME, "one.*", sf.lit(False).alias("written"))
    moments = seen.groupBy(*key).agg(sf.min("first").alias("first"), sf.max("last").alias("last"))
    return _each_moment(moments).unionByName(versions, allowMissingColumns=True).drop("epoch")


def field_name_rows(lineage: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The names of the fields at both ends of lineage, each at the first moment of it.

    Args:
        lineage: rows of `headwater.archive.fold.run_lineage.counted_lineage`.
        shapes: all lineage in it.
        resolver: the meanings of names: a name that changes its meaning has a row for each of its epochs.
    """
    distinct = lineage.groupBy("shape", "epoch").agg(sf.min("at").alias("at")).join(shapes, "shape")
    written = distinct.select("at", *_NAME, sf.explode("fields").alias("one")).select(
        "at", *_NAME, sf.col("one.name").alias("field_name"), "one.own", sf.lit(True).alias("written")
    )
    read = distinct.select("at", sf.explode("edges").alias("one")).select(
        "at",
        sf.col("one.input_namespace").alias("namespace"),
        sf.col("one.input_name").alias("name"),
        sf.col("one.input_field").alias("field_name"),
        sf.col("one.input_own").alias("own"),
        sf.lit(False).alias("written"),
    )
    placed = resolver.with_epoch(written.unionByName(read))
    return placed.groupBy(*_NAME, "epoch", "field_name", "own", "written").agg(sf.min("at").alias("at"))


def job_rows(events: DataFrame, *, parents_occur: bool = True) -> DataFrame:
    """The first and the last moment of each description of a job; jobs that parents of runs name have none."""
    named = sf.col("job_namespace").alias("namespace"), sf.col("job_name").alias("name")
    seen = _moments(events.select(*named, "at", *_OF_JOB), *_NAME, *_OF_JOB)
    if not parents_occur:
        return _each_moment(seen)
    parents = events.where("parent IS NOT NULL").select("parent.namespace", "parent.name").distinct()
    return _each_moment(seen).unionByName(parents, allowMissingColumns=True)


def _moments(rows: DataFrame, *key: str) -> DataFrame:
    return rows.groupBy(*key).agg(sf.min("at").alias("first"), sf.max("at").alias("last"))


def _each_moment(rows: DataFrame) -> DataFrame:
    return rows.withColumn("at", sf.explode(sf.array_distinct(sf.array("first", "last")))).drop("first", "last")
