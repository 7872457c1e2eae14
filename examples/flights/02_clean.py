"""Clean the flights and join what is known of airline, plane, airports and weather.

Run it: python 02_clean.py LAKE
"""

import re
import sys

import numpy as np
import pandas as pd
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DoubleType, StringType

EARTH_RADIUS_KM = 6371.0


@sf.udf(StringType())
def aircraft_family(model):
    """``A320-214`` -> ``A320``, ``737-824`` -> ``737``."""
    found = re.match(r"([A-Z]*)-?(\d+)", model or "")
    return "".join(found.groups()) if found else None


@sf.pandas_udf(DoubleType())
def great_circle_km(lat1: pd.Series, lon1: pd.Series, lat2: pd.Series, lon2: pd.Series) -> pd.Series:
    """The distance between two places on the globe (haversine)."""
    lat1, lon1, lat2, lon2 = (np.radians(angle) for angle in (lat1, lon1, lat2, lon2))
    h = np.sin((lat2 - lat1) / 2) ** 2 + np.cos(lat1) * np.cos(lat2) * np.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS_KM * np.arcsin(np.sqrt(h))


def planes(spark: SparkSession, lake: str) -> DataFrame:
    return spark.read.parquet(f"{lake}/bronze/planes").select(
        "tailnum", "seats", aircraft_family("model").alias("family"), sf.col("year").alias("built")
    )


def weather(spark: SparkSession, lake: str) -> DataFrame:
    conditions = sf.struct("temp", "wind_speed", "precip", "visib").alias("weather")
    return spark.read.parquet(f"{lake}/bronze/weather").select("origin", "time_hour", conditions)


def airports(spark: SparkSession, lake: str, end: str) -> DataFrame:
    return spark.read.parquet(f"{lake}/bronze/airports").select(
        sf.col("faa").alias(end),
        sf.col("name").alias(f"{end}_name"),
        sf.col("lat").alias(f"{end}_lat"),
        sf.col("lon").alias(f"{end}_lon"),
    )


def outcome() -> Column:
    return (
        sf.when(sf.col("dep_time").isNull(), "cancelled")
        .when(sf.col("arr_delay").isNull(), "diverted")
        .when(sf.col("arr_delay") > 15, "late")
        .otherwise("on time")
    )


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("flights_clean").getOrCreate()
    airlines = spark.read.parquet(f"{lake}/bronze/airlines").withColumnRenamed("name", "airline")

    flights = (
        spark.read.parquet(f"{lake}/bronze/flights")
        .where(sf.col("tailnum").isNotNull())
        .withColumn("flight_date", sf.make_date("year", "month", "day"))
        .withColumn("outcome", outcome())
        .join(airlines, "carrier")
        .join(planes(spark, lake), "tailnum", "left")
        .join(airports(spark, lake, "origin"), "origin")
        .join(airports(spark, lake, "dest"), "dest", "left")
        .join(weather(spark, lake), ["origin", "time_hour"], "left")
        .withColumn("km", great_circle_km("origin_lat", "origin_lon", "dest_lat", "dest_lon"))
        .select(
            "flight_date", "airline", "flight", "tailnum", "family", "built", "seats",
            "origin", "dest", "origin_name", "dest_name", "km",
            "dep_delay", "arr_delay", "outcome", "weather",
        )
    )  # fmt: skip
    flights.write.mode("overwrite").parquet(f"{lake}/silver/flights")

    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
