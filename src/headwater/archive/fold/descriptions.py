"""The rows of all tables but those of edges: events, runs, jobs, datasets, fields, coverage and quarantine."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from headwater.archive.events.schema import event_day
from headwater.archive.fold.run_lineage import JOB, latest
from headwater.archive.names.resolver import Resolver

_DATASET = ("dataset_id", "dataset_namespace", "dataset", "begun")
_OF_FIELD = ("field_id", "own", *_DATASET)  # the id first: Spark compares most rows by its first eight bytes


def events(parsed: DataFrame) -> DataFrame:
    """The events with their days."""
    return parsed.withColumn("day", sf.date_from_unix_date(event_day().cast("int")))


def runs(runs_with_events: DataFrame, parsed: DataFrame, *, parents_occur: bool = True) -> DataFrame:
    """The runs, also those without events that are the parents of others."""
    others = runs_with_events.withColumn("parent_run", sf.col("parent.run")).drop("parent")
    if not parents_occur:
        return others
    parents = (
        parsed.where("parent IS NOT NULL")
        .groupBy("parent.run")
        .agg(sf.min(sf.struct("at", "digest", "parent"))["parent"].alias("parent"))
    )
    job = sf.col("parent.namespace").alias(JOB[0]), sf.col("parent.name").alias(JOB[1])
    without_events = parents.join(runs_with_events.select("run"), "run", "left_anti").select("run", *job)
    return others.unionByName(without_events, allowMissingColumns=True)


def jobs(rows: DataFrame) -> DataFrame:
    """The jobs with the latest values of their attributes, of rows of `headwater.archive.fold.summaries.job_rows`."""
    grouped = rows.where("name != ''").groupBy("namespace", "name")
    latest_values = (latest(name) for name in ("job_type", "sql", "description", "location"))
    return grouped.agg(*latest_values, sf.min("at").alias("first_at"), sf.max("at").alias("last_at"))


def writes(events: DataFrame, resolver: Resolver) -> DataFrame:
    """The descriptions of datasets whose rows a run replaced or restored, or of which it made a version."""
    of_rows = sf.filter(
        "datasets", lambda one: one["replaces"].isNotNull() | one["restores"].isNotNull() | (one["made_version"] != "")
    )
    return resolver.datasets(events.select("run", sf.explode(of_rows).alias("one")).select("run", "one.*"), "at")


def datasets(described: DataFrame, all_fields: DataFrame, resolver: Resolver) -> DataFrame:
    """The datasets by their present names, with all their names and the latest values of their attributes."""
    with_descriptions = described.groupBy(*_DATASET).agg(
        *(latest(name) for name in ("source", "lifecycle", "version", "description")),
        sf.min("at").alias("first_at"),
        sf.max("at").alias("last_at"),
    )
    others = all_fields.select(*_DATASET).distinct()
    others = others.join(with_descriptions.select("dataset_id"), "dataset_id", "left_anti")
    every = with_descriptions.unionByName(others, allowMissingColumns=True)
    own = sf.array(
        sf.struct(
            sf.col("dataset_namespace").alias("namespace"),
            sf.col("dataset").alias("name"),
            sf.lit(None).cast("timestamp").alias("valid_from"),
            sf.lit(None).cast("timestamp").alias("valid_to"),
        )
    )
    if not resolver.count:
        return every.withColumn("names", own)
    return every.join(resolver.all_names(), "dataset_id", "left").withColumn("names", sf.coalesce("names", own))


def lineage_fields(rows: DataFrame, resolver: Resolver) -> DataFrame:
    """The fields in rows of `headwater.archive.fold.summaries.field_name_rows`, with datasets and present names."""
    found = resolver.fields(resolver.datasets(rows, "at"), "at", "field_name")
    return found.select(*_OF_FIELD, "spelled", "written").distinct()


def fields(described: DataFrame, schemas: DataFrame, of_lineage: DataFrame, resolver: Resolver) -> DataFrame:
    """The fields of datasets: those of all schemas, and those of lineage.

    Types and ordinals are those of the latest schema; a field that is not in it has none. Names are spelled by the
    rules of `headwater.store.ingest.field_spelling`; ``own`` is the name in comparisons.
    """
    dated = described.where("schema IS NOT NULL").select(*_DATASET, "at", "schema", "written").distinct()
    moment = sf.struct("at", "schema")
    written = sf.max(sf.when(sf.col("written"), moment)).alias("last_written")
    last = dated.groupBy("dataset_id").agg(sf.max(moment).alias("last"), written)
    placed = dated.join(schemas, "schema").join(last, "dataset_id")
    now = (sf.col("at") == sf.col("last.at")) & (sf.col("schema") == sf.col("last.schema"))
    is_last = (sf.col("at") == sf.col("last_written.at")) & (sf.col("schema") == sf.col("last_written.schema"))
    exploded = placed.select(
        *_DATASET,
        "at",
        "written",
        now.alias("now"),
        (sf.col("written") & is_last).alias("current"),
        sf.posexplode("fields").alias("place", "one"),
    )
    exploded = exploded.withColumn("field_name", sf.col("one.name")).withColumn("own", sf.col("one.own"))
    of_schemas = resolver.fields(exploded, "at", "field_name").select(
        *_OF_FIELD,
        *("spelled", "written"),
        sf.when(sf.col("now"), sf.struct("place", sf.col("one.type").alias("type"))).alias("last"),
        sf.when(sf.col("current"), sf.col("spelled")).alias("current"),
    )
    others = of_lineage.unionByName(resolver.renamed_fields())
    both = of_schemas.unionByName(others, allowMissingColumns=True)
    best = sf.max(sf.when(sf.col("spelled").isNotNull(), sf.struct("written", "spelled"))).alias("best")
    whole = both.groupBy(*_OF_FIELD).agg(sf.max("last").alias("last"), sf.max("current").alias("current"), best)
    spelled = _spelled(whole, resolver).withColumn("written", sf.col("current").isNotNull())
    return spelled.withColumn("type", sf.nullif("last.type", sf.lit(""))).withColumn("ordinal", sf.col("last.place"))


def _spelled(whole: DataFrame, resolver: Resolver) -> DataFrame:
    """Add ``field``, the name as it is spelled."""
    best = sf.col("best")
    if resolver.names.spellings:
        whole = whole.join(sf.broadcast(resolver.rename_spellings()), ["dataset_id", "own"], "left")
        renamed = sf.when(
            sf.col("renamed").isNotNull(), sf.struct(sf.lit(True).alias("written"), sf.col("renamed").alias("spelled"))
        )
        best = sf.greatest(best, renamed)
    return whole.withColumn("field", sf.coalesce("current", best["spelled"], "own"))


def coverage(parsed: DataFrame, runs_with_events: DataFrame) -> DataFrame:
    """The gaps in the lineage of runs, each once for a run."""
    gaps = parsed.select("run", sf.explode("gaps").alias("gap")).select("run", "gap.*").distinct()
    return gaps.join(runs_with_events.select("run", *JOB), "run")


def quarantine(rejected: DataFrame) -> DataFrame:
    """The lines that are no events, with the reasons."""
    return rejected.where("rejected IS NOT NULL").select("rejected.*")
