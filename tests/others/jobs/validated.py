"""A job of a Great Expectations user: a suite on a Spark DataFrame before a write, a checkpoint, its result."""

import sys
from pathlib import Path

import great_expectations as gx
import great_expectations.expectations as gxe
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

folder = Path(sys.argv[1]).resolve()
spark = (
    SparkSession.builder.master("local[1]").config("spark.sql.warehouse.dir", str(folder / "warehouse")).getOrCreate()
)
trips = [(1, "ghent", 3.5, "2026-01-02"), (2, "bruges", 120.0, "2026-01-03"), (3, None, 7.25, "2026-02-01")]
spark.createDataFrame(trips, "trip int, city string, price double, day string").write.parquet(str(folder / "trips"))

trips = spark.read.parquet(str(folder / "trips")).withColumn("day", F.to_date("day"))
context = gx.get_context(mode="ephemeral")
asset = context.data_sources.add_spark("lake").add_dataframe_asset("trips")
batches = asset.add_batch_definition_whole_dataframe("all")
suite = context.suites.add(
    gx.ExpectationSuite(
        "trips",
        expectations=[
            gxe.ExpectColumnValuesToNotBeNull(column="city"),
            gxe.ExpectColumnValuesToBeUnique(column="trip"),
            gxe.ExpectColumnValuesToBeBetween(column="price", min_value=0, max_value=100),
            gxe.ExpectColumnValuesToBeInSet(column="city", value_set=["ghent", "bruges"]),
            gxe.ExpectColumnMeanToBeBetween(column="price", min_value=1, max_value=50),
            gxe.ExpectColumnDistinctValuesToContainSet(column="city", value_set=["ghent"]),
            gxe.ExpectCompoundColumnsToBeUnique(column_list=["city", "day"]),
            gxe.ExpectTableRowCountToBeBetween(min_value=1, max_value=10),
        ],
    )
)
definition = context.validation_definitions.add(gx.ValidationDefinition(name="trips", data=batches, suite=suite))
checkpoint = context.checkpoints.add(gx.Checkpoint(name="before the write", validation_definitions=[definition]))
result = checkpoint.run(batch_parameters={"dataframe": trips})
(validation,) = result.run_results.values()
outcomes = [
    (one.expectation_config.type, str(one.expectation_config.kwargs.get("column")), bool(one.success))
    for one in validation.results
]
spark.createDataFrame(outcomes, "expectation string, checked string, success boolean").write.parquet(
    str(folder / "outcomes")
)
good = trips.where("city IS NOT NULL AND price BETWEEN 0 AND 100")
good.write.parquet(str(folder / "good"))
trips.exceptAll(good).groupBy("city").agg(F.count("*").alias("refused")).write.parquet(str(folder / "refused"))
spark.stop()
