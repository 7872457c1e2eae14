"""Where events come from: files of lines, plain or packed, Parquet files, a Kafka topic; on any Hadoop file system."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from urllib.parse import parse_qsl, urlsplit

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.streaming.readwriter import DataStreamReader
from pyspark.sql.types import BinaryType, StringType

from headwater.archive.events.packed_files import PACKINGS
from headwater.archive.events.schema import LINE
from headwater.archive.local_rows import local_rows
from headwater.errors import ArchiveError

TOPIC = "kafka://"
EVENT_COLUMNS = ("payload", "value", "event")
"""The columns of Parquet files that may hold events, as text or bytes."""

LARGEST_PACKED = 1 << 30
"""Bytes of a packed file at most: it goes through a worker's memory in one piece."""

Paths = str | list[str]
_FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"  # BinaryFileFormat's own schema
_FOR_EVER = "36500d"  # by default Spark skips files that are a week older than the latest one
_LINES = ("ndjson", "jsonl", "json")
_ENDING = rf"\.(?:(?:{'|'.join(_LINES)})(?:\.(?:{'|'.join(PACKINGS)}))?|parquet)$"
_GLOBS = {
    "": f"*.{{{','.join(_LINES)}}}",
    **{packing: f"*.{{{','.join(_LINES)}}}.{packing}" for packing in PACKINGS},
    "parquet": "*.parquet",
}
"""Patterns of the names of files by their kind; "" is that of plain lines."""


def lines(spark: SparkSession, source: str) -> DataFrame:
    """The lines of a source, as `headwater.archive.events.schema.LINE` has them.

    Args:
        spark: with the connector of Kafka, for a topic.
        source: a file, a folder (also those in it), a pattern of these as Hadoop has them, or
            ``kafka://HOST:PORT/TOPIC``, whose query has options of Spark's Kafka source:
            ``?startingOffsets=…&kafka.security.protocol=SSL``.

    Raises:
        ArchiveError: nothing is there, nothing in it can be read, or the connector is missing.
    """
    if source.startswith(TOPIC):
        return topic(spark.read, source)
    return _of_kinds(spark, source, _kinds(spark, source))


def lines_of(spark: SparkSession, source: str, sizes: Mapping[str, int]) -> DataFrame:
    """The lines of some files of a source, as `lines` has them.

    Args:
        spark: a session.
        source: the source that they were found in.
        sizes: paths as Spark writes them, with sizes in bytes; files with other endings than those of events are left
            out.

    Raises:
        ArchiveError: a packed file is too large, or files cannot be read.
    """
    if _is_file(source, sizes):
        return _of_kinds(spark, source, {_kind(source): "*"})
    by_kind: dict[str, list[str]] = {}
    for path in sorted(path for path in sizes if re.search(_ENDING, path)):
        _check_size(path, sizes[path])
        by_kind.setdefault(_kind(path), []).append(_escaped(path))
    parts = [_of_kinds(spark, paths, {kind: _GLOBS[kind]}) for kind, paths in by_kind.items()]
    return reduce(DataFrame.unionByName, parts) if parts else local_rows(spark, [], LINE)


@dataclass(frozen=True, slots=True)
class EventStream:
    """The new files or messages of a source, and the function from a batch of them to its lines."""

    stream: DataFrame
    lines: Callable[[DataFrame], DataFrame]


def stream_source(spark: SparkSession, source: str, files_at_once: int) -> EventStream:
    """The files or messages of a source: those that are there, then new ones, each of them once.

    Args:
        spark: with the connector of Kafka, for a topic.
        source: as for `lines`.
        files_at_once: the number of files in a batch at most.

    Raises:
        ArchiveError: the source cannot be read.
    """
    if source.startswith(TOPIC):
        return EventStream(topic(spark.readStream, source, startingOffsets="earliest"), lambda batch: batch)
    reader = spark.readStream.schema(_FILES).option("maxFilesPerTrigger", files_at_once)
    found = files(reader.option("maxFileAge", _FOR_EVER), source).select("path", "length")
    return EventStream(found, lambda batch: lines_of(spark, source, {row.path: row.length for row in batch.collect()}))


def _is_file(source: str, paths: Iterable[str]) -> bool:
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
    """The kinds of the files of a source, each with the pattern of its files' names."""
    kind = sf.regexp_extract("path", _ENDING, 0)
    grouped = files(spark.read, source).groupBy(kind.alias("ending"))
    largest = grouped.agg(sf.max_by("path", "length").alias("path"), sf.max("length").alias("size"))
    found = {row.ending: row for row in largest.collect()}
    if _is_file(source, [row.path for row in found.values()]):
        return {_kind(source): "*"}
    kinds = {_kind(ending): _GLOBS[_kind(ending)] for ending in found if ending}
    if not kinds:
        reason = "no file whose name ends so" if found else "no file"
        raise ArchiveError(f"{source} has {reason}: expected {', '.join(_GLOBS.values())}.")
    for row in found.values():
        _check_size(row.path, row.size)
    return kinds


def _check_size(path: str, size: int) -> None:
    if path.endswith(PACKINGS) and size > LARGEST_PACKED:
        raise ArchiveError(
            f"{path} has {size:,} bytes: expected packed files of at most {LARGEST_PACKED:,}, "
            "because each goes through a worker's memory. Unpack it or split it."
        )


def _kind(path: str) -> str:
    """The kind of a file."""
    ending = path.rpartition(".")[2]
    return ending if ending in _GLOBS else ""


def files(reader: DataFrameReader | DataStreamReader, source: str) -> DataFrame:
    """The files of a source, with ``path`` and ``length``; contents are read only where that column is selected.

    Raises:
        ArchiveError: the source cannot be read.
    """
    from pyspark.errors import AnalysisException

    try:
        return reader.format("binaryFile").option("recursiveFileLookup", "true").load(source)
    except AnalysisException as fault:
        raise ArchiveError(
            f"{source} cannot be read ({spark_reason(fault)}): expected a file or a folder that Spark can reach, or a "
            f"topic as {TOPIC}HOST:PORT/TOPIC."
        ) from None


def _plain(reader: DataFrameReader, source: Paths) -> DataFrame:
    read = reader.format("text").option("lineSep", "\n").load(source)
    block = sf.col("_metadata.file_block_start")
    return as_lines(read, sf.col("_metadata.file_path"), block=block, value=sf.col("value").cast("binary"))


def _packed(reader: DataFrameReader, source: Paths, packing: str) -> DataFrame:
    read = reader.format("binaryFile").load(source)
    return as_lines(read, sf.col("path"), packing=sf.lit(packing), value=sf.col("content"))


def _parquet(reader: DataFrameReader, source: Paths) -> DataFrame:
    try:
        read = reader.format("parquet").option("mergeSchema", "true").load(source)
    except Exception as fault:  # an error of a Spark job is no exception of PySpark's
        raise ArchiveError(
            f"The Parquet files of {_shown(source)} cannot be read together ({spark_reason(fault)}): expected whole "
            f"files with a column {_or(EVENT_COLUMNS)} of one type in all of them. Read them one by one, without those "
            "in error."
        ) from None
    types = {field.name: field.dataType for field in read.schema.fields}
    of_events = [name for name in EVENT_COLUMNS if isinstance(types.get(name), StringType | BinaryType)]
    if not of_events:
        columns = ", ".join(f"{name} {kind.simpleString()}" for name, kind in types.items())
        raise ArchiveError(
            f"The Parquet files of {_shown(source)} have columns {columns[:200]}: expected {_or(EVENT_COLUMNS)}, as "
            "text or bytes, with an OpenLineage event in each row."
        )
    row = sf.concat(sf.lit("row "), (sf.col("_metadata.row_index") + 1).cast("string"))
    value = sf.coalesce(*(sf.col(name).cast("binary") for name in of_events), sf.lit("(no text)").cast("binary"))
    return as_lines(read, sf.col("_metadata.file_path"), place=row, value=value)


def topic(reader: DataFrameReader | DataStreamReader, source: str, **usual: str) -> DataFrame:
    """The messages of a topic as lines: all that are there, or a stream of them.

    Args:
        reader: that of a session, or that of its streams.
        source: as `lines` takes it.
        usual: options where the source has none of that name.

    Raises:
        ArchiveError: it is no topic, or the connector is missing.
    """
    from pyspark.errors import AnalysisException

    parts = urlsplit(source)
    source = source.partition("?")[0]
    name = parts.path.strip("/")
    if not parts.netloc or not name:
        raise ArchiveError(f"{source} is no topic: expected {TOPIC}HOST:PORT/TOPIC.")
    options = {**usual, **dict(parse_qsl(parts.query)), "kafka.bootstrap.servers": parts.netloc, "subscribe": name}
    try:
        read = reader.format("kafka").options(**options).load()
    except AnalysisException as fault:
        raise ArchiveError(
            f"{source} cannot be read ({spark_reason(fault)}). Start Spark with its connector of Kafka: "
            "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION."
        ) from None
    place = sf.format_string("partition %d offset %d", "partition", "offset")
    message = sf.coalesce("value", sf.lit("(no text)").cast("binary"))
    return as_lines(read, sf.lit(source), place=place, value=message)


_READERS = {"": _plain, "parquet": _parquet}


def as_lines(read: DataFrame, source: Column, **columns: Column) -> DataFrame:
    """Rows of `headwater.archive.events.schema.LINE`, in which columns that are not named are NULL."""
    values = {"source": source, **columns}
    return read.select(*(values.get(one.name, sf.lit(None)).cast(one.dataType).alias(one.name) for one in LINE.fields))


def spark_reason(fault: Exception) -> str:
    """The message of an error of Spark, which may stand below a line of Py4J's."""
    text = str(fault).strip()
    found = re.search(r"\[[A-Z_.0-9]+\].*", text)
    return (found[0] if found else text.partition("\n")[0])[:300]


def _shown(paths: Paths) -> str:
    """Paths in an error: of many the first one."""
    return paths if isinstance(paths, str) else f"{paths[0]}{f' and {len(paths) - 1:,} more' if paths[1:] else ''}"


def _or(names: Iterable[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} or {last}"
