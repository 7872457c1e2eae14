"""Which run told what of a job's output, folded to spans of time, by `headwater.store.ingest.current_lineage`.

Nothing here looks at an edge. What a run tells of an output is one or more *shapes*, digests of lineage; runs that tell
the same one after the other are one span. So the cost goes by distinct lineage, not by runs.
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
PAIR = (*JOB, *OUTPUT)


def runs_of(events: DataFrame) -> DataFrame:
    """The runs of events with job, state, and since when they are in that state.

    An end outweighs everything before it (`headwater.store.ingest.pipeline`).
    """
    weight = sf.struct(sf.col("state").isin(*FINAL).alias("final"), "at", "state", *JOB)
    best = events.groupBy("run").agg(
        sf.max(weight).alias("best"),
        sf.min(sf.when(sf.col("state") == "START", sf.col("at"))).alias("started_at"),
        sf.max("engine").alias("engine"),
        sf.min(_given("parent", sf.struct("at", "digest", "parent"))).alias("child"),
        latest("error"),
    )
    job = (sf.col(f"best.{name}") for name in JOB)
    states = (sf.col("best.state"), sf.col("best.at").alias("state_at"))
    return best.select("run", *job, *states, "started_at", "engine", sf.col("child.parent"), "error")


def latest(name: str) -> Column:
    """What was said last of an attribute that is not empty; of equal times the greater value."""
    value = sf.col(name)
    return sf.max(sf.when(value != "", sf.struct("at", value.alias("value"))))["value"].alias(name)


def _given(name: str, value: Column) -> Column:
    return sf.when(sf.col(name).isNotNull(), value)


def heard(events: DataFrame, runs: DataFrame, shapes: DataFrame, resolver: Resolver) -> DataFrame:
    """What counts of what events told: all of a run that succeeded, and what a stream tells while it runs.

    Rows are (run, digest, at, job, output dataset, shape, epoch, since, last): ``since`` is from when on it holds,
    ``last`` when the run ended: a stream that goes on may write again after everything. ``epoch`` is the last moment
    before at which a name in the shape has changed its meaning.
    """
    told = events.select("digest", "at", "state", "run", "streaming", sf.explode("told").alias("told"))
    told = told.select("digest", "at", "run", _streams().alias("streams"), "told.*")
    states = runs.select("run", *JOB, "state", "state_at")
    counted = told.join(states, "run").where(sf.col("streams") | sf.col("state").isin(*SUCCESSFUL))
    since = sf.when(sf.col("streams"), sf.col("at")).otherwise(sf.col("state_at"))
    last = sf.when(sf.col("state").isin(*_ENDED), sf.col("state_at")).otherwise(FOREVER)
    named = sf.concat(sf.array(sf.struct("namespace", "name")), "inputs")
    cuts = resolver.epochs(shapes.withColumn("inputs", _inputs()), named, ["shape"])
    epoch: Column = sf.lit(BEGINNING)
    if cuts is not None:
        counted, epoch = counted.join(cuts, "shape", "left"), epoch_at("at")
    placed = resolver.datasets(counted, "at")
    moments = (epoch.alias("epoch"), since.alias("since"), last.alias("last"))
    return placed.select("run", "digest", "at", *PAIR, "shape", *moments)


def _streams() -> Column:
    return (sf.col("state") == _RUNNING) & sf.col("streaming")


def _inputs() -> Column:
    names = sf.transform(
        "edges",
        lambda one: sf.struct(one["input_namespace"].alias("namespace"), one["input_name"].alias("name")),
    )
    return sf.array_distinct(names)


def tellings(heard: DataFrame) -> DataFrame:
    """What each run tells of each output: what its latest event with lineage of it says, since it first told any."""
    shapes = sf.sort_array(sf.collect_set(sf.struct("shape", "epoch"))).alias("shapes")
    moments = (sf.min("since").alias("since"), sf.max("last").alias("last"))
    of_event = heard.groupBy("run", "digest", "at", *PAIR).agg(shapes, *moments)
    latest_shapes = sf.max_by("shapes", sf.struct("at", "digest")).alias("shapes")
    return of_event.groupBy("run", *PAIR).agg(latest_shapes, *moments)


def spans(tellings: DataFrame) -> DataFrame:
    """From when until when a job's output was made so: ``since``, ``until`` (NULL when it still is), ``shapes``.

    Each run's telling holds until the next one's, or until another run replaced all rows; equal times go by run id
    (`headwater.store.ingest.lineage_writer`). ``runs`` is how many runs told the same in a row, without a time between
    in which it was replaced.

    Args:
        tellings: with what `headwater.archive.fold.replacements.with_ends` adds.
    """
    pair = Window.partitionBy(*PAIR)
    told = pair.orderBy("since", "run")
    goes_on = sf.coalesce(sf.lag("ended_at").over(told) >= sf.col("since"), sf.lit(True))
    same = goes_on & sf.col("shapes").eqNullSafe(sf.lag("shapes").over(told))
    turns = tellings.withColumn("new", sf.when(same, 0).otherwise(1)).withColumn(
        "turn", sf.sum("new").over(told.rowsBetween(Window.unboundedPreceding, Window.currentRow))
    )
    place = sf.struct("since", "run")
    folded = turns.groupBy(*PAIR, "turn").agg(
        sf.first("shapes").alias("shapes"),
        sf.count("*").alias("runs"),
        sf.min_by("run", place).alias("first_run"),
        sf.max_by("run", place).alias("last_run"),
        sf.min("since").alias("since"),
        *(sf.max_by(name, place).alias(name) for name in ENDS),
    )
    next_turn = sf.lead("since").over(pair.orderBy("turn"))
    ended = folded.withColumn("until", sf.least(next_turn, "ended_at"))
    marks = {name: sf.when(sf.col("until").isNull(), sf.col(name)) for name in MARKS}
    return ended.where("until IS NULL OR since < until").withColumns(marks).drop("turn", "ended_at")
