"""Cases about sources and sinks: what a statement does, and the names and edges that its events must have.

A file holds several cases, each begun by ``# title:``. Above ``---`` stands SQL (statements end with ``;`` at the end
of a line) or, after ``# language: python``, Python with ``spark``, ``sql``, ``F``, ``data`` and ``db`` in scope.
Below it stand the outputs of every run in order, with their columns, and the inputs: the text of ``event_text``.
``{data}`` is a folder and ``{db}`` a database of the case's own, ``{warehouse}`` the warehouse. ``# spark: 4.0+`` is
the first version that a case is for, ``# needs: AVRO`` a name of ``connectors`` that must have a build for the
installed Spark; what is below ``--- 3.5 4.0`` is expected there instead. ``# when: every`` is a case that takes long:
it is run with ``EVERY_CASE`` in the environment, as ``make test-matrix`` has it.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyspark

from .. import connectors
from ..extract.case_file import reaches, since

FOLDER = Path(__file__).parent / "cases"


@dataclass(frozen=True, slots=True)
class SourceCase:
    """One case; ``application`` is the folder it is in: the kind of Spark application that runs it."""

    application: str
    family: str
    title: str
    language: str
    body: str
    expected: str

    def __str__(self) -> str:
        return f"{self.application}/{self.family}: {self.title}"


def source_cases(folder: Path = FOLDER) -> list[SourceCase]:
    """Every case below a folder that is for the installed Spark."""
    return [case for path in sorted(folder.glob("*/*.case")) for case in read_cases(path)]


def read_cases(path: Path) -> Iterator[SourceCase]:
    """The cases of a file. Raises ValueError for one without ``---``."""
    for text in re.split(r"(?m)^(?=# title: )", path.read_text())[1:]:
        above, line, below = text.partition("\n---\n")
        if not line:
            raise ValueError(
                f"{path.name}: the case {text.splitlines()[0]!r} has no line '---'; put one before the edges."
            )
        headers = dict(re.findall(r"(?m)^# (\w+): (.*)$", above))
        if not _is_run(headers):
            continue
        body = re.sub(r"(?m)^# \w+: .*\n?", "", above)
        yield SourceCase(
            path.parent.name,
            path.stem,
            headers["title"],
            headers.get("language", "sql"),
            body.strip(),
            _expected(below),
        )


def _is_run(headers: Mapping[str, str]) -> bool:
    """True where the installed Spark and its connectors have what a case asks for, and it is time for it."""
    built = getattr(connectors, headers.get("needs", "SPARK"))
    wanted = headers.get("when") != "every" or "EVERY_CASE" in os.environ
    return bool(built) and wanted and reaches(pyspark.__version__, since(headers))


def _expected(below: str) -> str:
    """The expected text for the installed Spark."""
    usual, *others = re.split(r"(?m)^--- (\d[\d. ]*)$", below)
    instead = zip(others[::2], others[1::2], strict=True)
    return next((text for versions, text in instead if connectors.SPARK in versions.split()), usual).strip()
