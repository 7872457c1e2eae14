"""Prepare customers twice: with a hash for analysts, and packed into a struct for support.

Run it: python 02_prepare.py LAKE
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("privacy_prepare").getOrCreate()
    customers = spark.read.parquet(f"{lake}/raw/customers")

    pseudonym = sf.sha2("email", 256).alias("person")
    customers.select("id", pseudonym, "city").write.mode("overwrite").parquet(f"{lake}/silver/people")

    contact = sf.struct("email", "phone", "city").alias("contact")
    customers.select("id", contact).write.mode("overwrite").parquet(f"{lake}/silver/support")

    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
