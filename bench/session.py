"""The Spark session that every measurement runs on."""

from pathlib import Path
from typing import Any

JAR = "io.openlineage:openlineage-spark_2.13:1.53.0"


def session(folder: Path, agent: str = "none", memory: str = "2g") -> Any:
    """A local session with one task at a time, so that a core is left for whoever watches."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("bench")
    settings = _settings(folder, memory) | (jar_settings(folder) if agent == "jar" else {})
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def _settings(folder: Path, memory: str) -> dict[str, str]:
    """Settings of the session; Spark retains little for its web page, which is not to be measured."""
    return {
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.ui.retainedJobs": "50",
        "spark.ui.retainedStages": "50",
        "spark.ui.retainedTasks": "5000",
        "spark.sql.ui.retainedExecutions": "50",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.adaptive.enabled": "false",
    }


def jar_settings(folder: Path) -> dict[str, str]:
    """The jar with its own defaults, and with the dataset edges that headwater writes too."""
    return {
        "spark.jars.packages": JAR,
        "spark.extraListeners": "io.openlineage.spark.agent.OpenLineageSparkListener",
        "spark.openlineage.transport.type": "file",
        "spark.openlineage.transport.location": f"{folder}/events.ndjson",
        "spark.openlineage.columnLineage.datasetLineageEnabled": "true",
    }
