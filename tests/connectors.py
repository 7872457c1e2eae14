"""The versions of every connector that the tests use, as Maven coordinates.

A name is empty where there is no build for the installed Spark.
"""

from collections.abc import Mapping

import pyspark

SPARK = ".".join(pyspark.__version__.split(".")[:2])

AVRO = {
    "3.5": "org.apache.spark:spark-avro_2.12:3.5.7",
    "4.0": "org.apache.spark:spark-avro_2.13:4.0.2",
    "4.1": "org.apache.spark:spark-avro_2.13:4.1.1",
}.get(SPARK, "")
DELTA = {
    "3.5": "io.delta:delta-spark_2.12:3.3.3",
    "4.0": "io.delta:delta-spark_4.0_2.13:4.4.0",
    "4.1": "io.delta:delta-spark_4.1_2.13:4.4.0",
    "4.2": "io.delta:delta-spark_4.2_2.13:4.4.0",
}.get(SPARK, "")
ICEBERG = {
    "3.5": "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0",
    "4.0": "org.apache.iceberg:iceberg-spark-runtime-4.0_2.13:1.11.0",
    "4.1": "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0",
}.get(SPARK, "")
HUDI = {"3.5": "org.apache.hudi:hudi-spark3.5-bundle_2.12:1.2.0"}.get(SPARK, "")
CONNECT = {"3.5": "org.apache.spark:spark-connect_2.12:3.5.7"}.get(SPARK, "")
"""The server of Spark Connect, which comes with PySpark from 4.0 on."""

POSTGRESQL = "org.postgresql:postgresql:42.7.4"
KAFKA = f"org.apache.kafka:kafka_{'2.12' if SPARK == '3.5' else '2.13'}:3.9.1"
"""The broker, of the Scala that Spark has."""

KAFKA_JARS = {
    "3.5": (
        "org.apache.spark:spark-sql-kafka-0-10_2.12:3.5.1",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.12:3.5.1",
        "org.apache.kafka:kafka-clients:3.4.1",
        "org.apache.commons:commons-pool2:2.11.1",
    ),
    "4.1": (
        "org.apache.spark:spark-sql-kafka-0-10_2.13:4.1.1",
        "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
        "org.apache.kafka:kafka-clients:3.9.1",
        "org.apache.commons:commons-pool2:2.12.0",
    ),
}.get(SPARK, ())
"""Spark's side of Kafka, jar by jar: not every repository has the token provider of every release."""


def packages(*coordinates: str) -> str:
    """The value of ``spark.jars.packages`` for those of them that there are."""
    return ",".join(filter(None, coordinates))


LAKE = {
    "spark.jars.packages": packages(DELTA, ICEBERG),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension,"
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
    "spark.sql.catalog.ice.warehouse": "{folder}/ice",
    "spark.databricks.delta.snapshotPartitions": "1",
}
"""What a session needs for Delta in its own catalog and Iceberg in ``ice``, below a ``{folder}``."""

OPENLINEAGE = "io.openlineage:spark-extension-interfaces:1.37.0"
"""The interfaces by which connectors tell of their operators, with a copy of OpenLineage's client."""

S3A: Mapping[str, str] = {
    "spark.jars.packages": packages(
        "org.apache.hadoop:hadoop-aws:3.4.2",
        *(f"software.amazon.awssdk:{one}:2.29.52" for one in ("s3", "s3-transfer-manager", "sts", "netty-nio-client")),
    ),
    "spark.jars.excludes": "software.amazon.awssdk:bundle,software.amazon.s3.analyticsaccelerator:*",
}
"""Hadoop's client of S3 for Spark 4.1, with the parts of Amazon's SDK that it uses: all parts have 640 megabytes."""
