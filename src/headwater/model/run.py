"""Jobs, their runs with the state of each at a moment, and the lineage of one Spark statement."""

from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from headwater.model.dataset import DatasetDescription
from headwater.model.lineage import ColumnLineage


@dataclass(frozen=True, slots=True)
class Gap:
    """Something the lineage of a statement does not cover, or covers only conservatively.

    ``kind`` is one of: ``operator`` (an operator nobody knows), ``expression`` (one failed),
    ``relation`` (a source without a dataset name), ``opaque`` (a function we cannot see into),
    ``target`` (an output without a name), ``budget`` (a limit cut it), ``dropped`` (the queue was full),
    ``error`` (extraction failed), ``extension`` (one could not be loaded, or broke and is switched off).
    ``what`` names it (an operator class, a function), ``why`` says it to a person.
    """

    kind: str
    what: str
    why: str
    output: str = ""


@dataclass(frozen=True, slots=True)
class Output:
    """One dataset that a statement writes; ``previous`` is its version before, where it has versions.

    ``earlier`` is the lineage of what earlier runs of the job have written to it and the statement leaves there.
    ``restores`` is the version whose rows the dataset has again after the statement, empty where it is not known which,
    and None of statements that restore no rows.
    ``nested`` has the same edges between fields within columns, where there are any: `NestedDependency`.
    """

    description: DatasetDescription
    lineage: ColumnLineage
    previous: str = ""
    earlier: ColumnLineage | None = None
    restores: str | None = None
    nested: ColumnLineage | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """The datasets that one SQL execution reads and writes, and the lineage between them."""

    inputs: tuple[DatasetDescription, ...] = ()
    outputs: tuple[Output, ...] = ()
    gaps: tuple[Gap, ...] = ()


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
