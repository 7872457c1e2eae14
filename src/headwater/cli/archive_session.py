"""The Spark session of ``headwater archive``, with a JVM that suits the bytes that it reads."""

import os
import re
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Any

import typer

from headwater.capture.java import SHORT_LIVED
from headwater.errors import ArchiveError

# Without its second level Java has 48 MB for compiled code, which Spark fills: it is dropped and compiled again.
_CODE = "-XX:ReservedCodeCacheSize=240m"
_PARALLEL = "-XX:+UseParallelGC"  # a tenth less CPU than the collector that Java has for servers
_COLLECTOR = re.compile(r"-XX:\+Use\w*GC\b")
_SUBMIT_OPTIONS = "SPARK_SUBMIT_OPTS"
_OPTIONS = (_SUBMIT_OPTIONS, "PYSPARK_SUBMIT_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
DEFAULTS = {
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # else each column asks Java six times where it stands
    "spark.rdd.compress": "true",  # of cached rows: events are most of them, and much alike
    "spark.sql.codegen.cache.maxEntries": "1000",  # else a plan like one of hundreds before is compiled again
    "spark.sql.codegen.useIdInClassName": "false",  # else it is like none with another number
    "spark.scheduler.mode": "FAIR",  # else tasks that find tables wait for those that write one
}
"""Settings of a session for which nobody has chosen others."""

_QUIET = {"spark.log.level": "ERROR"}  # else warnings about plans stand between the lines of progress
_SUBMITTED = "PYSPARK_GATEWAY_PORT"  # by spark-submit, whose log is for those who run a cluster

_PYTHON = "PYSPARK_PYTHON"

_FEW_BYTES = 1 << 30
_PLAIN = {".json", ".jsonl", ".ndjson"}
_PACKED = 20  # bytes of events in one of a packed file, or of a table


def has_few_bytes(path: str) -> bool:
    """Whether a local file or folder has so little that Java's optimizing compiler would cost more than it saves."""
    left = _FEW_BYTES
    for one in chain([Path(path)], Path(path).rglob("*")):
        if one.is_file():
            left -= one.stat().st_size * (1 if one.suffix in _PLAIN else _PACKED)
        if left < 0:
            return False
    return Path(path).exists()


@contextmanager
def _started_with(options: str) -> Iterator[None]:
    """Have a JVM that starts meanwhile take options; those of the session's own come later, and win."""
    before = os.environ.get(_SUBMIT_OPTIONS)
    os.environ[_SUBMIT_OPTIONS] = f"{options} {before or ''}".strip()
    try:
        yield
    finally:
        if before is None:
            del os.environ[_SUBMIT_OPTIONS]
        else:
            os.environ[_SUBMIT_OPTIONS] = before


def java_options(conf: Iterable[str]) -> str:
    """Return the options of a JVM for few bytes: it does not optimize itself, and has Java's parallel collector.

    Where ``conf`` (settings as KEY=VALUE), the environment or Spark's files name a collector it has that
    one: Java does not start when two are named.
    """
    files = map(_conf_file, ("spark-defaults.conf", "spark-env.sh"))
    elsewhere = (*conf, *(os.environ.get(name, "") for name in _OPTIONS), *files)
    named = any(map(_COLLECTOR.search, elsewhere))
    return " ".join((SHORT_LIVED, _CODE, *(() if named else (_PARALLEL,))))


def _conf_file(name: str) -> str:
    """The text of a file in Spark's folder of settings, empty without it."""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or os.path.join(_find_spark_home(), "conf")
    with suppress(OSError):
        return Path(folder, name).read_text(errors="replace")
    return ""


def usual_settings() -> dict[str, str]:
    """Return the settings of a session that neither spark-submit, nor the environment, nor Spark's file has."""
    if _SUBMITTED not in os.environ:
        chosen = f"{_conf_file('spark-defaults.conf')} {os.environ.get('PYSPARK_SUBMIT_ARGS', '')}"
        usual = DEFAULTS if _conf_file("log4j2.properties") else DEFAULTS | _QUIET
        return {key: value for key, value in usual.items() if key not in chosen}
    from pyspark import SparkConf, SparkContext

    SparkContext._ensure_initialized()  # the JVM is there already, and has them
    present = SparkConf()
    return {key: value for key, value in DEFAULTS.items() if not present.contains(key)}


def _setting(written: str) -> tuple[str, str]:
    key, separator, value = written.partition("=")
    if not separator:
        raise typer.BadParameter(f"The setting is {written!r}: expected KEY=VALUE.")
    return key, value


def session(conf: list[str] | None, *data: str) -> Any:
    """Return the Spark session of this process: that of spark-submit, or a new one.

    Args:
        conf: settings as KEY=VALUE.
        data: the events and tables that it reads; where all are local and small, its JVM does not optimize itself.

    Raises:
        ArchiveError: PySpark is not installed, or there is no Python for its workers.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise ArchiveError(
            "PySpark is not installed: expected Spark 3.5 or later. pip install 'pyspark' 'headwater[archive]'."
        ) from None
    builder = SparkSession.builder.appName("headwater archive")
    for key, value in (usual_settings() | dict(map(_setting, conf or ()))).items():
        builder = builder.config(key, value)
    few = bool(data) and all(map(has_few_bytes, data))
    with _started_with(java_options(conf or ())) if few else nullcontext():
        spark = builder.getOrCreate()
    from headwater.archive.cache import in_one_process

    if in_one_process(spark):
        _choose_python(spark.sparkContext)
    return spark


def _choose_python(context: Any) -> None:
    """Have the workers of this machine run this Python where nobody has chosen another: ``python3`` may be any."""
    if _PYTHON not in os.environ:
        context.pythonExec = sys.executable
    elif shutil.which(context.pythonExec) is None:
        raise ArchiveError(
            f"{_PYTHON} is {context.pythonExec!r}, and there is no such program: expected the Python that Spark's "
            f"workers are to run. Without {_PYTHON} they run {sys.executable}."
        )
