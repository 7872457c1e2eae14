"""Where events come from: files of lines, plain or packed, Parquet files, a Kafka topic; on any Hadoop file system."""

import re
from collections.abc import Iterable
from functools import reduce
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import BinaryType, StringType

from headwater.archive.parsed import LINE
from headwater.archive.unpacking import PACKINGS
from headwater.errors import ArchiveError

TOPIC = "kafka://"
EVENT_COLUMNS = ("payload", "value", "event")
"""The columns of Parquet files in which events are looked for, as text or bytes."""

LARGEST_PACKED = 1 << 30
"""Bytes of a packed file: it goes through a worker's memory in one piece."""

_LINES = ("ndjson", "jsonl", "json")
_GLOBS = {
    "": f"*.{{{','.join(_LINES)}}}",
    **{packing: f"*.{{{','.join(_LINES)}}}.{packing}" for packing in PACKINGS},
    "parquet": "*.parquet",
}
"""By kind of file what its name is like; "" is that of plain lines."""


def lines(spark: SparkSession, source: str) -> DataFrame:
    """The lines of a source, as `headwater.archive.parsed.LINE` has them.

    Args:
        spark: with the connector of Kafka, for a topic.
        source: a file, a folder (also those in it), a pattern of these as Hadoop has them, or
            ``kafka://HOST:PORT/TOPIC``, with options of Spark's Kafka source as its query:
            ``?startingOffsets=…&kafka.security.protocol=SSL``.

    Raises:
        ArchiveError: nothing is there, nothing in it can be read, or the connector is missing.
    """
    if source.startswith(TOPIC):
        return _topic(spark, source)
    parts = []
    for kind, glob in _kinds(spark, source).items():
        reader = spark.read.option("recursiveFileLookup", "true").option("pathGlobFilter", glob)
        parts.append(_packed(reader, source, kind) if kind in PACKINGS else _READERS[kind](reader, source))
    return reduce(DataFrame.unionByName, parts)


def _kinds(spark: SparkSession, source: str) -> dict[str, str]:
    """The kinds of the files of a source, each with what the names of its files are like."""
    kind = sf.regexp_extract("path", rf"\.(?:(?:{'|'.join(_LINES)})(?:\.(?:{'|'.join(PACKINGS)}))?|parquet)$", 0)
    files = _files(spark, source).groupBy(kind.alias("ending"))
    largest = files.agg(sf.max_by("path", "length").alias("path"), sf.max("length").alias("size"))
    found = {row.ending: row for row in largest.collect()}
    if source.rstrip("/").endswith(tuple(row.path.rpartition("/")[2] for row in found.values())):
        return {_last(source): "*"}
    kinds = {_last(ending): _GLOBS[_last(ending)] for ending in found if ending}
    if not kinds:
        met = "no file whose name ends so" if found else "no file"
        raise ArchiveError(f"{source} has {met}: expected {', '.join(_GLOBS.values())}.")
    for row in found.values():
        if row.path.endswith(PACKINGS) and row.size > LARGEST_PACKED:
            raise ArchiveError(
                f"{row.path} has {row.size:,} bytes: expected packed files of at most {LARGEST_PACKED:,}, "
                "because each goes through a worker's memory. Unpack it or split it."
            )
    return kinds


def _last(path: str) -> str:
    """The kind of a file."""
    last = path.rpartition(".")[2]
    return last if last in _GLOBS else ""


def _files(spark: SparkSession, source: str) -> DataFrame:
    from pyspark.errors import AnalysisException

    try:
        return spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(source)
    except AnalysisException as fault:
        raise ArchiveError(
            f"{source} cannot be read ({_reason(fault)}): expected a file or a folder that Spark can reach, or a "
            f"topic as {TOPIC}HOST:PORT/TOPIC."
        ) from None


def _plain(reader: DataFrameReader, source: str) -> DataFrame:
    read = reader.format("text").option("lineSep", "\n").load(source)
    block = sf.col("_metadata.file_block_start")
    return _as_lines(read, sf.col("_metadata.file_path"), block=block, value=sf.col("value").cast("binary"))


def _packed(reader: DataFrameReader, source: str, packing: str) -> DataFrame:
    read = reader.format("binaryFile").load(source)
    return _as_lines(read, sf.col("path"), packing=sf.lit(packing), value=sf.col("content"))


def _parquet(reader: DataFrameReader, source: str) -> DataFrame:
    try:
        read = reader.option("mergeSchema", "true").parquet(source)
    except Exception as fault:  # an error of a Spark job is no exception of PySpark's
        raise ArchiveError(
            f"The Parquet files of {source} cannot be read together ({_reason(fault)}): expected whole files with a "
            f"column {_or(EVENT_COLUMNS)} of one type in all of them. Read them one by one, without those in error."
        ) from None
    types = {field.name: field.dataType for field in read.schema.fields}
    given = [name for name in EVENT_COLUMNS if isinstance(types.get(name), StringType | BinaryType)]
    if not given:
        met = ", ".join(f"{name} {kind.simpleString()}" for name, kind in types.items())
        raise ArchiveError(
            f"The Parquet files of {source} have columns {met[:200]}: expected {_or(EVENT_COLUMNS)}, as text or bytes, "
            "with an OpenLineage event in each row."
        )
    row = sf.concat(sf.lit("row "), (sf.col("_metadata.row_index") + 1).cast("string"))
    value = sf.coalesce(*(sf.col(name).cast("binary") for name in given), sf.lit("(no text)").cast("binary"))
    return _as_lines(read, sf.col("_metadata.file_path"), place=row, value=value)


def _topic(spark: SparkSession, source: str) -> DataFrame:
    from pyspark.errors import AnalysisException

    parts = urlsplit(source)
    source = source.partition("?")[0]
    topic = parts.path.strip("/")
    if not parts.netloc or not topic:
        raise ArchiveError(f"{source} is no topic: expected {TOPIC}HOST:PORT/TOPIC.")
    wanted = {**dict(parse_qsl(parts.query)), "kafka.bootstrap.servers": parts.netloc, "subscribe": topic}
    try:
        read = spark.read.format("kafka").options(**wanted).load()
    except AnalysisException as fault:
        raise ArchiveError(
            f"{source} cannot be read ({_reason(fault)}). Start Spark with its connector of Kafka: "
            "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION."
        ) from None
    place = sf.format_string("partition %d offset %d", "partition", "offset")
    message = sf.coalesce("value", sf.lit("(no text)").cast("binary"))
    return _as_lines(read, sf.lit(source), place=place, value=message)


_READERS = {"": _plain, "parquet": _parquet}


def _as_lines(read: DataFrame, source: Column, **given: Any) -> DataFrame:
    values = {"source": source, **given}
    return read.select(*(values.get(one.name, sf.lit(None)).cast(one.dataType).alias(one.name) for one in LINE.fields))


def _reason(fault: Exception) -> str:
    """What Spark says, which may stand below a line of Py4J's."""
    said = str(fault).strip()
    found = re.search(r"\[[A-Z_.0-9]+\].*", said)
    return (found[0] if found else said.partition("\n")[0])[:300]


def _or(names: Iterable[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} or {last}"
