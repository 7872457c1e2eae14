"""One Spark with connectors that describe themselves, for all tests of this folder."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.extract.edge_text import edges_of, render
from tests.interfaces.acme import spark_with_connectors

from headwater.extract import column_lineage, statement
from headwater.model import Gap, Statement
from headwater.plan import Plan, decode_document


class Acme:
    """Plans of the connectors' operators, and what headwater makes of them."""

    def __init__(self, spark: Any) -> None:
        from headwater.capture.jvm.tap import SparkTap
        from headwater.capture.settings import CaptureSettings

        self.spark = spark
        self.make = spark._jvm.org.acme.Plans
        self.tap = SparkTap(spark.sparkContext, CaptureSettings(connector_seconds=120))
        self.tap.connect()

    def frame(self, logical: Any) -> Any:
        """A DataFrame of a plan; a command is run."""
        from pyspark.sql import DataFrame

        sql = self.spark._jvm.org.apache.spark.sql
        datasets = getattr(sql, "classic", sql) if self.spark.version >= "4" else sql
        return DataFrame(datasets.Dataset.ofRows(self.spark._jsparkSession, logical), self.spark)

    def plan(self, logical: Any) -> Plan:
        return self.tap.plan(self.frame(logical))

    def lineage(self, frame: Any) -> tuple[list[str], tuple[Gap, ...]]:
        """The edges of a frame as text, and the gaps."""
        found, gaps = column_lineage(self.tap.plan(frame))
        return render(edges_of(found)).splitlines(), gaps

    def ran(self) -> list[Statement]:
        """The inputs and outputs of each execution since the last call."""
        from headwater.capture.rows import unpack

        self.tap.drain(30_000)
        lines: list[str] = []
        while (reply := self.tap.poll(0)) is not None:
            lines.extend(unpack(reply).split("\n"))
        plans = [row["plan"] for row in map(json.loads, lines) if "plan" in row]
        return [found for plan in plans if (found := statement(decode_document(plan))).outputs]

    def run(self, logical: Any) -> Statement:
        """The inputs and outputs of a command."""
        self.ran()
        self.frame(logical)
        *_, statement_of_command = self.ran()
        return statement_of_command


@pytest.fixture(scope="session")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Acme]:
    with spark_with_connectors(Path(tmp_path_factory.mktemp("acme"))) as spark:
        yield Acme(spark)
