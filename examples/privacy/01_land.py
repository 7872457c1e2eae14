"""Write generated customers and orders as Parquet: nobody in them exists.

Run it: python 01_land.py LAKE
"""

import sys

from faker import Faker
from pyspark.sql import SparkSession

PEOPLE, ORDERS = 200, 1_000


def main(lake: str) -> None:
    fake = Faker(["en_GB", "de_DE"])
    Faker.seed(7)
    people = [
        (number, fake.name(), fake.unique.email(), fake.phone_number(), fake.city(), fake.date_of_birth())
        for number in range(PEOPLE)
    ]
    orders = [
        (number, fake.random_int(0, PEOPLE - 1), float(fake.random_int(5, 500)), fake.date_this_year())
        for number in range(ORDERS)
    ]
    spark = SparkSession.builder.appName("privacy_land").getOrCreate()
    columns = "id INT, name STRING, email STRING, phone STRING, city STRING, born DATE"
    spark.createDataFrame(people, columns).write.mode("overwrite").parquet(f"{lake}/raw/customers")
    columns = "id INT, customer INT, amount DOUBLE, day DATE"
    spark.createDataFrame(orders, columns).write.mode("overwrite").parquet(f"{lake}/raw/orders")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
