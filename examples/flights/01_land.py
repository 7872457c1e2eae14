"""Land the raw CSV files as Parquet, as they are.

Run it: python 01_land.py RAW LAKE
"""

import sys

from pyspark.sql import SparkSession


def main(raw: str, lake: str) -> None:
    spark = SparkSession.builder.appName("flights_land").getOrCreate()
    csv = spark.read.options(header=True, inferSchema=True, nullValue="NA")

    for name in ("airlines", "airports", "planes", "weather"):
        csv.csv(f"{raw}/{name}.csv").write.mode("overwrite").parquet(f"{lake}/bronze/{name}")

    flights = csv.csv(f"{raw}/flights.csv")
    flights.write.mode("overwrite").partitionBy("month").parquet(f"{lake}/bronze/flights")

    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
