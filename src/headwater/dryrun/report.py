"""The report of a dry run: all that keeps its lineage from being known to be whole."""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from openlineage.client.event_v2 import JobEvent  # a third of a second, which a dry run begins without

ANSWERS, EVENTS, REPORT, SCHEMAS = "answers.json", "events.ndjson", "report.json", "schemas.json"
"""Files of the folder that a dry run has: what it is started with, and what it leaves."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An action whose result depends on data, and the result that the job got instead."""

    place: str
    action: str
    result: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that was not made, since it would have left Spark or changed something, and why."""

    place: str
    call: str
    reason: str


@dataclass(frozen=True, slots=True)
class UnexecutedLines:
    """Lines of a file of the job, both ends included, that never ran."""

    file: str
    first: int
    last: int

    def __str__(self) -> str:
        lines = str(self.first) if self.first == self.last else f"{self.first}-{self.last}"
        return f"{self.file}:{lines}"


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception or exit status by which the job ended."""

    place: str
    error: str


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of a dry run, each with its place (``file:line``) in the job.

    ``failed`` are statements that Spark refused. ``gaps`` are those of the lineage itself, which a run would have as
    well, and ``unwatched`` is what nothing on this machine would have refused: neither counts against `is_complete`.

    >>> Report(answers=(Answer("job.py:3", "count", "0"),)).is_complete
    False
    >>> Report().is_complete
    True
    """

    answers: tuple[Answer, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    unexecuted: tuple[UnexecutedLines, ...] = ()
    failed: tuple[str, ...] = ()
    failure: Failure | None = None
    gaps: tuple[str, ...] = ()
    unwatched: tuple[str, ...] = ()

    @property
    def is_complete(self) -> bool:
        """Whether nothing was found: every line ran, and none depended on data or on the world."""
        return not (self.answers or self.refusals or self.unexecuted or self.failed or self.failure)

    def to_json(self) -> str:
        """The report as JSON that `read_report` reads."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class DryRun:
    """The jobs that a run would be made of, each with its inputs, outputs and lineage; and the report."""

    events: "tuple[JobEvent, ...]"
    report: Report


def read_report(text: str) -> Report:
    """The report of a text of `Report.to_json`."""
    document: dict[str, Any] = json.loads(text)
    failure = document["failure"]
    return Report(
        tuple(Answer(**one) for one in document["answers"]),
        tuple(Refusal(**one) for one in document["refusals"]),
        tuple(UnexecutedLines(**one) for one in document["unexecuted"]),
        tuple(document["failed"]),
        Failure(**failure) if failure else None,
        tuple(document["gaps"]),
        tuple(document["unwatched"]),
    )


@dataclass(slots=True)
class Findings:
    """The findings of a dry run that goes on; each is noted once, in the order in which they came."""

    answers: dict[Answer, None] = field(default_factory=dict)
    refusals: dict[Refusal, None] = field(default_factory=dict)

    def answer(self, place: str, action: str, result: str) -> None:
        """Note an action that data would have answered."""
        self.answers[Answer(place, action, result)] = None

    def refuse(self, place: str, call: str, reason: str) -> None:
        """Note a call that was not made."""
        self.refusals[Refusal(place, call, reason)] = None

    def report(
        self, unexecuted: Iterable[UnexecutedLines], failure: Failure | None, unwatched: tuple[str, ...] = ()
    ) -> Report:
        """The report, once the job has ended."""
        found = tuple(self.answers), tuple(self.refusals), tuple(unexecuted)
        return Report(*found, failure=failure, unwatched=unwatched)
