"""A cleaning job with quinn's functions and transformations."""

import sys
from pathlib import Path

import quinn
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from quinn.extensions import *  # noqa: F403
from quinn.math import div_or_else
from quinn.transformations import flatten_struct

folder = Path(sys.argv[1])
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .getOrCreate()
)
rows = [
    (1, " Ann  Maes ", "2026-03-04", 12, None, ("Ghent", "9000")),
    (2, "Bob Claes", "2026-03-08", 0, "x", ("Aalst", "9300")),
]
address = "struct<city: string, zip: string>"
schema = f"`Person Id` int, `Full Name` string, day string, `Item Count` int, note string, address {address}"
spark.createDataFrame(rows, schema).write.parquet(str(folder / "raw"))

raw = spark.read.parquet(str(folder / "raw"))
clean = (
    quinn.snake_case_col_names(raw)
    .withColumn("name", quinn.single_space(F.col("full_name")))
    .withColumn("letters", quinn.remove_non_word_characters(F.col("full_name")))
    .withColumn("week", quinn.week_start_date(F.col("day").cast("date")))
    .withColumn("empty", quinn.is_null_or_blank(F.col("note")))
    .withColumn("known", quinn.is_not_in(F.col("name"), ["Cas"]))
    .withColumn("share", div_or_else(F.lit(1), F.col("item_count"), 0.0))
    .withColumn("key", quinn.uuid5(F.col("name"), extra_string="people"))
)
split = quinn.split_col(clean, col_name="name", delimiter=" ", new_col_names=["first", "last"], mode="permissive")
flat = flatten_struct(split, "address", separator="_")
quinn.sort_columns(flat, "asc").write.parquet(str(folder / "clean"))
spark.stop()
