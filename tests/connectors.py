"""The versions of every connector that the tests use, as Maven coordinates; all of them are for Spark 4.1."""

AVRO = "org.apache.spark:spark-avro_2.13:4.1.1"
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"
ICEBERG = "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
POSTGRESQL = "org.postgresql:postgresql:42.7.4"
