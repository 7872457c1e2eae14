"""An archive of events made into tables."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from headwater.archive import describing, edges, folding
from headwater.archive.lakes import Lake, lake
from headwater.archive.parsing import parsed
from headwater.archive.questions import column_roots
from headwater.archive.resolving import resolver
from headwater.archive.sources import lines
from headwater.archive.tables import ROOTS, TABLES, require_version, version_of
from headwater.errors import ArchiveError

_ADAPT_KEPT = "spark.sql.optimizer.canChangeCachedPlanOutputPartitioning"
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
            raise AttributeError(f"an archive has no table {name!r}: it has {', '.join(self._tables)}")
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


def folded(spark: SparkSession, source: str, tell: Progress) -> Archive:
    """The tables of a source, made when they are read.

    Raises:
        ArchiveError: the source cannot be read.
    """
    tell(f"Reading {source}")
    kept: list[DataFrame] = []

    def keep(frame: DataFrame) -> DataFrame:
        kept.append(frame.persist(StorageLevel.DISK_ONLY))
        return kept[-1]

    read = keep(parsed(lines(spark, source)).select("event.*", "rejected"))
    told = read.where("digest IS NOT NULL")
    meanings = resolver(spark, told)
    kept += [meanings.meanings, meanings.renamed]
    tell(f"Names that mean more than themselves: {len(meanings.names.meanings):,}")
    shapes = keep(told.select(sf.explode("shapes").alias("one")).select("one.*").dropDuplicates(["shape"]))
    runs = folding.runs_of(told)
    heard = keep(folding.heard(told, runs, shapes, meanings))
    spans = keep(folding.spans(folding.tellings(heard)))
    described = keep(describing.described(told, meanings))
    fields = keep(describing.fields(described, told, edges.told_fields(heard, shapes, meanings), meanings))
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
    return Archive(tables, tuple(kept))


def _with_current(rows: DataFrame) -> DataFrame:
    return rows.withColumn("current", sf.col("until").isNull()) if "until" in rows.columns else rows


def build(  # noqa: PLR0913 - each choice by its name
    spark: SparkSession,
    source: str,
    into: str | None = None,
    *,
    format: str | None = None,
    roots: bool = False,
    tell: Progress = lambda line: None,
) -> Archive:
    """The tables of lineage of an archive of events, written where a place is given.

    Args:
        spark: a session; headwater must be importable where its Python workers run.
        source: a file or folder on any file system of Hadoop, or a topic: `headwater.archive.sources.lines`.
        into: a folder for the tables, or the namespace of an Iceberg catalog. What was built there before stays until
            all is written. Without it the tables are made when they are read, and nothing is written.
        format: ``delta``, ``iceberg`` or ``parquet``; see `headwater.archive.lakes.lake`.
        roots: writes ``column_roots`` too: each field with its roots as they are now.
        tell: is given lines on how far it is.

    Raises:
        ArchiveError: the source cannot be read, or the place not be written.
    """
    if into is None:
        with _few_parts(spark):
            return folded(spark, source, tell)
    place = lake(spark, into, format)
    place.published()  # refuses tables of a newer version before the work is done
    with _few_parts(spark), folded(spark, source, tell) as archive:
        marks = {name: _written(place, name, rows, tell) for name, rows in archive.items()}
    if roots:
        of_fields = column_roots({name: place.read(name, mark) for name, mark in marks.items()})
        marks["column_roots"] = _written(place, "column_roots", of_fields, tell)
    place.publish(marks)
    return _opened(place, into)


@contextmanager
def _few_parts(spark: SparkSession) -> Iterator[None]:
    """Frames that are kept meanwhile have as few parts as their rows need.

    Else adaptive execution leaves alone how they are parted, and a build has ten thousand tasks with nothing to do.
    """
    before = spark.conf.get(_ADAPT_KEPT, None)
    spark.conf.set(_ADAPT_KEPT, "true")
    try:
        yield
    finally:
        if before is None:
            spark.conf.unset(_ADAPT_KEPT)
        else:
            spark.conf.set(_ADAPT_KEPT, before)


def read(spark: SparkSession, into: str, *, format: str | None = None) -> Archive:
    """The tables that `build` wrote, all of one build.

    Args:
        spark: a session with the connector of the format.
        into: where they are.
        format: needed for ``iceberg``.

    Raises:
        ArchiveError: there are none.
        ArchiveTooNew: a newer headwater wrote them.
    """
    return _opened(lake(spark, into, format), into)


def _written(place: Lake, name: str, rows: DataFrame, tell: Progress) -> Any:
    # The ranges of an order are found by a look at the rows, which would make them twice.
    kept = rows.persist(StorageLevel.DISK_ONLY)
    try:
        count = kept.count()
        mark = place.write(name, kept, TABLES.get(name, ROOTS))
    finally:
        kept.unpersist()
    tell(f"{name}: {count:,} rows")
    return mark


def _opened(place: Lake, into: str) -> Archive:
    marks = place.published()
    if not marks:
        raise ArchiveError(f"There are no tables in {into}: expected what `headwater archive build` wrote.")
    tables = {name: place.read(name, mark) for name, mark in marks.items()}
    for name, frame in tables.items():
        require_version(f"{into}/{name}", version_of(frame.schema))
    return Archive(tables)
