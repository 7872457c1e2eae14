"""Updates of the tables of an archive by the events that have come since the last one, each exactly once.

Structured Streaming finds new files and messages, and writes a batch into its checkpoint before it is applied. The
manifest of the tables has the number of the last batch: that one is not applied again, an interrupted one is.
"""

import re
import secrets
import threading
from collections.abc import Callable
from contextlib import suppress

from pyspark.sql import DataFrame, SparkSession

from headwater.archive.batches import apply_batch, restore
from headwater.archive.builds import Archive, read
from headwater.archive.events.sources import spark_reason, stream_source
from headwater.archive.formats.filesystem import Folder
from headwater.archive.formats.lake import lake
from headwater.archive.formats.manifest import StreamProgress, require_present_version
from headwater.archive.parallel_writes import Progress
from headwater.errors import ArchiveError
from headwater.model.names import key_of
from headwater.store.ingest.replacements import believes_overwrite

FILES_AT_ONCE = 100_000
"""The number of files in a batch at most: the driver holds their names."""

_NAME = r"[0-9a-f]{32}-[0-9a-f]{16}"


def update(  # noqa: PLR0913 - each choice by its name
    spark: SparkSession,
    source: str,
    into: str,
    *,
    format: str | None = None,
    follow: str | None = None,
    checkpoints: str | None = None,
    files_at_once: int = FILES_AT_ONCE,
    believe_overwrite: bool | None = None,
    progress: Progress = lambda line: None,
) -> Archive:
    """Update the tables of an archive by the new events of a source; the first time by all of them.

    The tables are then those that one build of all sources would make. No other build or update may write to the place
    meanwhile.

    Args:
        spark: a session; headwater must be importable where its Python workers run.
        source: as for `headwater.archive.build`. Each file is read once, as it is when it is found.
        into: a folder for the tables, or the namespace of an Iceberg catalog.
        format: ``delta``, ``iceberg`` or ``parquet``; see `headwater.archive.formats.lake.lake`.
        follow: go on until interrupted (`KeyboardInterrupt`), and look for what is new in this interval
            (``"1 minute"``, as Spark reads it). The next update does a batch that is interrupted by it.
        checkpoints: the folder of the checkpoints of Spark's streams; ``INTO/_checkpoints`` without it, but Iceberg
            needs one.
        files_at_once: the number of files in a batch at most.
        believe_overwrite: as for `headwater.archive.build`. Where it differs from that of the last update, the next
            batch with new events compares all edges.
        progress: called with a line after each step.

    Raises:
        ArchiveError: the source cannot be read, or the place not be written; or there is nothing yet.
        ArchiveTooNew, ArchiveTooOld: another headwater wrote the tables.
        SettingError: the environment's setting is neither yes nor no.
    """
    believed = believes_overwrite() if believe_overwrite is None else believe_overwrite
    place = lake(spark, into, format)
    found = place.manifest()
    require_present_version(found, into)
    restore(place, found)
    key = key_of(source.partition("?")[0].rstrip("/")).hex()
    folder = _checkpoints(spark, into, format, checkpoints)
    streams = found.updates.streams
    last = streams.get(key)
    if last is None or not folder.names(last.checkpoint):
        last = StreamProgress(f"{key}-{secrets.token_hex(8)}")
    _remove_others(folder, {one.checkpoint for one in streams.values()})
    events = stream_source(spark, source, files_at_once)

    def apply(batch: DataFrame, number: int) -> None:
        if number > last.batch:
            progress(f"Batch {number} of {source.partition('?')[0]}")
            stream = {key: StreamProgress(last.checkpoint, number)}
            apply_batch(spark, place, events.lines(batch), stream, believe_overwrite=believed, progress=progress)

    _run(events.stream, apply, folder.path(last.checkpoint), follow)
    if not place.manifest().tables:
        raise ArchiveError(f"There is nothing in {source} yet: expected events.")
    return read(spark, into, format=format)


def _checkpoints(spark: SparkSession, into: str, format: str | None, checkpoints: str | None) -> Folder:
    if checkpoints is None and format == "iceberg":
        raise ArchiveError(
            "Updates of Iceberg tables need a folder for the checkpoints of Spark's streams: expected "
            "--checkpoints PATH, on a file system that outlives the job."
        )
    return Folder(spark, f"{checkpoints.rstrip('/')}/{into}" if checkpoints else f"{into.rstrip('/')}/_checkpoints")


def _remove_others(folder: Folder, in_use: set[str]) -> None:
    """Remove checkpoints from before a whole build, and those of streams without a published batch."""
    for name in folder.names(""):
        if name not in in_use and re.fullmatch(_NAME, name):
            folder.remove(name)


def _run(stream: DataFrame, apply: Callable[[DataFrame, int], None], checkpoint: str, follow: str | None) -> None:
    from pyspark.errors import StreamingQueryException

    faults: list[BaseException] = []

    def guarded(batch: DataFrame, number: int) -> None:
        try:
            apply(batch, number)
        except BaseException as fault:
            faults.append(fault)
            raise

    writer = stream.writeStream.foreachBatch(guarded).option("checkpointLocation", checkpoint)
    query = (writer.trigger(processingTime=follow) if follow else writer.trigger(availableNow=True)).start()
    ended = threading.Event()

    def wait() -> None:
        with suppress(Exception):  # the main thread sees it too
            query.awaitTermination()
        ended.set()

    try:
        # A signal during a call of Py4J would break the connection of its thread: signals come to the main one.
        threading.Thread(target=wait, daemon=True).start()
        ended.wait()
        query.awaitTermination()
    except KeyboardInterrupt:
        if follow is None:
            raise
    except StreamingQueryException as fault:
        if faults:
            raise faults[0] from None
        raise ArchiveError(
            f"New events cannot be read ({spark_reason(fault)}): expected files that stay where they were found. Put "
            "them back, or run `headwater archive build`, after which updates begin anew."
        ) from None
    finally:
        query.stop()
