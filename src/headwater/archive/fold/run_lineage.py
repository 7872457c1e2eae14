"""The lineage of runs, folded into spans of time in which a job's output has the same: by the rules of the store.

Nothing here looks at an edge. The lineage that a run has for an output is one or more *shapes*, digests of lineage;
consecutive runs with the same shapes are one span. So the cost goes by distinct lineage, not by runs.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from headwater.archive.fold.replacements import ENDS, MARKS
from headwater.archive.names.resolver import Resolver, epoch_at
from headwater.model.time import BEGINNING, FOREVER
from headwater.openlineage.reading.events import FINAL, SUCCESSFUL

_RUNNING = "RUNNING"
_ENDED = {*FINAL, *SUCCESSFUL}
JOB = ("job_namespace", "job_name")
OUTPUT = ("dataset_id", "dataset_namespace", "dataset")
PAIR = (*OUTPUT, *JOB)  # the id first: Spark compares most rows by the first eight bytes when it sorts


def runs_of(events: DataFrame) -> DataFrame:
    """The runs of events with their jobs, states, and the moments since which they are in these.

    An end counts more than any other state, whatever their times (`headwater.store.ingest.pipeline`).
    """
    weight = sf.struct(sf.col("state").isin(*FINAL).alias("final"), "at", "state", *JOB)
    best = events.groupBy("run").agg(
        sf.max(weight).alias("best"),
        sf.min(sf.when(sf.col("state") == "START", sf.col("at"))).alias("started_at"),
        sf.max("engine").alias("engine"),
        sf.min(sf.when(sf.col("parent").isNotNull(), sf.struct("at", "digest", "parent"))).alias("child"),
        latest("error"),
    )
    job = (sf.col(f"best.{name}") for name in JOB)
    states = (sf.col("best.state"), sf.col("best.at").alias("state_at"))
    return best.select("run", *job, *states, "started_at", "engine", sf.col("child.parent"), "error")


def latest(name: str) -> Column:
    """The latest value of an attribute that is not empty; of equal times the greater value."""
    value = sf.col(name)
    return sf.max(sf.when(value != "", sf.struct("at", value.alias("value"))))["value"].alias(name)


def outputs_in(events: DataFrame) -> DataFrame:
    """The outputs with lineage in events, by the names there."""
    outputs = events.select("digest", "at", "state", "run", "streaming", sf.explode("outputs").alias("output"))
    streams = (sf.col("state") == _RUNNING) & sf.col("streaming")
    return outputs.select("digest", "at", "run", streams.alias("streams"), "output.*")


def counted_lineage(outputs: DataFrame, runs: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """The lineage of outputs in events that counts: all of a run that succeeded, and that of a stream while it runs.

    Rows are (run, digest, at, job, output dataset, shape, epoch, since, last). ``since`` is the moment from which on it
    is current, ``last`` the end of the run: FOREVER for a stream that is running, which may write again after any
    moment. ``epoch`` is the last moment before at which a name in the shape has changed its meaning.
    """
    states = runs.select("run", *JOB, "state", "state_at")
    counted = outputs.join(states, "run").where(sf.col("streams") | sf.col("state").isin(*SUCCESSFUL))
    since = sf.when(sf.col("streams"), sf.col("at")).otherwise(sf.col("state_at"))
    last = sf.when(sf.col("state").isin(*_ENDED), sf.col("state_at")).otherwise(FOREVER)
    inputs = sf.transform(
        "edges", lambda one: sf.struct(one["input_namespace"].alias("namespace"), one["input_name"].alias("name"))
    )
    names = sf.concat(sf.array(sf.struct("namespace", "name")), "inputs")
    cuts = resolver.epochs(shapes.withColumn("inputs", sf.array_distinct(inputs)), names, ["shape"])
    epoch: Column = sf.lit(BEGINNING)
    if cuts is not None:
        counted, epoch = counted.join(cuts, "shape", "left"), epoch_at("at")
    placed = resolver.datasets(counted, "at")
    moments = (epoch.alias("epoch"), since.alias("since"), last.alias("last"))
    return placed.select("run", "digest", "at", *PAIR, "shape", *moments)


def lineage_by_run(lineage: DataFrame) -> DataFrame:
    """The lineage of each run for each output: that of its latest event, since its first event with any."""
    shapes = sf.sort_array(sf.collect_set(sf.struct("shape", "epoch"))).alias("shapes")
    moments = (sf.min("since").alias("since"), sf.max("last").alias("last"))
    of_event = lineage.groupBy("run", "digest", "at", *PAIR).agg(shapes, *moments)
    latest_shapes = sf.max_by("shapes", sf.struct("at", "digest")).alias("shapes")
    return of_event.groupBy("run", *PAIR).agg(latest_shapes, *moments)


def with_runs_before(replacements: DataFrame, lineage: DataFrame) -> DataFrame:
    """Add ``before_at`` to replacements: when the runs of the job before, with lineage of the dataset, had ended.

    It is NULL where there are none, or where the run that replaced has no lineage of the dataset itself.

    Args:
        replacements: rows of `headwater.archive.fold.replacements.replacements_of`.
        lineage: rows of `lineage_by_run`.
    """
    earlier = Window.partitionBy(*PAIR).orderBy("since").rangeBetween(Window.unboundedPreceding, -1)
    ended = sf.max("last").over(earlier).alias("ended_before")
    of_runs = lineage.select(sf.col("run").alias("by"), "dataset_id", ended)
    joined = replacements.join(of_runs, ["by", "dataset_id"], "left")
    before = sf.when(sf.col("ended_before").isNotNull(), sf.least("ended_before", "moment"))
    return joined.withColumn("before_at", before)


def spans(lineage: DataFrame) -> DataFrame:
    """The spans of lineage of each job and output: ``since``, ``until`` (NULL of a current one), ``shapes``.

    The lineage of a run is current until that of the next one, or until another run replaces all rows; equal times go
    by run id (`headwater.store.ingest.lineage_writer`). ``runs`` is the number of consecutive runs with the same
    lineage, between which it was not replaced.

    Args:
        lineage: rows of `lineage_by_run`, with the columns of `headwater.archive.fold.replacements.with_ends`.
    """
    pair = Window.partitionBy(*PAIR)
    in_order = pair.orderBy("since", "run")
    goes_on = sf.coalesce(sf.lag("ended_at").over(in_order) >= sf.col("since"), sf.lit(True))
    same = goes_on & sf.col("shapes").eqNullSafe(sf.lag("shapes").over(in_order))
    turns = lineage.withColumn("new", sf.when(same, 0).otherwise(1)).withColumn(
        "turn", sf.sum("new").over(in_order.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    )
    place = sf.struct("since", "run")
    folded = turns.groupBy(*PAIR, "turn").agg(
        sf.first("shapes").alias("shapes"),
        sf.count("*").alias("runs"),
        sf.min_by("run", place).alias("first_run"),
        sf.max_by("run", place).alias("last_run"),
        sf.min("since").alias("since"),
        sf.max("since").alias("last_at"),
        *(sf.max_by(name, place).alias(name) for name in ENDS),
    )
    next_turn = sf.lead("since").over(pair.orderBy("turn"))
    ended = folded.withColumn("until", sf.least(next_turn, "ended_at"))
    marks = {name: sf.when(sf.col("until").isNull(), sf.col(name)) for name in MARKS}
    return ended.where("until IS NULL OR since < until").withColumns(marks).drop("turn", "ended_at")
