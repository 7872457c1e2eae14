"""A job of a mack user on Delta tables: history of the second type, duplicates, appends, copies."""

import sys
from pathlib import Path

import mack
from delta import DeltaTable, configure_spark_with_delta_pip
from pyspark.sql import SparkSession

folder = Path(sys.argv[1])
builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension")
    .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
    .config("spark.databricks.delta.snapshotPartitions", "1")
)
spark = configure_spark_with_delta_pip(builder).getOrCreate()


def source(name, rows, schema):
    """A Parquet file of rows, read again."""
    spark.createDataFrame(rows, schema).write.parquet(str(folder / name))
    return spark.read.parquet(str(folder / name))


def delta(name, frame):
    """A Delta table at a path, of what a frame has."""
    frame.write.format("delta").save(str(folder / name))
    return DeltaTable.forPath(spark, str(folder / name))


HISTORY = "pkey int, attr1 string, attr2 string, is_current boolean, effective_time string, end_time string"
EVENTS = "id int, who string, what string"
rows = [(1, "A", "A", True, "2026-01-01", None), (2, "B", "B", True, "2026-01-01", None)]
history = delta("history", source("members", rows, HISTORY))
updates = [(2, "Z", None, "2026-02-01"), (3, "C", "C", "2026-03-01")]
update = source("updates", updates, "pkey int, attr1 string, attr2 string, effective_time string")
mack.type_2_scd_upsert(history, update, "pkey", ["attr1", "attr2"])
history.toDF().write.parquet(str(folder / "history_now"))

raw = [(1, "ann", "in"), (2, "ann", "in"), (3, "bob", "in"), (4, "cas", "out"), (5, "cas", "out")]
events = delta("events", source("raw_events", raw, EVENTS))
mack.drop_duplicates_pkey(events, "id", ["who", "what"])
mack.append_without_duplicates(events, source("late", [(3, "bob", "in"), (6, "dora", "in")], EVENTS), ["id"])
mack.validate_append(events, source("sure", [(7, "eva", "in")], EVENTS), ["id", "who"], ["what"])
events.toDF().write.parquet(str(folder / "events_now"))

mack.copy_table(events, target_path=str(folder / "copied"))
copied = DeltaTable.forPath(spark, str(folder / "copied"))
twice = source("twice", [(8, "eva", "in"), (9, "eva", "in")], EVENTS)
twice.write.format("delta").mode("append").save(str(folder / "copied"))
mack.kill_duplicates(copied, ["who", "what"])
spark.sql(f"ALTER TABLE delta.`{folder.resolve()}/copied` ADD CONSTRAINT numbered CHECK (id > 0)")
more = source("more", [(10, "fons", "in"), (-1, "gust", "in")], EVENTS)
mack.constraint_append(copied, more, delta("refused", twice))
mack.with_md5_cols(copied.toDF(), ["who", "what"], "key").write.parquet(str(folder / "keyed"))
print(mack.latest_version(copied), mack.find_composite_key_candidates(copied))
spark.stop()
