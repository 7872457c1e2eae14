"""One build of an archive, measured in a process of its own: by headwater on Spark, or by DuckDB."""

import multiprocessing
import os
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from bench.archive import duck
from bench.archive.process_watch import Step, Watch, watching
from bench.archive.shapes import EDGES, Shape

Result = TypeVar("Result")
HEADWATER, DUCKDB = "headwater", "DuckDB"
MEMORY = "4g"
"""Of Spark's driver, in which the tasks of a local session run too."""

_EDGE = (
    "job_namespace, job_name, {output}, input_namespace, {input}, input_field, subtype, masking, epoch_us(valid_from), "
    "epoch_us(valid_to), runs, first_run, last_run"
)
_OURS = _EDGE.format(output="output_namespace, output_dataset, {field}", input="input_dataset")
_DUCKS = _EDGE.format(output="namespace, name, field", input="input_name")


@dataclass(frozen=True, slots=True)
class Built:
    """The steps of a build with their times, and the peaks of memory in megabytes."""

    by: str
    cores: int
    events: int
    skew: float
    edges: int
    steps: tuple[Step, ...]
    java: float
    python: float
    memory: float

    @property
    def wall(self) -> float:
        """Seconds by the clock."""
        return sum(one.wall for one in self.steps)

    @property
    def cpu(self) -> float:
        """Seconds of CPU."""
        return sum(one.cpu for one in self.steps)

    def row(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**asdict(self), "wall": self.wall, "cpu": self.cpu}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "Built":
        """A build as `row` gave it."""
        values = {one.name: row[one.name] for one in fields(cls)}
        return cls(**values | {"steps": tuple(Step(**step) for step in row["steps"])})


def built(by: str, shape: Shape, source: Path, into: Path, cores: range) -> Built:
    """Build an archive into a folder; ``edges`` are those to columns in its events.

    All processes are bound to these of the machine's cores: Spark with one core works on two beside its Python workers.
    """
    work: Callable[[Path, Path, int], Watch] = _on_spark if by == HEADWATER else _on_duckdb
    watch = apart(_bound, work, source, into, cores)
    edges = shape.events * EDGES
    steps = tuple(watch.steps)
    return Built(by, len(cores), shape.events, shape.skew, edges, steps, watch.java, watch.python, watch.memory)


def apart(work: Callable[..., Result], *arguments: Any) -> Result:
    """Do work in a process of its own, with a JVM of its own."""
    # Spawned: a forked process would have the JVM of this one, and its memory.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_reported, (work, arguments))


def _reported(work: Callable[..., Result], arguments: Sequence[Any]) -> Result:
    try:
        return work(*arguments)
    except Exception:  # those of Py4J cannot be sent to another process
        traceback.print_exc()
        raise SystemError("the work failed: see above") from None


def differences(ours: Path, ducks: Path) -> dict[str, tuple[int, int, int]]:
    """By table of edges: the rows of headwater's, those that only it has, and those that only DuckDB has."""
    found = {}
    with duck.connected(os.cpu_count() or 1) as connection:
        for table, field in (("column_edges", "output_field"), ("dataset_edges", "NULL")):
            our_rows = f"SELECT {_OURS.format(field=field)} FROM '{ours}/builds/*/{table}/*/*.parquet'"
            duck_rows = f"SELECT {_DUCKS} FROM '{ducks}/{table}.parquet'"
            queries = (our_rows, f"{our_rows} EXCEPT ALL {duck_rows}", f"{duck_rows} EXCEPT ALL {our_rows}")
            rows, one, other = (_rows(connection, query) for query in queries)
            found[table] = (rows, one, other)
    return found


def _rows(connection: Any, query: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM ({query})").fetchone()[0])


def _bound(work: Callable[[Path, Path, int], Watch], source: Path, into: Path, cores: range) -> Watch:
    if hasattr(os, "sched_setaffinity"):  # on Linux
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[cores.start : cores.stop])
    return work(source, into, len(cores))


def _on_duckdb(source: Path, into: Path, cores: int) -> Watch:
    with watching() as watch:
        duck.build(source, into, cores, watch.step)
    return watch


def _on_spark(source: Path, into: Path, cores: int) -> Watch:
    from headwater.archive import build

    spark = session(cores, source, into.parent)
    try:
        with watching() as watch:
            build(spark, str(source), str(into), format="parquet", progress=lambda line: watch.step(_step(line)))
        return watch
    finally:
        spark.stop()


def session(cores: int, source: Path, folder: Path, **more: str) -> Any:
    """The local session that `headwater archive build` makes for a source, with what its driver may use.

    Without its options Java optimizes itself, also where an archive is too small for that to pay.
    """
    from headwater.cli import archive_session

    settings = {
        "spark.master": f"local[{cores}]",
        "spark.driver.memory": MEMORY,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": f"{folder}/spark",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }
    spark = archive_session.session([f"{key}={value}" for key, value in (settings | more).items()], str(source))
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _step(line: str) -> str:
    """The step that a line of progress ends; the first line comes before any work."""
    if line.startswith("Reading"):
        return "start"
    return "reading and names" if line.startswith("Names") else line.partition(":")[0]
