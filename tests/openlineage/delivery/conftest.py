"""Events by their numbers, and the folder in which they wait for a back end."""

from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from openlineage.client.event_v2 import RunEvent
from tests.openlineage.back_ends import number_of

from headwater.model import Job, Run, RunMoment, RunState
from headwater.openlineage.writing.events import run_event


def event(number: int) -> RunEvent:
    """The end of a run that has this number."""
    run = Run(str(UUID(int=number)), Job("jobs", f"job {number}"))
    return run_event(RunMoment(run, RunState.COMPLETE, datetime(2026, 1, 1, tzinfo=UTC)))


def spooled(spool: Path) -> list[int]:
    """The numbers of the events that wait, in the order in which they will be sent."""
    files = sorted(path for path in spool.glob("*.ndjson") if path.name != "rejected.ndjson")
    return [number_of(line) for path in files for line in path.read_text().splitlines()]


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    """A folder that is not made yet."""
    return tmp_path / "job" / "spool"
