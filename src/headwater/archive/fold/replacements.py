"""Runs that replaced all rows of a dataset, which ends the lineage of others: by the store's rules.

A run that overwrote, without the producer saying whether all rows or some, may have replaced all: it ends nothing, and
older lineage is marked with it. Where overwrites are believed such runs end lineage as others do.
"""

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from headwater.model import ReplacedRows
from headwater.openlineage.reading.events import SUCCESSFUL

MARKS = ("replaced_at", "replaced_by")
"""The end of the last run that may have replaced all rows, and that run."""

ENDS = ("ended_at", *MARKS)
"""The columns that `with_ends` adds."""

_REPLACEMENT = ("moment", "by", "certain")
_JOB = ("job_namespace", "job_name")
DATASET = ("dataset_id", "dataset_namespace", "dataset")


def replacements_of(described: DataFrame, runs: DataFrame, *, believe_overwrite: bool) -> DataFrame:
    """The replacements of datasets by runs that succeeded, at their ends: rows of ``moment``, ``by``, the run, and job.

    Beside ``certain`` they have ``has_schema``, true of a run whose events contain the schema of the dataset, and
    ``is_restored``, true of one that restored a version of it.

    Args:
        described: rows of `headwater.archive.fold.descriptions.dataset_descriptions`.
        runs: rows of `headwater.archive.fold.run_lineage.runs_of`.
        believe_overwrite: whether a run that overwrote counts as one that replaced all rows.
    """
    certain = sf.lit(True) if believe_overwrite else sf.col("replaces") == ReplacedRows.ALL.value
    certain &= sf.col("restores").isNull()  # certain only where `headwater.archive.fold.restorations` finds the version
    writes = described.where("replaces IS NOT NULL")
    ended = runs.where(sf.col("state").isin(*SUCCESSFUL)).select("run", *_JOB, sf.col("state_at").alias("moment"))
    of_schema, restored = (sf.col(name).isNotNull() for name in ("schema", "restores"))
    facts = {"certain": certain, "has_schema": of_schema, "is_restored": restored}
    found = writes.withColumns(facts).select("run", *DATASET, *facts).join(ended, "run")
    key = (*DATASET, "moment", sf.col("run").alias("by"), *_JOB)
    return found.groupBy(*key).agg(*(sf.max(name).alias(name) for name in facts))


def with_ends(lineage: DataFrame, replacements: DataFrame | None) -> DataFrame:
    """Add to the lineage of runs the first replacement by another run after their ends: ``ended_at``.

    ``replaced_by`` and ``replaced_at`` are of the last run that may have replaced it.

    Args:
        lineage: with ``dataset_id``, ``run`` and ``last``, the last moment at which the run can have written.
        replacements: rows of `replacements_of`; None where there are none.
    """
    if replacements is None:
        moment, run = sf.lit(None).cast("long"), sf.lit(None).cast("string")
        return lineage.withColumns({"ended_at": moment, "replaced_at": moment, "replaced_by": run})
    mine = lineage.withColumns({"moment": sf.col("last"), "by": sf.col("run")})
    both = mine.unionByName(replacements.select("dataset_id", *_REPLACEMENT), allowMissingColumns=True)
    # From the last to the first: the rows before one in this order are later, and a run's own replacement is not.
    order = (sf.desc("moment"), sf.desc("by"), sf.asc_nulls_first("certain"))
    later = Window.partitionBy("dataset_id").orderBy(*order).rowsBetween(Window.unboundedPreceding, -1)
    end, possible = (
        sf.when(condition, sf.struct("moment", "by")) for condition in (sf.col("certain"), ~sf.col("certain"))
    )
    joined = both.withColumns(
        {
            "end": sf.last(end, ignorenulls=True).over(later),
            "possible": sf.first(possible, ignorenulls=True).over(later),
        }
    )
    ends = {"ended_at": "end.moment", "replaced_at": "possible.moment", "replaced_by": "possible.by"}
    found = joined.where("certain IS NULL").withColumns({name: sf.col(one) for name, one in ends.items()})
    return found.drop("end", "possible", *_REPLACEMENT)


def with_left_out(fields: DataFrame, replacements: DataFrame | None) -> DataFrame:
    """Add ``left_out``: a run with a schema replaced all rows, and the latest schema is without the field."""
    if replacements is None:
        return fields.withColumn("left_out", sf.lit(False))
    replaced = replacements.where("certain AND has_schema").select("dataset_id", sf.lit(True).alias("replaced"))
    joined = fields.join(replaced.distinct(), "dataset_id", "left")
    return joined.withColumn("left_out", sf.col("ordinal").isNull() & sf.col("replaced").isNotNull())
