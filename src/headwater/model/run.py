"""Jobs, their runs, and the state of a run at a moment."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from headwater.model.statement import Statement


class RunState(str, Enum):
    """The event types of an OpenLineage run event that headwater emits."""

    START = "START"
    RUNNING = "RUNNING"
    COMPLETE = "COMPLETE"
    ABORT = "ABORT"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Job:
    """A recurring piece of work; its runs share the name."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Run:
    """One execution of a job. ``parent`` is the run that started it: the application, or what started that."""

    id: str
    job: Job
    parent: "Run | None" = None


@dataclass(frozen=True, slots=True)
class Engine:
    """The engine that ran it: ``name`` is ``spark``, versions as their projects print them."""

    name: str = "spark"
    version: str = ""
    adapter_version: str = ""


@dataclass(frozen=True, slots=True)
class RunMoment:
    """A state change of a run, with what is known of it by then.

    ``statement`` is None for the run of a whole application. ``error`` is the message of a FAIL,
    ``stack_trace`` its detail. ``sql`` is the statement's text where the user wrote SQL.
    ``streaming`` is True for a streaming query, which may run without end.
    """

    run: Run
    state: RunState
    time: datetime
    engine: Engine = Engine()
    statement: Statement | None = None
    sql: str = ""
    source: str = ""
    error: str = ""
    stack_trace: str = ""
    streaming: bool = False
