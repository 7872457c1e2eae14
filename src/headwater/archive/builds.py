"""An archive of events made into tables."""

from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession

from headwater.archive.cache import Kept, few_parts
from headwater.archive.events.parsed_events import Told, told_by
from headwater.archive.events.parser import parsed
from headwater.archive.events.sources import lines
from headwater.archive.fold.table_rows import events_table, folded_tables, parts_of, quarantine_table
from headwater.archive.formats.lake import Lake, lake
from headwater.archive.names.resolver import resolver
from headwater.archive.questions.lineage import column_roots
from headwater.archive.tables import ROOTS, TABLES, Table, require_version, version_of
from headwater.errors import ArchiveError
from headwater.store.ingest.replacements import believes_overwrite

Progress = Callable[[str], None]


class Archive(Mapping[str, DataFrame]):
    """The tables of an archive by name, as DataFrames; each also as an attribute: ``archive.column_edges``.

    What Spark keeps for them is let go by `close`, or at the end of a ``with`` statement.
    """

    def __init__(self, tables: Mapping[str, DataFrame], kept: Kept | None = None) -> None:
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
        if self._kept is not None:
            self._kept.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def folded(spark: SparkSession, source: str, tell: Progress, *, believe_overwrite: bool) -> Archive:
    """The tables of a source, made when they are read; ``believe_overwrite`` is as `build` takes it.

    Raises:
        ArchiveError: the source cannot be read.
    """
    tell(f"Reading {source}")
    keep = Kept()
    read = keep(parsed(lines(spark, source)).select("event.*", "rejected"))
    told = told_by(read, keep)
    # The folding needs no event once only: repetition changes nothing in it, and costs less than finding it.
    every = Told(read.where("digest IS NOT NULL"), told.shapes, told.schemas)
    meanings = resolver(spark, every.events, keep)
    tell(f"Names that mean more than themselves: {len(meanings.names.meanings):,}")
    parts = parts_of(every, meanings, keep, believe_overwrite=believe_overwrite)
    made = folded_tables(every, meanings, keep, parts)
    made |= {"events": events_table(told), "quarantine": quarantine_table(read)}
    return Archive({name: made[name] for name in TABLES}, keep)


def build(  # noqa: PLR0913 - each choice by its name
    spark: SparkSession,
    source: str,
    into: str | None = None,
    *,
    format: str | None = None,
    roots: bool = False,
    believe_overwrite: bool | None = None,
    tell: Progress = lambda line: None,
) -> Archive:
    """The tables of lineage of an archive of events, written where a place is given.

    Args:
        spark: a session; headwater must be importable where its Python workers run.
        source: a file or folder on any file system of Hadoop, or a topic: `headwater.archive.events.sources.lines`.
        into: a folder for the tables, or the namespace of an Iceberg catalog. What was built there before stays until
            all is written. Without it the tables are made when they are read, and nothing is written.
        format: ``delta``, ``iceberg`` or ``parquet``; see `headwater.archive.formats.lake.lake`.
        roots: writes ``column_roots`` too: each field with its roots as they are now.
        believe_overwrite: ends older lineage of a dataset where a producer that does not say whether all rows or some
            were replaced has overwritten it; without it as the environment's `HEADWATER_BELIEVE_OVERWRITE` says.
        tell: is given lines on how far it is.

    Raises:
        ArchiveError: the source cannot be read, or the place not be written.
        SettingError: the environment's setting is neither yes nor no.
    """
    believed = believes_overwrite() if believe_overwrite is None else believe_overwrite
    if into is None:
        with few_parts(spark):
            return folded(spark, source, tell, believe_overwrite=believed)
    place = lake(spark, into, format)
    place.manifest()  # refuses tables of a newer version before the work is done
    with few_parts(spark), folded(spark, source, tell, believe_overwrite=believed) as archive:
        marks = {name: written(place, name, rows, TABLES[name], tell) for name, rows in archive.items()}
    if roots:
        of_fields = column_roots({name: place.read(name, mark) for name, mark in marks.items()})
        marks["column_roots"] = written(place, "column_roots", of_fields, ROOTS, tell)
    place.publish(marks)
    return _opened(place, into)


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


def written(place: Lake, name: str, rows: DataFrame, table: Table, tell: Progress) -> Any:
    """Replaces a table of a place, and tells of its rows; gives its mark."""
    # The ranges of an order are found by a look at the rows, which would make them twice.
    kept = rows.persist(StorageLevel.DISK_ONLY)
    try:
        count = kept.count()
        mark = place.write(name, kept, table)
    finally:
        kept.unpersist()
    tell(f"{name}: {count:,} rows")
    return mark


def _opened(place: Lake, into: str) -> Archive:
    marks = place.manifest().tables
    if not marks:
        raise ArchiveError(f"There are no tables in {into}: expected what `headwater archive build` wrote.")
    tables = {name: place.read(name, mark) for name, mark in marks.items()}
    for name, frame in tables.items():
        require_version(f"{into}/{name}", version_of(frame.schema))
    return Archive(tables)
