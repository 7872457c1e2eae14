"""Synthetic archives as files: the events of each job hour by hour, packed with gzip and with zstd in turn.

Of fifty runs one fails and one has other lineage than the one before, of two hundred lines one is repeated later; one
line of each file is no event.
"""

import json
import random
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import zstandard

from bench.archive.shapes import LAKE, Job, Names, Shape, jobs_of, renamed_at

AT_ONCE = 5_000
"""Lines of a file."""

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_ZONE = "00000000-0000-4000-8000-"
_FAILED = _CHANGED = 1 / 50
_TWICE = 1 / 200
_BROKEN = b'{"eventTime": "2026-01-01T00:00:00Z", "eventType": "COMP'


def write(shape: Shape, folder: Path) -> int:
    """Write the archive; returns the number of its lines."""
    folder.mkdir(parents=True, exist_ok=True)
    source, number, written = lines(shape), 0, 0
    while some := list(islice(source, AT_ONCE)):
        some.insert(len(some) // 2, _BROKEN)
        content, ending = b"".join(b"%s\n" % one for one in some), ("gz", "zst")[number % 2]
        (folder / f"events-{number:06}.ndjson.{ending}").write_bytes(_packed(content, ending))
        number, written = number + 1, written + len(some)
    return written


def lines(shape: Shape) -> Iterator[bytes]:
    """The events; the same for the same shape."""
    chance = random.Random(shape.seed)
    names, jobs, late = Names(shape), jobs_of(shape), list[bytes]()
    renames = [(hour, one) for one in range(shape.datasets - 1) if (hour := renamed_at(shape, one)) is not None]
    for hour in range(shape.runs):
        again, late = late, []
        yield from (_renamed(hour, number, names) for at, number in renames if at == hour)
        for line in _of_hour(jobs, shape, hour, names, chance):
            yield line
            if chance.random() < _TWICE:
                late.append(line)
        yield from again
    yield from late


def _of_hour(jobs: list[Job], shape: Shape, hour: int, names: Names, chance: random.Random) -> Iterator[bytes]:
    for job in jobs:
        often = shape.often if job.number == shape.jobs else 1
        for turn in range(often):
            if chance.random() < _CHANGED / often:
                job.change()
            state = b"FAIL" if chance.random() < _FAILED else b"COMPLETE"
            # Times differ, so that the order does not depend on the ids of runs.
            begun = _BEGIN + timedelta(hours=hour, seconds=600 + turn * 2_400 / often, microseconds=job.number)
            ended = begun + timedelta(seconds=chance.randrange(1, 300))
            run = f"{_ZONE}{hour:04x}{turn:04x}{job.number % (1 << 16):04x}".encode()
            lineage = job.lineage(names)
            yield _event(b"START", begun, run, job, lineage)
            yield _event(state, ended, run, job, lineage)


def _event(state: bytes, at: datetime, run: bytes, job: Job, lineage: bytes) -> bytes:
    parent = b'"parent":{"run":{"runId":"%sffffffff%04x"},"job":{"namespace":"prod","name":"hourly"}}' % (
        _ZONE.encode(),
        int((at - _BEGIN).total_seconds() // 3600),
    )
    gap = b',"headwater_coverage":{"gaps":[{"kind":"udf","what":"f","why":"opaque","output":""}]}'
    facets = parent + (gap if job.number % 50 == 0 else b"")
    head = (
        b'{"eventType":"%s","eventTime":"%s","producer":"bench","schemaURL":"bench","run":{"runId":"%s","facets":{%s}},'
    )
    name = b'"job":{"namespace":"prod","name":"%s"},' % job.name.encode()
    return head % (state, at.isoformat().encode(), run, facets) + name + lineage + b"}"


def _renamed(hour: int, number: int, names: Names) -> bytes:
    former, present = names.rename(number)
    pair = {"previous": {"namespace": LAKE, "name": former}, "current": {"namespace": LAKE, "name": present}}
    facets = {
        "headwater_names": {"names": [pair], "fields": []},
        "lifecycleStateChange": {"lifecycleStateChange": "RENAME"},
    }
    event = {
        "eventType": "COMPLETE",
        "eventTime": (_BEGIN + timedelta(hours=hour, microseconds=number)).isoformat(),
        "producer": "bench",
        "schemaURL": "bench",
        "run": {"runId": f"{_ZONE}eeeeeeee{number % (1 << 16):04x}"},
        "job": {"namespace": "prod", "name": "rename"},
        "inputs": [],
        "outputs": [{"namespace": LAKE, "name": present, "facets": facets}],
    }
    return json.dumps(event, separators=(",", ":")).encode()


def _packed(content: bytes, ending: str) -> bytes:
    if ending == "zst":
        return zstandard.ZstdCompressor(level=3).compress(content)
    packer = zlib.compressobj(level=1, wbits=31)
    return packer.compress(content) + packer.flush()
