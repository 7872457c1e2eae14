"""Writes partitions of datasets one by one, then reads the datasets whole. Usage: ``partitions.py FOLDER``."""

import sys

from pyspark.sql import SparkSession

CONF = {
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.openlineage.dataset.removePath.pattern": r"(?<remove>/tmp_\w+)",
    "spark.openlineage.dataset.trimPatterns": r"batch_\d+",
    "spark.openlineage.dataset.disabledTrimmers": "io.openlineage.client.dataset.partition.trimmer.YearMonthTrimmer",
}


def main(folder):
    builder = SparkSession.builder.master("local[1]").appName("partitions")
    for key, value in CONF.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.range(3).selectExpr("id", "id * 2 AS twice").write.parquet(f"{folder}/landed")
    landed = spark.read.parquet(f"{folder}/landed")
    landed.selectExpr("twice AS a").write.parquet(f"{folder}/by_key/day=2026-01-01/hour=7")
    landed.selectExpr("id AS a").write.parquet(f"{folder}/by_date/2026/01/02")
    landed.selectExpr("id AS a").write.parquet(f"{folder}/by_pattern/batch_17")
    landed.selectExpr("id AS a").write.parquet(f"{folder}/tmp_x1/removed")
    landed.selectExpr("id AS a").write.parquet(f"{folder}/kept/2026-01")
    spark.read.parquet(f"{folder}/by_key").selectExpr("a + 1 AS b").write.parquet(f"{folder}/out_key")
    spark.read.parquet(f"{folder}/by_date/*/*/*").selectExpr("a AS b").write.parquet(f"{folder}/out_date")
    spark.read.parquet(f"{folder}/by_pattern/batch_17").selectExpr("a AS b").write.parquet(f"{folder}/out_pattern")
    spark.stop()


main(sys.argv[1])
