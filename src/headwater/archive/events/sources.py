"""Where events come from: files of lines, plain or packed, Parquet files, a Kafka topic; on any Hadoop file system."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import BinaryType, StringType

from headwater.archive.events.packed_files import PACKINGS
from headwater.archive.events.schema import LINE
from headwater.errors import ArchiveError

TOPIC = "kafka://"
EVENT_COLUMNS = ("payload", "value", "event")
"""The columns of Parquet files in which events are looked for, as text or bytes."""

LARGEST_PACKED = 1 << 30
"""Bytes of a packed file: it goes through a worker's memory in one piece."""

Paths = str | list[str]
_FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"  # BinaryFileFormat's own schema
_FOR_EVER = "36500d"  # else files that are older by a week than others are taken for seen
_LINES = ("ndjson", "jsonl", "json")
_ENDING = rf"\.(?:(?:{'|'.join(_LINES)})(?:\.(?:{'|'.join(PACKINGS)}))?|parquet)$"
_GLOBS = {
    "": f"*.{{{','.join(_LINES)}}}",
    **{packing: f"*.{{{','.join(_LINES)}}}.{packing}" for packing in PACKINGS},
    "parquet": "*.parquet",
}
"""By kind of file what its name is like; "" is that of plain lines."""


def lines(spark: SparkSession, source: str) -> DataFrame:
    """The lines of a source, as `headwater.archive.events.schema.LINE` has them.

    Args:
        spark: with the connector of Kafka, for a topic.
        source: a file, a folder (also those in it), a pattern of these as Hadoop has them, or
            ``kafka://HOST:PORT/TOPIC``, with options of Spark's Kafka source as its query:
            ``?startingOffsets=…&kafka.security.protocol=SSL``.

    Raises:
        ArchiveError: nothing is there, nothing in it can be read, or the connector is missing.
    """
    if source.startswith(TOPIC):
        return topic(spark.read, source)
    return _of_kinds(spark, source, _kinds(spark, source))


def lines_of(spark: SparkSession, source: str, found: Mapping[str, int]) -> DataFrame:
    """The lines of some files of a source, as `lines` has them.

    Args:
        spark: a session.
        source: the source that they were found in.
        found: paths as Spark gives them, with sizes in bytes; those whose names say that they have no events are left
            out.

    Raises:
        ArchiveError: a packed file is too large, or files cannot be read.
    """
    if _names_file(source, found):
        return _of_kinds(spark, source, {_last(source): "*"})
    by_kind: dict[str, list[str]] = {}
    for path in sorted(path for path in found if re.search(_ENDING, path)):
        _check_size(path, found[path])
        by_kind.setdefault(_last(path), []).append(_escaped(path))
    parts = [_of_kinds(spark, some, {kind: _GLOBS[kind]}) for kind, some in by_kind.items()]
    return reduce(DataFrame.unionByName, parts) if parts else spark.createDataFrame([], LINE)


@dataclass(frozen=True, slots=True)
class Arriving:
    """The stream, and how the lines are had that a batch of it stands for."""

    stream: DataFrame
    lines: Callable[[DataFrame], DataFrame]


def arriving(spark: SparkSession, source: str, at_once: int) -> Arriving:
    """What comes to a source, from all that is there now on.

    Args:
        spark: with the connector of Kafka, for a topic.
        source: as `headwater.archive.events.sources.lines` takes it.
        at_once: how many files are in a batch at most.

    Raises:
        ArchiveError: the source cannot be read.
    """
    if source.startswith(TOPIC):
        return Arriving(topic(spark.readStream, source, startingOffsets="earliest"), lambda batch: batch)
    reader = spark.readStream.schema(_FILES).option("maxFilesPerTrigger", at_once)
    found = files(reader.option("maxFileAge", _FOR_EVER), source).select("path", "length")
    return Arriving(found, lambda batch: lines_of(spark, source, {row.path: row.length for row in batch.collect()}))


def _names_file(source: str, paths: Iterable[str]) -> bool:
    """Whether a source is one file, which may have any name, and not a folder."""
    return source.rstrip("/").endswith(tuple(path.rpartition("/")[2] for path in paths))


def _of_kinds(spark: SparkSession, source: Paths, kinds: Mapping[str, str]) -> DataFrame:
    parts = []
    for kind, glob in kinds.items():
        reader = spark.read.option("recursiveFileLookup", "true").option("pathGlobFilter", glob)
        parts.append(_packed(reader, source, kind) if kind in PACKINGS else _READERS[kind](reader, source))
    return reduce(DataFrame.unionByName, parts)


def _escaped(path: str) -> str:
    """A path that Hadoop takes as it is, not for a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", path)


def _kinds(spark: SparkSession, source: str) -> dict[str, str]:
    """The kinds of the files of a source, each with what the names of its files are like."""
    kind = sf.regexp_extract("path", _ENDING, 0)
    grouped = files(spark.read, source).groupBy(kind.alias("ending"))
    largest = grouped.agg(sf.max_by("path", "length").alias("path"), sf.max("length").alias("size"))
    found = {row.ending: row for row in largest.collect()}
    if _names_file(source, [row.path for row in found.values()]):
        return {_last(source): "*"}
    kinds = {_last(ending): _GLOBS[_last(ending)] for ending in found if ending}
    if not kinds:
        met = "no file whose name ends so" if found else "no file"
        raise ArchiveError(f"{source} has {met}: expected {', '.join(_GLOBS.values())}.")
    for row in found.values():
        _check_size(row.path, row.size)
    return kinds


def _check_size(path: str, size: int) -> None:
    if path.endswith(PACKINGS) and size > LARGEST_PACKED:
        raise ArchiveError(
            f"{path} has {size:,} bytes: expected packed files of at most {LARGEST_PACKED:,}, "
            "because each goes through a worker's memory. Unpack it or split it."
        )


def _last(path: str) -> str:
    """The kind of a file."""
    last = path.rpartition(".")[2]
    return last if last in _GLOBS else ""


def files(reader: DataFrameReader | DataStreamReader, source: str) -> DataFrame:
    """The files of a source, with ``path`` and ``length``; their contents are read only where they are asked for.

    Raises:
        ArchiveError: the source cannot be read.
    """
    from pyspark.errors import AnalysisException

    try:
        return reader.format("binaryFile").option("recursiveFileLookup", "true").load(source)
    except AnalysisException as fault:
        raise ArchiveError(
            f"{source} cannot be read ({reason(fault)}): expected a file or a folder that Spark can reach, or a "
            f"topic as {TOPIC}HOST:PORT/TOPIC."
        ) from None


def _plain(reader: DataFrameReader, source: Paths) -> DataFrame:
    read = reader.format("text").option("lineSep", "\n").load(source)
    block = sf.col("_metadata.file_block_start")
    return _as_lines(read, sf.col("_metadata.file_path"), block=block, value=sf.col("value").cast("binary"))


def _packed(reader: DataFrameReader, source: Paths, packing: str) -> DataFrame:
    read = reader.format("binaryFile").load(source)
    return _as_lines(read, sf.col("path"), packing=sf.lit(packing), value=sf.col("content"))


def _parquet(reader: DataFrameReader, source: Paths) -> DataFrame:
    try:
        read = reader.format("parquet").option("mergeSchema", "true").load(source)
    except Exception as fault:  # an error of a Spark job is no exception of PySpark's
        raise ArchiveError(
            f"The Parquet files of {_shown(source)} cannot be read together ({reason(fault)}): expected whole "
            f"files with a column {_or(EVENT_COLUMNS)} of one type in all of them. Read them one by one, without those "
            "in error."
        ) from None
    types = {field.name: field.dataType for field in read.schema.fields}
    given = [name for name in EVENT_COLUMNS if isinstance(types.get(name), StringType | BinaryType)]
    if not given:
        met = ", ".join(f"{name} {kind.simpleString()}" for name, kind in types.items())
        raise ArchiveError(
            f"The Parquet files of {_shown(source)} have columns {met[:200]}: expected {_or(EVENT_COLUMNS)}, as text "
            "or bytes, with an OpenLineage event in each row."
        )
    row = sf.concat(sf.lit("row "), (sf.col("_metadata.row_index") + 1).cast("string"))
    value = sf.coalesce(*(sf.col(name).cast("binary") for name in given), sf.lit("(no text)").cast("binary"))
    return _as_lines(read, sf.col("_metadata.file_path"), place=row, value=value)


def topic(reader: DataFrameReader | DataStreamReader, source: str, **usual: str) -> DataFrame:
    """The messages of a topic as lines: all that are there, or those that come.

    Args:
        reader: that of a session, or that of its streams.
        source: as `lines` takes it.
        usual: options that hold where the source has no others.

    Raises:
        ArchiveError: it is no topic, or the connector is missing.
    """
    from pyspark.errors import AnalysisException

    parts = urlsplit(source)
    source = source.partition("?")[0]
    named = parts.path.strip("/")
    if not parts.netloc or not named:
        raise ArchiveError(f"{source} is no topic: expected {TOPIC}HOST:PORT/TOPIC.")
    wanted = {**usual, **dict(parse_qsl(parts.query)), "kafka.bootstrap.servers": parts.netloc, "subscribe": named}
    try:
        read = reader.format("kafka").options(**wanted).load()
    except AnalysisException as fault:
        raise ArchiveError(
            f"{source} cannot be read ({reason(fault)}). Start Spark with its connector of Kafka: "
            "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION."
        ) from None
    place = sf.format_string("partition %d offset %d", "partition", "offset")
    message = sf.coalesce("value", sf.lit("(no text)").cast("binary"))
    return _as_lines(read, sf.lit(source), place=place, value=message)


_READERS = {"": _plain, "parquet": _parquet}


def _as_lines(read: DataFrame, source: Column, **given: Any) -> DataFrame:
    values = {"source": source, **given}
    return read.select(*(values.get(one.name, sf.lit(None)).cast(one.dataType).alias(one.name) for one in LINE.fields))


def reason(fault: Exception) -> str:
    """What Spark says, which may stand below a line of Py4J's."""
    said = str(fault).strip()
    found = re.search(r"\[[A-Z_.0-9]+\].*", said)
    return (found[0] if found else said.partition("\n")[0])[:300]


def _shown(paths: Paths) -> str:
    """Paths in an error: of many the first one."""
    return paths if isinstance(paths, str) else f"{paths[0]}{f' and {len(paths) - 1:,} more' if paths[1:] else ''}"


def _or(names: Iterable[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} or {last}"
