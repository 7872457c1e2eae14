"""Builds of archives: events made into tables, as DataFrames or written into a place."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from itertools import starmap
from types import TracebackType
from typing import Any, NamedTuple, Self

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from headwater.archive.cache import CachedFrames, FitSettings, build_settings
from headwater.archive.events.parsed_events import ParsedEvents, distinct_events, parsed_lines
from headwater.archive.events.parser import start_worker
from headwater.archive.events.sources import lines
from headwater.archive.fold.run_lineage import runs_of
from headwater.archive.fold.table_rows import (
    events_table,
    quarantine_table,
    run_tables,
    tables_of_events,
)
from headwater.archive.formats.lake import Lake, lake
from headwater.archive.formats.manifest import require_present_version
from headwater.archive.names.resolver import name_resolver
from headwater.archive.parallel_writes import ParallelWrites, Progress, threads_beside
from headwater.archive.questions.lineage import column_roots
from headwater.archive.tables import ROOTS, TABLES, Table, require_version, version_of
from headwater.errors import ArchiveError
from headwater.store.ingest.replacements import believes_overwrite

FEW = 10_000
"""Rows of a table that one task writes."""


class FoldedTable(NamedTuple):
    """A table by its name; ``ordered`` rows come nearly in its order, in the partitions that they are in."""

    name: str
    rows: DataFrame
    ordered: bool = False


class Archive(Mapping[str, DataFrame]):
    """The tables of an archive by name, as DataFrames; each also as an attribute: ``archive.column_edges``.

    `close`, or the end of a ``with`` statement, removes from the cache of Spark the rows that they are made of.
    """

    def __init__(self, tables: Mapping[str, DataFrame], cached: CachedFrames | None = None) -> None:
        self._tables = dict(tables)
        self._cached = cached

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
        """Remove cached rows; tables that are read again are then made again."""
        if self._cached is not None:
            self._cached.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _fold(  # noqa: PLR0913 - each by its name
    spark: SparkSession,
    source: str,
    cache: CachedFrames,
    progress: Progress,
    fit: FitSettings,
    *,
    believe_overwrite: bool,
) -> Iterator[FoldedTable]:
    """The tables of a source, each as soon as it is known; their rows are made when they are read."""
    progress(f"Reading {source}")
    with _starting_worker(spark):
        read = lines(spark, source)
    parsed = parsed_lines(read, cache)
    found = parsed.looked_through()
    fit(found.count)
    distinct = distinct_events(parsed, cache)
    yield FoldedTable("events", events_table(distinct), found.ordered)
    yield FoldedTable("quarantine", quarantine_table(parsed.lean))
    # Repeated events do not change the folded tables, and to drop them costs more than to fold them.
    repeated = ParsedEvents(parsed.events(), distinct.shapes, distinct.schemas, found.occurring).without_texts(cache)
    runs = cache(runs_of(repeated.events))
    yield from starmap(FoldedTable, run_tables(repeated.events, runs, found.occurring).items())
    resolver = name_resolver(spark, repeated.events, cache, found.occurring)
    progress(f"Names that mean more than themselves: {resolver.count:,}")
    tables = tables_of_events(repeated, runs, resolver, cache, believe_overwrite=believe_overwrite)
    yield from starmap(FoldedTable, tables)


@contextmanager
def _starting_worker(spark: SparkSession) -> Iterator[None]:
    """A Python worker starts meanwhile: to look for files keeps one core busy. Where none starts, reading says why."""
    with threads_beside(spark, 1) as threads:
        threads.submit(start_worker, spark)
        yield


def build(  # noqa: PLR0913 - each choice by its name
    spark: SparkSession,
    source: str,
    into: str | None = None,
    *,
    format: str | None = None,
    roots: bool = False,
    believe_overwrite: bool | None = None,
    progress: Progress = lambda line: None,
) -> Archive:
    """The tables of lineage of an archive of events, written into a place if one is named.

    Args:
        spark: a session; headwater must be importable where its Python workers run.
        source: a file or folder on any file system of Hadoop, or a topic: `headwater.archive.events.sources.lines`.
        into: a folder for the tables, or the namespace of an Iceberg catalog. The tables of an earlier build stay until
            all are written. Without a place the tables are made when they are read, and nothing is written.
        format: ``delta``, ``iceberg`` or ``parquet``; see `headwater.archive.formats.lake.lake`.
        roots: write ``column_roots`` too: each field with its present roots.
        believe_overwrite: end older lineage of a dataset when a run overwrites it whose producer does not say whether
            it replaced all rows or some; the environment's `HEADWATER_BELIEVE_OVERWRITE` without it.
        progress: called with a line after each step.

    Raises:
        ArchiveError: the source cannot be read, or the place not be written; or another build or update has published
            there meanwhile.
        SettingError: the environment's setting is neither yes nor no.
    """
    believed = believes_overwrite() if believe_overwrite is None else believe_overwrite
    cache = CachedFrames()
    if into is None:
        with build_settings(spark, cache) as fit:
            folded = _fold(spark, source, cache, progress, fit, believe_overwrite=believed)
            tables = {name: rows for name, rows, _ in folded}
        return Archive({name: tables[name] for name in TABLES}, cache)
    place = lake(spark, into, format)
    before = place.manifest()  # refuses tables of a newer version before the work is done
    with closing(cache), build_settings(spark, cache) as fit:
        folded = _fold(spark, source, cache, progress, fit, believe_overwrite=believed)
        marks = _written(spark, place, folded, progress, cache)
    if roots:
        of_fields = column_roots({name: place.read(name, mark) for name, mark in marks.items()})
        marks["column_roots"] = write_table(place, "column_roots", of_fields, ROOTS, progress)
    place.publish(before, marks)
    return _opened(place, into)


def read(spark: SparkSession, into: str, *, format: str | None = None) -> Archive:
    """Read the tables that `build` or `update` wrote, all of one build.

    Args:
        spark: a session with the connector of the format.
        into: the place of the tables, as for `build`.
        format: needed for ``iceberg``.

    Raises:
        ArchiveError: there are none.
        ArchiveTooNew, ArchiveTooOld: another headwater wrote them.
    """
    return _opened(lake(spark, into, format), into)


def _written(
    spark: SparkSession, place: Lake, tables: Iterable[FoldedTable], progress: Progress, cache: CachedFrames
) -> dict[str, Any]:
    """Write tables while others are still found; returns their marks, and reports them in order."""
    with ParallelWrites(spark, progress) as writes:
        for name, rows, ordered in tables:
            write = partial(write_table, place, name, rows, TABLES[name], cache=cache, ordered=ordered)
            writes.begin(name, write)
        return writes.marks(TABLES)


def write_table(  # noqa: PLR0913, PLR0917 - each by its name
    place: Lake,
    name: str,
    rows: DataFrame,
    table: Table,
    progress: Progress,
    cache: CachedFrames | None = None,
    *,
    ordered: bool = False,
) -> Any:
    """Replace a table of a place, and report the number of its rows; returns its mark.

    Rows of few events, by their ``cache``, are written by one task as they are made, and ``ordered`` ones by those that
    have them.
    """
    few = cache is not None and cache.few
    if few or name == "events":  # whose rows are parsed lines, which are cached with their texts
        mark = place.write(name, rows, table, few=few, ordered=ordered)
        count = place.read(name, mark).count()  # which files say
    else:
        count, mark = _cached_and_written(place, name, rows, table)
    progress(f"{name}: {count:,} rows")
    return mark


def _cached_and_written(place: Lake, name: str, rows: DataFrame, table: Table) -> tuple[int, Any]:
    # Spark samples rows to find the ranges of their order, and would make them twice.
    cached = rows.persist(StorageLevel.DISK_ONLY)
    try:
        count = cached.count()
        return count, place.write(name, cached, table, few=count <= FEW)
    finally:
        cached.unpersist()


def _opened(place: Lake, into: str) -> Archive:
    manifest = place.manifest()
    if not manifest.tables:
        raise ArchiveError(f"There are no tables in {into}: expected what `headwater archive build` wrote.")
    require_present_version(manifest, into)
    tables = {name: place.read(name, mark) for name, mark in manifest.tables.items()}
    for name, frame in tables.items():
        require_version(f"{into}/{name}", version_of(frame.schema))
    return Archive(tables)
