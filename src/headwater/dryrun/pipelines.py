"""Projects of Spark's declarative pipelines: what their files define, made by a registry of our own."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

from headwater.errors import DryRunError
from headwater.yaml_map import read_yaml

SPECIFICATIONS = ("spark-pipeline.yml", "spark-pipeline.yaml")
_STATEMENT = re.compile(
    r"CREATE\s+(?:OR\s+REFRESH\s+)?(?P<kind>MATERIALIZED\s+VIEW|STREAMING\s+TABLE|TEMPORARY\s+VIEW|FLOW)\s+"
    r"(?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[\w.`]+)(?P<more>.*?)(?:\bAS\s+(?P<query>.*))?\Z",
    re.IGNORECASE | re.DOTALL,
)
_INSERT = re.compile(
    r"INSERT\s+INTO\s+(?P<target>[\w.`]+)\s+(?:BY\s+NAME\s+)?(?P<query>.*)\Z", re.IGNORECASE | re.DOTALL
)


def specification(folder: Path) -> Path | None:
    """The file that makes a folder a project of pipelines; None of another folder."""
    return next((folder / name for name in SPECIFICATIONS if (folder / name).is_file()), None)


def libraries(file: Path) -> Iterator[Path]:
    """The files of Python and SQL that a specification includes.

    Raises:
        SettingError: the specification cannot be read; the message names the line and the column.
    """
    for entry in read_yaml(file).maps("libraries"):
        glob = entry.map("glob")
        glob.only(("include",), ("include",))
        pattern = glob.text("include")
        found = file.parent.glob(f"{pattern}/*" if pattern.endswith("/**") else pattern)
        yield from sorted(one for one in found if one.suffix in (".py", ".sql"))


def run_pipeline(file: Path, codes: Mapping[str, CodeType]) -> None:
    """Run the codes of a project, and make what they define in the order in which one flow reads another's output."""
    from pyspark.pipelines.graph_element_registry import graph_element_registration_context
    from pyspark.sql import SparkSession

    settings = read_yaml(file)
    builder = SparkSession.builder.appName(settings.text("name", file.parent.name))
    configuration = settings.map("configuration")
    for word in configuration.names():
        builder = builder.config(word.text, configuration.text(word.text))
    spark = builder.getOrCreate()
    if database := settings.text("database") or settings.text("schema"):
        spark.sql(f"CREATE DATABASE IF NOT EXISTS `{database}`")
        spark.catalog.setCurrentDatabase(database)
    registry = Registry(spark)
    with graph_element_registration_context(registry):
        for name, code in codes.items():
            own = {"spark": registry} if name.endswith(".sql") else {"__file__": name}
            exec(code, {"__name__": Path(name).stem, **own})
    registry.make()


@dataclass(frozen=True, slots=True)
class SqlOutput:
    """An output that a statement defines, with the attributes of PySpark's."""

    name: str
    kind: str
    format: str = ""
    partition_cols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SqlFlow:
    """A flow that a statement defines, with the attributes of PySpark's."""

    name: str
    target: str
    func: Callable[[], Any]


class Registry:
    """The outputs and flows of a project: PySpark's decorators register them, and so does ``sql``, as a session's."""

    def __init__(self, spark: Any) -> None:
        self._spark = spark
        self._outputs: dict[str, Any] = {}
        self._flows: list[Any] = []

    def register_output(self, output: Any) -> None:
        """Keep a table, view or sink."""
        self._outputs[output.name] = output

    def register_flow(self, flow: Any) -> None:
        """Keep a flow, which is made when all are known."""
        self._flows.append(flow)

    def sql(self, statement: str) -> None:
        """Keep what a statement defines.

        Raises:
            DryRunError: it defines nothing of a pipeline.
        """
        found = _STATEMENT.match(statement)
        if found is None:
            raise DryRunError(f"No CREATE of a dataset or a flow of a pipeline: {statement[:80]!r}.")
        name, kind, query = found["name"].replace("`", ""), found["kind"].upper().split()[0], found["query"]
        into = _INSERT.match(query or "") if kind == "FLOW" else None
        if into is None:
            self.register_output(SqlOutput(name, kind))
        if query:
            target, rows = (into["target"].replace("`", ""), into["query"]) if into else (name, query)
            self.register_flow(SqlFlow(name, target, partial(self._spark.sql, rows)))

    def make(self) -> None:
        """Make each flow once what it reads is there.

        Raises:
            AnalysisException: a flow reads what no other makes.
        """
        pending = self._flows
        while pending:
            later = [(flow, error) for flow in pending if (error := self._missing(flow)) is not None]
            if len(later) == len(pending):
                raise later[0][1]
            pending = [flow for flow, _ in later]

    def _missing(self, flow: Any) -> Exception | None:
        from pyspark.errors import AnalysisException

        try:
            _write(flow, self._outputs[flow.target])
        except AnalysisException as error:
            if not (error.getErrorClass() or "").startswith("TABLE_OR_VIEW_NOT_FOUND"):
                raise
            missing: Exception = error
            return missing
        return None


def _write(flow: Any, output: Any) -> None:
    frame, kind = flow.func(), getattr(output, "kind", type(output).__name__)
    if kind in ("TEMPORARY", "TemporaryView"):
        frame.createOrReplaceTempView(output.name)
    elif kind == "Sink":
        frame.writeStream.format(output.format).options(**output.options).start().awaitTermination()
    elif frame.isStreaming:
        writer = frame.writeStream.format(output.format or "parquet").partitionBy(*output.partition_cols or ())
        writer.option("checkpointLocation", f"/checkpoints/{flow.name}").toTable(output.name).awaitTermination()
    else:
        writer = frame.write.format(output.format or "parquet").partitionBy(*output.partition_cols or ())
        writer.mode("append").saveAsTable(output.name)
