"""Runs that replaced all rows of a dataset, and until when lineage of others holds for that: by the store's rules.

A run that overwrote, and whose producer does not say whether all rows or some, may have: it ends nothing, and older
lineage is marked with it. Where such runs are believed they end lineage as all others do.
"""

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from headwater.model import ReplacedRows
from headwater.store.events import SUCCESSFUL

MARKS = ("replaced_at", "replaced_by")
"""The first run that may have replaced all rows, and its end."""

ENDS = ("ended_at", *MARKS)
"""What `with_ends` adds."""

_REPLACEMENT = ("moment", "by", "certain")


def replacements(described: DataFrame, runs: DataFrame, *, believe_overwrite: bool) -> DataFrame:
    """The replacements by runs that succeeded, at their ends: rows (dataset_id, moment, by, certain, has_schema).

    ``has_schema`` says that the run told the columns that the dataset has since.

    Args:
        described: what `headwater.archive.describing.described` makes.
        runs: what `headwater.archive.folding.runs_of` makes.
        believe_overwrite: counts a run that overwrote as one that replaced all rows.
    """
    certain = sf.lit(True) if believe_overwrite else sf.col("replaces") == ReplacedRows.ALL.value
    said = described.where("replaces IS NOT NULL")
    ended = runs.where(sf.col("state").isin(*SUCCESSFUL)).select("run", sf.col("state_at").alias("moment"))
    facts = {"certain": certain, "has_schema": sf.col("schema").isNotNull()}
    found = said.withColumns(facts).select("run", "dataset_id", *facts).join(ended, "run")
    key = ("dataset_id", "moment", sf.col("run").alias("by"))
    return found.groupBy(*key).agg(*(sf.max(name).alias(name) for name in facts))


def with_ends(tellings: DataFrame, replacements: DataFrame) -> DataFrame:
    """Adds to what runs told the first replacement by another run after their ends: ``ended_at``.

    ``replaced_by`` and ``replaced_at`` are of the first run that may have replaced it before that.

    Args:
        tellings: with ``dataset_id``, ``run`` and ``last``, when the run can have written last.
        replacements: what `replacements` makes.
    """
    mine = tellings.withColumns({"moment": sf.col("last"), "by": sf.col("run")})
    both = mine.unionByName(replacements.select("dataset_id", *_REPLACEMENT), allowMissingColumns=True)
    # From the last to the first, so that a row sees what comes after it, and a run not what it did itself.
    order = (sf.desc("moment"), sf.desc("by"), sf.asc_nulls_first("certain"))
    later = Window.partitionBy("dataset_id").orderBy(*order).rowsBetween(Window.unboundedPreceding, -1)
    seen = both.withColumns({"end": _nearest(True, later), "possible": _nearest(False, later)})
    ended = seen.where("certain IS NULL").drop(*_REPLACEMENT)
    before = sf.col("end").isNull() | (sf.col("possible.moment") < sf.col("end.moment"))
    possible = sf.when(before, sf.col("possible"))
    return ended.withColumns(
        {"ended_at": sf.col("end.moment"), "replaced_at": possible["moment"], "replaced_by": possible["by"]}
    ).drop("end", "possible")


def with_left_out(fields: DataFrame, replacements: DataFrame) -> DataFrame:
    """Adds to fields ``left_out``: a run replaced all rows and said the columns, and the last schema is without it."""
    replaced = replacements.where("certain AND has_schema").select("dataset_id", sf.lit(True).alias("replaced"))
    known = fields.join(replaced.distinct(), "dataset_id", "left")
    return known.withColumn("left_out", sf.col("ordinal").isNull() & sf.col("replaced").isNotNull())


def _nearest(certain: bool, window: Column) -> Column:
    """The last row before in a window that is such a replacement."""
    return sf.last(sf.when(sf.col("certain") == certain, sf.struct("moment", "by")), ignorenulls=True).over(window)
