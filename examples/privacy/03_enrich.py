"""Enrich orders: a label for each customer, through a view and a Python UDF.

Here is the leak: the label begins with what stands before the @ of the address.

Run it: python 03_enrich.py LAKE
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StringType


@sf.udf(StringType())
def label(email, city):
    """``ann@example.org``, ``Oslo`` -> ``ann (Oslo)``."""
    return f"{email.split('@')[0]} ({city})"


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("privacy_enrich").getOrCreate()
    spark.read.parquet(f"{lake}/silver/support").selectExpr("id", "contact.*").createOrReplaceTempView("support")

    labels = spark.table("support").select("id", label("email", "city").alias("label"))
    orders = spark.read.parquet(f"{lake}/raw/orders")
    people = spark.read.parquet(f"{lake}/silver/people")
    enriched = (
        orders.join(labels.withColumnRenamed("id", "customer"), "customer")
        .join(people.withColumnRenamed("id", "customer"), "customer")
        .select("person", "label", "city", "amount", "day")
    )
    enriched.write.mode("overwrite").parquet(f"{lake}/silver/orders")

    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
