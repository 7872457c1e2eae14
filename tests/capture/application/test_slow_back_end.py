"""A job ends, or is killed, while its back end is slow: each event is acknowledged, or on disk for the next job."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Jobs
from tests.openlineage.back_ends import Raw, listening

WRITES = 9
WRITING = SPARK + f"for number in range({WRITES}): items.write.parquet(f'out/{{number}}')\n"
KILLED = WRITING + "import os, signal, time\ntime.sleep(3)\nos.kill(os.getpid(), signal.SIGKILL)\n"


@pytest.fixture
def raw() -> Iterator[Raw]:
    with listening(Raw()) as one:
        yield one


def states(events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    """The moments of statements: when each was written, and when its event was sent."""
    return {(output["name"][-1], event["eventType"]) for event in events for output in event["outputs"]}


ALL = {(str(number), state) for number in range(WRITES) for state in ("START", "COMPLETE")}


@pytest.mark.spark
@pytest.mark.parametrize(("job", "code"), [(WRITING, 0), (KILLED, -9)], ids=["ends", "is killed"])
def test_nothing_is_lost_to_a_slow_back_end(jobs: Jobs, raw: Raw, job: str, code: int) -> None:
    jobs.write(job)
    jobs.write(SPARK + "items.write.parquet('out/x')\n", "next.py")
    environment = {"OPENLINEAGE_URL": raw.url, "HEADWATER_EVENTS": "", "HEADWATER_FLUSH_SECONDS": "4"}
    raw.seconds = 4
    ended = jobs.watched("job.py", environment=environment)
    assert ended.code == code, ended.err
    acknowledged = [json.loads(body) for _, _, body in raw.requests[: len(raw.acknowledged)]]
    on_disk = [
        json.loads(line) for path in jobs.folder.rglob("http@*.ndjson") for line in path.read_text().splitlines()
    ]
    assert len(acknowledged) < WRITES
    assert states(acknowledged + on_disk) == ALL
    if code == 0:
        assert f"{len(on_disk)} events wait in" in ended.err
        return
    raw.seconds = 0
    jobs.watched("next.py", environment=environment)
    assert states([json.loads(body) for _, _, body in raw.requests]) >= ALL
    assert not list(jobs.folder.rglob("http@*.ndjson"))
