"""The cost of an update by a few new events of an archive of many: seconds, CPU, and bytes of files read and written.

The tables are then compared with those of one build of everything.
"""

import sys
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from bench.archive.builds import apart, session
from bench.archive.events import lines
from bench.archive.process_watch import Step, Watch, watching
from bench.archive.shapes import Shape
from bench.figures import table

FORMATS = ("parquet", "delta", "iceberg")
RUNS = 5
"""Of each job: 200 events are those of one job in twenty of 20,000 events, as 1,000 are of a million with 50 runs."""

_MB = 1 << 20


class Updated(NamedTuple):
    """An update by ``new`` events after one of ``events``; ``read`` and ``written`` are megabytes of files."""

    format: str
    events: int
    new: int
    wall: float
    cpu: float
    read: float
    written: float
    first_wall: float
    first_cpu: float
    steps: tuple[Step, ...]


def updates(events: int, new: int, folder: Path, cores: int, formats: Sequence[str]) -> list[Updated]:
    """Measure an update of each format, in one process of its own.

    Args:
        events: of the first update.
        new: events of the second one.
        folder: for events and tables.
        cores: of Spark.
        formats: some of `FORMATS`.

    Raises:
        AssertionError: a table is not as one build makes it.
    """
    source = iter(lines(Shape(events + new, RUNS)))
    (folder / "events").mkdir(parents=True, exist_ok=True)
    _put(folder / "events" / "1.ndjson", islice(source, events))
    rest = list(islice(source, new))
    return apart(_measured, folder, rest, cores, formats, events)


def _put(path: Path, some: Iterable[bytes]) -> None:
    with path.open("wb") as file:
        file.writelines(b"%s\n" % one for one in some)


def _measured(folder: Path, rest: Sequence[bytes], cores: int, formats: Sequence[str], events: int) -> list[Updated]:
    from tests.connectors import LAKE

    settings = {key: value.format(folder=folder) for key, value in LAKE.items()}
    spark = session(cores, folder / "events", folder, **settings)
    try:
        first = {one: _update(spark, folder, one) for one in formats}
        _put(folder / "events" / "2.ndjson", rest)
        found = []
        for one in formats:
            before = _bytes(spark)
            watch = _update(spark, folder, one)
            read, written = (now - then for now, then in zip(_bytes(spark), before, strict=True))
            (wall, cpu), steps = _total(watch), tuple(watch.steps)
            found.append(Updated(one, events, len(rest), wall, cpu, read, written, *_total(first[one]), steps))
            print(found[-1], file=sys.stderr, flush=True)
        for one in formats:
            _compare(spark, folder, one)
        return found
    finally:
        spark.stop()


def _total(watch: Watch) -> tuple[float, float]:
    return sum(one.wall for one in watch.steps), sum(one.cpu for one in watch.steps)


def _place(folder: Path, format: str) -> str:
    return "ice.lineage" if format == "iceberg" else str(folder / format)


def _update(spark: Any, folder: Path, format: str) -> Watch:
    from headwater.archive import update

    with watching() as watch:
        update(
            spark,
            str(folder / "events"),
            _place(folder, format),
            format=format,
            checkpoints=str(folder / "checkpoints"),
            progress=lambda line: watch.step(line.partition(":")[0]),
        )
        watch.step("end")
    return watch


def _bytes(spark: Any) -> tuple[float, float]:
    """The megabytes of files that Spark has read and written so far, without its own shuffles and cached frames."""
    every = spark._jvm.org.apache.hadoop.fs.FileSystem.getAllStatistics()
    some = [every.get(at) for at in range(every.size())]
    return sum(one.getBytesRead() for one in some) / _MB, sum(one.getBytesWritten() for one in some) / _MB


def _compare(spark: Any, folder: Path, format: str) -> None:
    from headwater.archive import build, read

    updated = read(spark, _place(folder, format), format=format)
    with build(spark, str(folder / "events")) as whole:
        for name, rows in whole.items():
            if name != "quarantine":
                differ = updated[name].exceptAll(rows).count(), rows.exceptAll(updated[name]).count()
                assert differ == (0, 0), f"{format} {name}: {differ} rows only updated, only built"


def report_updates(found: Sequence[Updated]) -> str:
    """A table of updates, and one of their steps."""
    head = ["update", "s", "s of CPU", "MB read", "MB written", "first one: s", "s of CPU"]
    rows = [[f"{one.format}, {one.new:,} on {one.events:,}", *map(_shown, one[3:9])] for one in found]
    steps = [[f"{one.format} {step.name}", _shown(step.wall), _shown(step.cpu)] for one in found for step in one.steps]
    return f"{table(head, rows)}\n\n{table(['step', 's', 's of CPU'], steps)}"


def _shown(value: float) -> str:
    return f"{value:,.1f}"
