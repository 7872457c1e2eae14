"""Chains of jobs that hand data on in several formats, from ``long.case``; each job has a session of its own.

A chain begins with ``# chain:``, each of its jobs with ``# job:`` and the application it runs in, of which ``plain``
ends before ``lake`` begins. Below ``---`` stand the columns of the last dataset with all their direct roots in
``people`` and ``orders``. That dataset is ``out``, or what ``# ends:`` names. In scope of a job: what `application`
gives to all, ``folder`` of the chain, in which the sources are, ``out``, and ``shared``, the application's own. A
chain that says ``# when: every``, whose writers and readers are in pairs too, is run with ``EVERY_CASE`` in the
environment, as ``make test-matrix`` has it.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .. import connectors

PATH = Path(__file__).parent / "long.case"
Expected = dict[str, frozenset[tuple[str, str]]]


@dataclass(frozen=True, slots=True)
class LongChain:
    """Jobs, each an application and code, and the roots of each column of what the last one writes."""

    number: int
    title: str
    jobs: tuple[tuple[str, str], ...]
    ends: str
    roots: Expected

    def __str__(self) -> str:
        return self.title


def long_chains(every: bool = "EVERY_CASE" in os.environ) -> Iterator[LongChain]:
    """The chains whose connectors have a build for the installed Spark: those that are run, or every one."""
    for number, text in enumerate(re.split(r"(?m)^(?=# chain: )", PATH.read_text())[1:]):
        above, _, below = text.partition("\n---\n")
        head, *jobs = re.split(r"(?m)^# job: ", above)
        headers = dict(re.findall(r"(?m)^# (\w+): (.*)$", head))
        wanted = every or headers.get("when") != "every"
        if wanted and getattr(connectors, headers.get("needs", "SPARK")):
            parts = (job.partition("\n") for job in jobs)
            named = tuple((application, code) for application, _, code in parts)
            yield LongChain(number, headers["chain"], named, headers.get("ends", ""), dict(_roots(below)))


def _roots(text: str) -> Iterator[tuple[str, frozenset[tuple[str, str]]]]:
    for line in text.strip().splitlines():
        column, _, roots = line.partition(" <- ")
        kinds = (root.split() for root in roots.split(", "))
        yield column, frozenset((kind, of) for kind, of in kinds)
