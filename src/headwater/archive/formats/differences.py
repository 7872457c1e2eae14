"""Rows in which a table differs from what it is to be, merged into it; and the order of a table's rows."""

from collections.abc import Iterable
from functools import reduce
from operator import and_
from secrets import token_hex

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from headwater.archive.tables import Table

DELETED = "deleted"
"""The column that is true of rows to delete, and false of new and changed ones."""

NEW = "added"
"""The column that is true of new rows."""


def differences(before: DataFrame, after: DataFrame, table: Table) -> DataFrame:
    """The rows to write into a table and those to delete from it, with `DELETED` and `NEW`."""
    old = before.select(sf.struct(*table.columns).alias("before"))
    new = after.select(sf.struct(*table.columns).alias("after"))
    same = _same(sf.col("before"), sf.col("after"), table.key)
    apart = old.join(new, same, "full_outer").where(~sf.col("before").eqNullSafe(sf.col("after")))
    row = sf.coalesce("after", "before").alias("row")
    facts = sf.col("after").isNull().alias(DELETED), sf.col("before").isNull().alias(NEW)
    return apart.select(row, *facts).select("row.*", DELETED, NEW)


def changed(before: DataFrame, changes: DataFrame, table: Table) -> DataFrame:
    """The rows of a table with `differences` applied."""
    return without(before, changes, table.key).unionByName(changes.where(f"NOT {DELETED}").drop(DELETED, NEW))


def merge(target: str, changes: DataFrame, table: Table) -> None:
    """Apply `differences` to a table of Delta or Iceberg, in one commit.

    Args:
        target: the table, as SQL names it.
        changes: rows as `differences` makes them.
        table: its columns and key.
    """
    spark, view = changes.sparkSession, f"headwater_changes_{token_hex(8)}"
    changes.createOrReplaceTempView(view)
    same = " AND ".join(f"old.`{name}` <=> new.`{name}`" for name in table.key)
    values = ", ".join(f"`{name}` = new.`{name}`" for name in table.columns)
    names, new_values = (", ".join(f"{of}`{name}`" for name in table.columns) for of in ("", "new."))
    try:
        spark.sql(
            f"MERGE INTO {target} AS old USING {view} AS new ON {same} "
            f"WHEN MATCHED AND new.{DELETED} THEN DELETE WHEN MATCHED THEN UPDATE SET {values} "
            f"WHEN NOT MATCHED AND NOT new.{DELETED} THEN INSERT ({names}) VALUES ({new_values})"
        )
    finally:
        spark.catalog.dropTempView(view)


def in_table_order(rows: DataFrame, table: Table, *, few: bool = False, ordered: bool = False) -> DataFrame:
    """Rows in the order of the table, so that files and their blocks hold few datasets, and readers skip the others.

    ``few`` rows are sorted by one task: to find the ranges of several takes a job and a shuffle. ``ordered`` ones are
    sorted by the tasks that have them.
    """
    order = (*table.partitions, *table.order)
    if few:
        rows = rows.coalesce(1)
    elif not ordered:
        rows = rows.repartitionByRange(*order)
    return rows.sortWithinPartitions(*order)


def without(rows: DataFrame, others: DataFrame, key: Iterable[str]) -> DataFrame:
    """The rows with keys that are not among those of others; NULL is equal to NULL."""
    return rows.alias("before").join(others.alias("after"), _same(_Part("before"), _Part("after"), key), "left_anti")


class _Part:
    """The columns of one side of a join."""

    def __init__(self, alias: str) -> None:
        self._alias = alias

    def __getitem__(self, name: str) -> Column:
        return sf.col(f"{self._alias}.{name}")


def _same(before: "Column | _Part", after: "Column | _Part", key: Iterable[str]) -> Column:
    return reduce(and_, (before[name].eqNullSafe(after[name]) for name in key))
