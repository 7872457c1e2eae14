"""A deduplication of people with Splink: comparisons, blocking, training by EM, prediction, clusters."""

import sys
from pathlib import Path

import splink.comparison_library as cl
from pyspark.sql import SparkSession
from splink import Linker, SettingsCreator, SparkAPI, block_on

folder = Path(sys.argv[1])
FIRST = ["ann", "bob", "cas", "dora", "eva", "fons", "gust", "hanne"]
LAST = ["maes", "claes", "wouters", "peeters", "jacobs", "mertens", "willems", "goossens", "dubois"]
CITIES = ["ghent", "bruges", "leuven"]


def people():
    """96 persons, a third of them twice, the second time with a slip in the name or another city."""
    for number in range(96):
        row = [FIRST[number % 8], LAST[number % 9], f"19{60 + number % 31}-0{1 + number % 9}-11", CITIES[number % 3]]
        yield (number, *row)
        if number % 3 == 0:
            slip = [row[0][:-1], row[1], row[2], CITIES[(number + 1) % 3]] if number % 2 else [*row[:3], None]
            yield (1000 + number, *slip)


spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", "1")
    .config("spark.default.parallelism", "1")
    .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    .getOrCreate()
)
spark.sparkContext.setCheckpointDir(str(folder / "checkpoints"))
columns = ["unique_id", "first_name", "surname", "born", "city"]
spark.createDataFrame(list(people()), columns).write.parquet(str(folder / "people"))

api = SparkAPI(spark_session=spark, break_lineage_method="parquet", register_udfs_automatically=False)
settings = SettingsCreator(
    link_type="dedupe_only",
    comparisons=[
        cl.LevenshteinAtThresholds("first_name", [1]),
        cl.LevenshteinAtThresholds("surname", [1]),
        cl.ExactMatch("city").configure(term_frequency_adjustments=True),
    ],
    blocking_rules_to_generate_predictions=[block_on("born"), block_on("surname", "city")],
    retain_intermediate_calculation_columns=True,
)
table = spark.read.parquet(str(folder / "people"))
try:
    linker = Linker(api.register(table), settings)
except AttributeError:
    linker = Linker(table, settings, db_api=api)
linker.training.estimate_u_using_random_sampling(max_pairs=1e4, seed=1)
linker.training.estimate_parameters_using_expectation_maximisation(block_on("born"))
predictions = linker.inference.predict(threshold_match_probability=0.05)
predictions.as_spark_dataframe().write.parquet(str(folder / "predictions"))
clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(predictions, 0.5)
clusters.as_spark_dataframe().write.parquet(str(folder / "clusters"))
spark.stop()
