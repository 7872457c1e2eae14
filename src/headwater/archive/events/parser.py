"""Lines of sources read as events, in Spark's Python workers, by the store's own reader."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import to_arrow_schema

from headwater.archive.events.packed_files import Line, packed_lines
from headwater.archive.events.rows import Met, Row, row_of
from headwater.archive.events.schema import PARSED
from headwater.errors import EventError
from headwater.openlineage.reading.events import read_event

_ROWS = 2_000  # in one Arrow batch
_BYTES = 1 << 24  # of text in one Arrow batch
_EXCERPT = 1_000
Batches = Iterator[pa.RecordBatch]


class Placed(NamedTuple):
    """A line with where it stands; ``broken`` says why there is none."""

    source: str
    place: str
    text: bytes
    broken: str = ""


def parsed(lines: DataFrame) -> DataFrame:
    """The events, and what is none of them, from lines as `headwater.archive.events.schema.LINE` has them."""
    return lines.mapInArrow(_parser(to_arrow_schema(PARSED)), PARSED)


def _parser(schema: pa.Schema) -> Callable[[Batches], Batches]:
    def parse(batches: Batches) -> Batches:
        met = Met()
        for rows in _some(_read(line, met) for line in _placed(batches) if line.broken or line.text.strip()):
            yield pa.RecordBatch.from_pylist(rows, schema=schema)

    return parse


def _some(rows: Iterable[Row]) -> Iterator[list[Row]]:
    some: list[Row] = []
    left = _BYTES
    for row in rows:
        some.append(row)
        left -= len(row["event"]["payload"]) if row["event"] else _EXCERPT
        if left < 0 or len(some) == _ROWS:
            yield some
            some, left = [], _BYTES
    if some:
        yield some


def _placed(batches: Batches) -> Iterator[Placed]:
    block, number = None, 0
    for batch in batches:
        for source, place, begin, packing, value in zip(*map(_values, batch.columns), strict=True):
            content = value.as_py()
            if packing.as_py() is not None:
                yield from (_of_file(source.as_py(), line) for line in packed_lines(packing.as_py(), content))
            elif place.as_py() is not None:
                yield Placed(source.as_py(), place.as_py(), content or b"")
            else:
                here = (source.as_py(), begin.as_py())
                block, number = here, number + 1 if here == block else 1
                yield Placed(here[0], _counted(number, here[1]), content or b"")


def _values(column: Any) -> Iterator[Any]:
    return iter(column)


def _of_file(source: str, line: Line) -> Placed:
    return Placed(source, f"line {line.number}", line.text, line.broken)


def _counted(number: int, block: int) -> str:
    return f"line {number}" if not block else f"line {number} of those from byte {block}"


def _read(line: Placed, met: Met) -> Row:
    if line.broken:
        return _rejected(line, line.broken)
    try:
        return {"event": row_of(read_event(line.text), met), "rejected": None}
    except EventError as fault:
        return _rejected(line, str(fault))
    except Exception as fault:  # one line must not end a job of hours; the table names it
        met.forget()
        return _rejected(line, f"headwater cannot read it, which is a defect ({type(fault).__name__}: {fault}).")


def _rejected(line: Placed, reason: str) -> Row:
    excerpt = line.text[:_EXCERPT].decode(errors="replace")
    shown = reason.encode(errors="replace").decode()
    return {
        "event": None,
        "rejected": {"source": line.source, "place": line.place, "reason": shown, "excerpt": excerpt},
    }
