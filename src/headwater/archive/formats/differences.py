"""What differs between a table and what it should be; how rows lie, and how a MERGE is said."""

from collections.abc import Iterable
from functools import reduce
from operator import and_
from secrets import token_hex

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from headwater.archive.tables import Table

GONE = "gone"
"""The column that tells rows that are no longer there from rows that are new or have changed."""


def differences(before: DataFrame, after: DataFrame, table: Table) -> DataFrame:
    """The rows that differ, as they are to be, and those that are to go, with `GONE`."""
    old = before.select(sf.struct(*table.columns).alias("before"))
    new = after.select(sf.struct(*table.columns).alias("after"))
    same = _same(sf.col("before"), sf.col("after"), table.key)
    apart = old.join(new, same, "full_outer").where(~sf.col("before").eqNullSafe(sf.col("after")))
    row = sf.coalesce("after", "before").alias("row")
    return apart.select(row, sf.col("after").isNull().alias(GONE)).select("row.*", GONE)


def changed(before: DataFrame, changes: DataFrame, table: Table) -> DataFrame:
    """The rows of a table after `differences`."""
    return without(before, changes, table.key).unionByName(changes.where(f"NOT {GONE}").drop(GONE))


def merge(target: str, changes: DataFrame, table: Table) -> None:
    """Applies `differences` to a table of Delta or Iceberg, in one commit.

    Args:
        target: the table, as SQL names it.
        changes: rows as `differences` has them.
        table: what it is.
    """
    spark, view = changes.sparkSession, f"headwater_changes_{token_hex(8)}"
    changes.createOrReplaceTempView(view)
    same = " AND ".join(f"old.`{name}` <=> new.`{name}`" for name in table.key)
    values = ", ".join(f"`{name}` = new.`{name}`" for name in table.columns)
    names, given = (", ".join(f"{of}`{name}`" for name in table.columns) for of in ("", "new."))
    try:
        spark.sql(
            f"MERGE INTO {target} AS old USING {view} AS new ON {same} "
            f"WHEN MATCHED AND new.{GONE} THEN DELETE WHEN MATCHED THEN UPDATE SET {values} "
            f"WHEN NOT MATCHED AND NOT new.{GONE} THEN INSERT ({names}) VALUES ({given})"
        )
    finally:
        spark.catalog.dropTempView(view)


def arranged(rows: DataFrame, table: Table) -> DataFrame:
    """Rows in the order of the table, so that files and their parts hold few datasets, and readers skip the others."""
    order = (*table.parts, *table.order)
    return rows.repartitionByRange(*order).sortWithinPartitions(*order)


def without(rows: DataFrame, others: DataFrame, key: Iterable[str]) -> DataFrame:
    """The rows whose key none of the others has; NULL is equal to NULL."""
    return rows.alias("before").join(others.alias("after"), _same(_Part("before"), _Part("after"), key), "left_anti")


class _Part:
    """The columns of one side of a join."""

    def __init__(self, alias: str) -> None:
        self._alias = alias

    def __getitem__(self, name: str) -> Column:
        return sf.col(f"{self._alias}.{name}")


def _same(before: "Column | _Part", after: "Column | _Part", key: Iterable[str]) -> Column:
    return reduce(and_, (before[name].eqNullSafe(after[name]) for name in key))
