"""An archive of events made into tables."""

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Self

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from headwater.archive import describing, edges, folding
from headwater.archive.parsing import parsed
from headwater.archive.resolving import resolver
from headwater.archive.sources import lines
from headwater.archive.tables import TABLES

Progress = Callable[[str], None]


class Archive(Mapping[str, DataFrame]):
    """The tables of an archive by name, as DataFrames; each also as an attribute: ``archive.column_edges``.

    What Spark keeps for them is let go by `close`, or at the end of a ``with`` statement.
    """

    def __init__(self, tables: Mapping[str, DataFrame], kept: tuple[DataFrame, ...] = ()) -> None:
        self._tables = dict(tables)
        self._kept = kept

    def __getitem__(self, name: str) -> DataFrame:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __getattr__(self, name: str) -> DataFrame:
        if name.startswith("_") or name not in self._tables:
            raise AttributeError(f"an archive has no table {name!r}: it has {', '.join(TABLES)}")
        return self._tables[name]

    def close(self) -> None:
        """Lets go of what Spark keeps; the tables can be read again, and are then made again."""
        for frame in self._kept:
            frame.unpersist()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def folded(spark: SparkSession, source: str, options: Mapping[str, str] | None, tell: Progress) -> Archive:
    """The tables of a source, made when they are read.

    Raises:
        ArchiveError: the source cannot be read.
    """
    tell(f"Reading {source}")
    read = parsed(lines(spark, source, options)).select("event.*", "rejected").persist(StorageLevel.DISK_ONLY)
    told = read.where("digest IS NOT NULL")
    meanings = resolver(spark, told)
    tell(f"Names that mean more than themselves: {len(meanings.names.meanings):,}")
    shapes = told.select(sf.explode("shapes").alias("one")).select("one.*").dropDuplicates(["shape"])
    runs = folding.runs_of(told)
    heard = folding.heard(told, runs, shapes, meanings).persist(StorageLevel.DISK_ONLY)
    spans = folding.spans(folding.tellings(heard)).persist(StorageLevel.DISK_ONLY)
    described = describing.described(told, meanings).persist(StorageLevel.DISK_ONLY)
    fields = describing.fields(described, told, edges.told_fields(heard, shapes, meanings), meanings)
    rows = {
        "events": describing.events(told),
        "runs": describing.runs(runs, told),
        "jobs": describing.jobs(told),
        "datasets": describing.datasets(described, fields, meanings),
        "fields": fields,
        "column_edges": edges.column_edges(spans, shapes, meanings),
        "dataset_edges": edges.dataset_edges(spans, shapes, meanings),
        "coverage": describing.coverage(told, runs),
        "quarantine": describing.quarantine(read),
    }
    tables = {name: TABLES[name].made_of(_with_current(frame)) for name, frame in rows.items()}
    return Archive(tables, (read, heard, spans, described, meanings.meanings, meanings.renamed))


def _with_current(rows: DataFrame) -> DataFrame:
    return rows.withColumn("current", sf.col("until").isNull()) if "until" in rows.columns else rows


def build(
    spark: SparkSession,
    source: str,
    *,
    options: Mapping[str, str] | None = None,
    tell: Progress = lambda line: None,
) -> Archive:
    """The tables of lineage of an archive of events.

    Args:
        spark: a session; headwater must be importable where its Python workers run.
        source: a file or folder on any file system of Hadoop, or a topic: `headwater.archive.sources.lines`.
        options: further ones for Spark's Kafka source.
        tell: is given lines on how far it is.

    Raises:
        ArchiveError: the source cannot be read.
    """
    return folded(spark, source, options, tell)
