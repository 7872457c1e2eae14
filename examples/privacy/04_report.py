"""Report revenue by customer and by city, for partners.

Run it: python 04_report.py LAKE
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf


def main(lake: str) -> None:
    spark = SparkSession.builder.appName("privacy_report").getOrCreate()
    orders = spark.read.parquet(f"{lake}/silver/orders")
    revenue = sf.sum("amount").alias("revenue")

    customers = orders.groupBy("person").agg(sf.first("label").alias("customer"), revenue)
    customers.write.mode("overwrite").parquet(f"{lake}/reports/customers")
    orders.groupBy("city").agg(revenue).write.mode("overwrite").parquet(f"{lake}/reports/cities")

    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
