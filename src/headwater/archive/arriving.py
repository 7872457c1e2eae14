"""What a source comes to have, as a stream of Spark's: batches of files or messages, each of them once."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.sources import TOPIC, files, lines_of, topic

_FILES = "path STRING, modificationTime TIMESTAMP, length LONG, content BINARY"  # BinaryFileFormat's own schema
_FOR_EVER = "36500d"  # else files that are older by a week than others are taken for seen


@dataclass(frozen=True, slots=True)
class Arriving:
    """The stream, and how the lines are had that a batch of it stands for."""

    stream: DataFrame
    lines: Callable[[DataFrame], DataFrame]


def arriving(spark: SparkSession, source: str, at_once: int) -> Arriving:
    """What comes to a source, from all that is there now on.

    Args:
        spark: with the connector of Kafka, for a topic.
        source: as `headwater.archive.sources.lines` takes it.
        at_once: how many files are in a batch at most.

    Raises:
        ArchiveError: the source cannot be read.
    """
    if source.startswith(TOPIC):
        return Arriving(topic(spark.readStream, source, startingOffsets="earliest"), lambda batch: batch)
    reader = spark.readStream.schema(_FILES).option("maxFilesPerTrigger", at_once)
    found = files(reader.option("maxFileAge", _FOR_EVER), source).select("path", "length")
    return Arriving(found, lambda batch: lines_of(spark, source, {row.path: row.length for row in batch.collect()}))
