"""Runs that replaced all rows of a dataset, and until when lineage of others holds for that: by the store's rules.

A run that overwrote, and whose producer does not say whether all rows or some, may have: it ends nothing, and older
lineage is marked with it. Where such runs are believed they end lineage as all others do.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from headwater.model import ReplacedRows
from headwater.openlineage.reading.events import SUCCESSFUL

MARKS = ("replaced_at", "replaced_by")
"""The end of the last run that may have replaced all rows, and that run."""

ENDS = ("ended_at", *MARKS)
"""What `with_ends` adds."""

_REPLACEMENT = ("moment", "by", "certain")


def replacements(described: DataFrame, runs: DataFrame, *, believe_overwrite: bool) -> DataFrame:
    """The replacements by runs that succeeded, at their ends: rows (dataset_id, moment, by, certain, has_schema).

    ``has_schema`` says that the run told the columns that the dataset has since.

    Args:
        described: what `headwater.archive.fold.descriptions.described` makes.
        runs: what `headwater.archive.fold.run_lineage.runs_of` makes.
        believe_overwrite: counts a run that overwrote as one that replaced all rows.
    """
    certain = sf.lit(True) if believe_overwrite else sf.col("replaces") == ReplacedRows.ALL.value
    certain &= sf.col("restores").isNull()  # until `headwater.archive.fold.restorations` knows the version
    said = described.where("replaces IS NOT NULL")
    ended = runs.where(sf.col("state").isin(*SUCCESSFUL)).select("run", sf.col("state_at").alias("moment"))
    facts = {"certain": certain, "has_schema": sf.col("schema").isNotNull()}
    found = said.withColumns(facts).select("run", "dataset_id", *facts).join(ended, "run")
    key = ("dataset_id", "moment", sf.col("run").alias("by"))
    return found.groupBy(*key).agg(*(sf.max(name).alias(name) for name in facts))


def with_ends(tellings: DataFrame, replacements: DataFrame) -> DataFrame:
    """Adds to what runs told the first replacement by another run after their ends: ``ended_at``.

    ``replaced_by`` and ``replaced_at`` are of the last run that may have replaced it.

    Args:
        tellings: with ``dataset_id``, ``run`` and ``last``, when the run can have written last.
        replacements: what `replacements` makes.
    """
    mine = tellings.withColumns({"moment": sf.col("last"), "by": sf.col("run")})
    both = mine.unionByName(replacements.select("dataset_id", *_REPLACEMENT), allowMissingColumns=True)
    # From the last to the first, so that a row sees what comes after it, and a run not what it did itself.
    order = (sf.desc("moment"), sf.desc("by"), sf.asc_nulls_first("certain"))
    later = Window.partitionBy("dataset_id").orderBy(*order).rowsBetween(Window.unboundedPreceding, -1)
    end, possible = (
        sf.when(condition, sf.struct("moment", "by")) for condition in (sf.col("certain"), ~sf.col("certain"))
    )
    seen = both.withColumns(
        {
            "end": sf.last(end, ignorenulls=True).over(later),
            "possible": sf.first(possible, ignorenulls=True).over(later),
        }
    )
    ends = {"ended_at": "end.moment", "replaced_at": "possible.moment", "replaced_by": "possible.by"}
    found = seen.where("certain IS NULL").withColumns({name: sf.col(one) for name, one in ends.items()})
    return found.drop("end", "possible", *_REPLACEMENT)


def with_left_out(fields: DataFrame, replacements: DataFrame) -> DataFrame:
    """Adds to fields ``left_out``: a run replaced all rows and said the columns, and the last schema is without it."""
    replaced = replacements.where("certain AND has_schema").select("dataset_id", sf.lit(True).alias("replaced"))
    known = fields.join(replaced.distinct(), "dataset_id", "left")
    return known.withColumn("left_out", sf.col("ordinal").isNull() & sf.col("replaced").isNotNull())
