"""Speed that a second core brings to a build, and the most that it could bring on this machine on this day.

Two builds at once, each with a core of its own, wait for nothing but the memory, the caches and the host that cores
share: no way to divide one build among two cores could be quicker than that.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.archive.builds import HEADWATER, Built, built
from bench.archive.events import write
from bench.archive.shapes import Shape
from bench.figures import table


@dataclass(frozen=True, slots=True)
class Scaling:
    """Builds of one archive right after each other: on one core, two at once with a core each, and on two cores."""

    alone: Built
    at_once: tuple[Built, Built]
    both: Built

    @property
    def faster(self) -> float:
        """How many times as fast two cores are."""
        return self.alone.wall / self.both.wall

    @property
    def at_most(self) -> float:
        """How many times as much work two cores do, where it is two builds that share nothing."""
        return 4 * self.alone.wall / sum(one.wall for one in self.at_once)

    def row(self) -> list[str]:
        """As the table has it."""
        builds = [(self.alone,), self.at_once, (self.both,)]
        walls = [" and ".join(f"{one.wall:.1f}" for one in some) for some in builds]
        cpu = [" and ".join(f"{1000 * one.cpu / one.events:.2f}" for one in some) for some in builds]
        return [*walls, *cpu, f"{self.faster:.2f}", f"{self.at_most:.2f}"]


def scalings(shape: Shape, folder: Path, times: int) -> Iterator[Scaling]:
    """Build the archive of a shape so many times in each manner; tables are made anew each time.

    Raises:
        SystemExit: builds cannot be bound to two cores here.
    """
    if not hasattr(os, "sched_getaffinity") or len(os.sched_getaffinity(0)) < 2:
        raise SystemExit("--scaling binds builds to two cores: it needs Linux, and a machine that has two.")
    print(f"{write(shape, folder / 'events'):,} lines", file=sys.stderr)
    for _ in range(times):
        alone = _built(shape, folder, range(1))
        with ThreadPoolExecutor(2) as threads:
            one, other = threads.map(partial(_built, shape, folder), (range(1), range(1, 2)))
        found = Scaling(alone, (one, other), _built(shape, folder, range(2)))
        print(*found.row(), sep=", ", file=sys.stderr, flush=True)
        yield found


def _built(shape: Shape, folder: Path, cores: range) -> Built:
    with TemporaryDirectory(dir=folder) as place:
        return built(HEADWATER, shape, folder / "events", Path(place) / "tables", cores)


def report_scalings(found: Sequence[Scaling]) -> str:
    """A table of all, in the order that they were measured in."""
    builds = ["one core", "two builds, a core each", "two cores"]
    head = [
        *(f"{one}: s" for one in builds),
        *(f"{one}: CPU ms an event" for one in builds),
        "times as fast",
        "at most",
    ]
    return table(head, [one.row() for one in found])
