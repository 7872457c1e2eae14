"""Lines of sources read as events, in Spark's Python workers, by the store's own reader."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.archive.events.known_events import KnownEvents
from headwater.archive.events.packed_files import packed_lines
from headwater.archive.events.rows import Row, SeenDigests
from headwater.archive.events.schema import PARSED
from headwater.archive.events.sources import as_lines
from headwater.errors import EventError
from headwater.openlineage.reading.json_values import LIMIT

READER = "headwater_archive_reader"
"""The name of the function in Spark's plans, by which `deploy/archive/archive_lineage.py` recognizes it."""

_ROWS = 2_000  # in one Arrow batch
_BYTES = 1 << 24  # of text in one Arrow batch
_EXCERPT = 1_000
_TIMES = 3  # what readers elsewhere remember of facets: an archive has all jobs in turn, a server some of them
_ALLOCATIONS = 1_000_000  # of objects that are still there, until Python looks for cycles among them
_KNOWN_EVENTS = 48 << 20  # bytes that are remembered of events, times those of facets
KNOWN = KnownEvents(_KNOWN_EVENTS)
"""The events that this process has read."""

Batches = Iterator[pa.RecordBatch]


class SourceLine(NamedTuple):
    """A line with its place in a source; ``broken`` is why there is none."""

    source: str
    place: str
    text: bytes
    broken: str = ""


def parse(lines: DataFrame) -> DataFrame:
    """Read lines as events: rows of `headwater.archive.events.schema.PARSED`.

    ``lines`` are rows of `headwater.archive.events.schema.LINE`. A line that is no event is in ``rejected``; none of
    them ends the job.
    """
    return lines.mapInArrow(_parser(to_arrow_schema(PARSED)), PARSED)


def start_worker(spark: SparkSession) -> None:
    """Have Spark start a Python worker, and load what it needs to read events in one, by a job that reads no line."""
    no_line = sf.lit("")
    parse(as_lines(spark.range(1, numPartitions=1), no_line, value=no_line.cast("binary"))).collect()


def _parser(schema: pa.Schema) -> Callable[[Batches], Batches]:
    def parse_batches(batches: Batches) -> Batches:
        digests = SeenDigests()
        lines = (line for line in _lines(batches) if line.broken or line.text.strip())
        _remember_more()
        with _few_collections():
            for rows in _chunks(read_line(line, digests) for line in lines):
                yield pa.RecordBatch.from_pylist(rows, schema=schema)

    parse_batches.__name__ = READER
    return parse_batches


@contextmanager
def _few_collections() -> Iterator[None]:
    """Python seldom looks for cycles in this context: events have none, and a quarter of the time went there."""
    before = gc.get_threshold()
    gc.set_threshold(_ALLOCATIONS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _remember_more() -> None:
    """Let the reader remember more. Spark copies what its own functions refer to, so one of this module does it."""
    LIMIT.times = _TIMES


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    chunk: list[Row] = []
    left = _BYTES
    for row in rows:
        chunk.append(row)
        left -= len(row["event"]["payload"]) if row["event"] else _EXCERPT
        if left < 0 or len(chunk) == _ROWS:
            yield chunk
            chunk, left = [], _BYTES
    if chunk:
        yield chunk


def _lines(batches: Batches) -> Iterator[SourceLine]:
    block, number = None, 0
    for batch in batches:
        for source, place, begin, packing, value in zip(*map(iter, batch.columns), strict=True):
            content = value.as_py()
            if packing.as_py() is not None:
                for line in packed_lines(packing.as_py(), content):
                    yield SourceLine(source.as_py(), f"line {line.number}", line.text, line.broken)
            elif place.as_py() is not None:
                yield SourceLine(source.as_py(), place.as_py(), content or b"")
            else:
                here = (source.as_py(), begin.as_py())
                block, number = here, number + 1 if here == block else 1
                counted = f"line {number} of those from byte {begin.as_py()}" if begin.as_py() else f"line {number}"
                yield SourceLine(source.as_py(), counted, content or b"")


def read_line(line: SourceLine, digests: SeenDigests) -> Row:
    """The row of `headwater.archive.events.schema.PARSED` for a line."""
    if line.broken:
        return _rejected(line, line.broken)
    try:
        return {"event": KNOWN.row(line.text, digests), "rejected": None}
    except EventError as fault:
        return _rejected(line, str(fault))
    except Exception as fault:  # one line must not end a job of hours; the table names it
        digests.forget()
        return _rejected(line, f"headwater cannot read it, which is a defect ({type(fault).__name__}: {fault}).")


def _rejected(line: SourceLine, reason: str) -> Row:
    excerpt = line.text[:_EXCERPT].decode(errors="replace")
    shown = reason.encode(errors="replace").decode()
    return {
        "event": None,
        "rejected": {"source": line.source, "place": line.place, "reason": shown, "excerpt": excerpt},
    }
