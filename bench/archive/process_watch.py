"""CPU and peak memory of a process and all that it starts, step by step."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import psutil

_EACH = 0.25  # seconds between looks at memory
_MB = 1 << 20


@dataclass(frozen=True, slots=True)
class Step:
    """A step by its name, with seconds by the clock and of CPU, and the most megabytes at once."""

    name: str
    wall: float
    cpu: float
    memory: float


@dataclass(slots=True)
class Watch:
    """The steps so far, and the largest resident memory in megabytes: of the JVM, of the rest, of all at once.

    What Python workers share with one another counts for each.
    """

    steps: list[Step] = field(default_factory=list)
    java: float = 0
    python: float = 0
    memory: float = 0
    _last: tuple[float, float] = (0, 0)
    _in_step: float = 0
    _used: dict[tuple[int, float], float] = field(default_factory=dict)

    def begin(self) -> None:
        """Begin to count."""
        self._last = self._now()

    def step(self, name: str) -> None:
        """End a step."""
        (wall, cpu), self._last = self._last, self._now()
        self.steps.append(Step(name, self._last[0] - wall, self._last[1] - cpu, self._in_step))
        self._in_step = 0

    def look(self) -> None:
        """Look at the memory and the CPU of each process."""
        java = python = 0.0
        own = psutil.Process()
        for one in (own, *own.children(recursive=True)):
            try:
                times, used = one.cpu_times(), one.memory_info().rss / _MB
                java, python = (java + used, python) if one.name() == "java" else (java, python + used)
            except psutil.Error:  # it has ended meanwhile
                continue
            # Remembered, because the times of workers that have ended are lost: Spark's daemon passes on none.
            self._used[one.pid, one.create_time()] = times.user + times.system
        self.java, self.python = max(self.java, java), max(self.python, python)
        self.memory = max(self.memory, java + python)
        self._in_step = max(self._in_step, java + python)

    def _now(self) -> tuple[float, float]:
        self.look()
        return time.perf_counter(), sum([*self._used.values()])


@contextmanager
def watching() -> Iterator[Watch]:
    """A watch that looks at the memory all the time."""
    watch, done = Watch(), threading.Event()

    def look() -> None:
        while not done.wait(_EACH):
            watch.look()

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    watch.begin()
    try:
        yield watch
    finally:
        done.set()
        looking.join()
