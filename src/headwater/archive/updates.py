"""Tables of an archive that take in what has come since the last time; exactly once, whatever happens.

Structured Streaming finds what is new, and its checkpoint remembers a batch before it is taken. The manifest of the
tables says which batch they have: one that they have is not taken again, one that was interrupted is taken anew.
"""

import re
import secrets
import time
from collections.abc import Callable

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from headwater.archive.batches import restore, take
from headwater.archive.builds import Archive, Progress, read
from headwater.archive.events.sources import arriving, reason
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.lake import lake
from headwater.archive.formats.manifest import Stream
from headwater.errors import ArchiveError
from headwater.model.name_keys import key_of
from headwater.store.ingest.replacements import believes_overwrite

FILES_AT_ONCE = 100_000
"""How many files are taken in one batch at most: the driver holds their names."""

_LOOKS = 0.1  # seconds between two looks whether a stream has ended
_CHECKPOINTS = "_checkpoints"
_NAME = r"[0-9a-f]{32}-[0-9a-f]{16}"


def update(  # noqa: PLR0913 - each is a choice of who calls it
    spark: SparkSession,
    source: str,
    into: str,
    *,
    format: str | None = None,
    follow: str | None = None,
    checkpoints: str | None = None,
    files_at_once: int = FILES_AT_ONCE,
    believe_overwrite: bool | None = None,
    tell: Progress = lambda line: None,
) -> Archive:
    """The tables of an archive with what has come to a source since it was last taken in; all of it the first time.

    The tables are then those that a whole build of all sources would make. They must not be written by another build
    or update meanwhile.

    Args:
        spark: a session; headwater must be importable where its Python workers run.
        source: as `headwater.archive.build` takes it. Files are taken once, as they are when they are found.
        into: a folder for the tables, or the namespace of an Iceberg catalog.
        format: ``delta``, ``iceberg`` or ``parquet``; see `headwater.archive.formats.lake.lake`.
        follow: go on until interrupted (`KeyboardInterrupt`), and look for what is new in this interval
            (``"1 minute"``, as Spark reads it). A batch that is being taken then is left to the next update.
        checkpoints: the folder below which Spark remembers what it has seen; ``INTO/_checkpoints`` without it, but
            Iceberg needs one.
        files_at_once: how many files are in a batch at most.
        believe_overwrite: as `headwater.archive.build` takes it. Where it is another than at the last update, all edges
            are looked at as soon as something new comes.
        tell: is given lines on how far it is.

    Raises:
        ArchiveError: the source cannot be read, or the place not be written; or there is nothing yet.
        SettingError: the environment's setting is neither yes nor no.
    """
    believed = believes_overwrite() if believe_overwrite is None else believe_overwrite
    place = lake(spark, into, format)
    restore(place)
    key = key_of(source.partition("?")[0].rstrip("/")).hex()
    seen = _folder(spark, into, format, checkpoints)
    known = place.manifest().taken.streams
    begun = known.get(key)
    if begun is None or not seen.names(begun.checkpoint):
        begun = Stream(f"{key}-{secrets.token_hex(8)}")
    _forget(seen, {one.checkpoint for one in known.values()})
    found = arriving(spark, source, files_at_once)

    def take_batch(batch: DataFrame, number: int) -> None:
        if number > begun.batch:
            tell(f"Batch {number} of {source.partition('?')[0]}")
            now = {key: Stream(begun.checkpoint, number)}
            take(spark, place, found.lines(batch), now, believe_overwrite=believed, tell=tell)

    _run(found.stream, take_batch, seen.path(begun.checkpoint), follow)
    if not place.manifest().tables:
        raise ArchiveError(f"There is nothing in {source} yet: expected events.")
    return read(spark, into, format=format)


def _folder(spark: SparkSession, into: str, format: str | None, checkpoints: str | None) -> Folder:
    if checkpoints is None and format == "iceberg":
        raise ArchiveError(
            "Updates of Iceberg tables need a folder in which Spark remembers what it has seen: expected "
            "--checkpoints PATH, on a file system that outlives the job."
        )
    return Folder(spark, f"{checkpoints.rstrip('/')}/{into}" if checkpoints else f"{into.rstrip('/')}/{_CHECKPOINTS}")


def _forget(seen: Folder, known: set[str]) -> None:
    """Removes what streams have seen that a whole build has made old, or that no batch was published of."""
    for name in seen.names(""):
        if name not in known and re.fullmatch(_NAME, name):
            seen.remove(name)


def _run(stream: DataFrame, take_batch: Callable[[DataFrame, int], None], seen: str, follow: str | None) -> None:
    from pyspark.errors import StreamingQueryException

    faults: list[BaseException] = []

    def guarded(batch: DataFrame, number: int) -> None:
        try:
            take_batch(batch, number)
        except BaseException as fault:
            faults.append(fault)
            raise

    writer = stream.writeStream.foreachBatch(guarded).option("checkpointLocation", seen)
    query = (writer.trigger(processingTime=follow) if follow else writer.trigger(availableNow=True)).start()
    try:
        _wait(query)
    except KeyboardInterrupt:
        if follow is None:
            raise
    except StreamingQueryException as fault:
        if faults:
            raise faults[0] from None
        raise ArchiveError(
            f"What is new cannot be read ({reason(fault)}): expected files that stay where they were found. Put them "
            "back, or run `headwater archive build`, after which updates begin anew."
        ) from None
    finally:
        query.stop()


def _wait(query: StreamingQuery) -> None:
    """Waits for the end of a stream in Python: a signal that meets a call of Py4J would cost the connection."""
    while query.isActive:
        time.sleep(_LOOKS)
    query.awaitTermination()
