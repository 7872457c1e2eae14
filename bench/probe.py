"""CPU clocks of threads and memory figures of a running Spark application, JVM and Python side."""

import gc
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

_SOURCE = Path(__file__).with_name("Probe.java")
# What Python has let go of, py4j tells the JVM from a thread that looks once a second (FinalizerWorker).
_RELEASE_SECONDS = 2.5


@dataclass(frozen=True, slots=True)
class JavaThread:
    """A thread of the JVM and its CPU time so far; ``headwaters`` when its stack was in headwater's classes."""

    id: int
    cpu: float
    headwaters: bool
    name: str


@dataclass(frozen=True, slots=True)
class Memory:
    """Megabytes: the heap after a full collection, the JVM beside its heap, and this Python process."""

    heap: float
    beside_heap: float
    python: float


class Probe:
    """Looks at the application behind a SparkSession."""

    def __init__(self, spark: Any) -> None:
        self._gateway = spark.sparkContext._gateway
        self._bus = spark.sparkContext._jsc.sc().listenerBus()
        self._java = _compiled(self._gateway)
        self._tap_thread: int | None = None
        self._jvm = psutil.Process(self._gateway.proc.pid)
        self._python = psutil.Process()

    def threads(self) -> list[JavaThread]:
        """Every thread of the JVM that lives."""
        return [_thread(line) for line in self._call("threads").splitlines()]

    def clocks(self) -> dict[str, float]:
        """CPU seconds so far: ``shared`` and ``queue`` are listener threads, ``py4j`` and ``python`` headwater's."""
        threads = self.threads()
        self._tap_thread = next((one.id for one in threads if one.headwaters), self._tap_thread)
        return {
            "shared": sum(one.cpu for one in threads if one.name == "spark-listener-group-shared"),
            "queue": sum(one.cpu for one in threads if one.name == "spark-listener-group-headwater"),
            "py4j": sum(one.cpu for one in threads if one.id == self._tap_thread),
            "python": _python_thread("headwater"),
        }

    def process(self) -> float:
        """CPU seconds of both processes so far, with the compiler and collector threads of the JVM."""
        return sum(sum(process.cpu_times()[:2]) for process in (self._jvm, self._python))

    def when_idle(self) -> dict[str, float]:
        """The clocks, as soon as nobody works on what has happened any more."""
        self._bus.waitUntilEmpty(60_000)
        before = self.clocks()
        while True:
            time.sleep(0.1)
            after = self.clocks()
            if _spent(before, after) < 0.001:
                return after
            before = after

    def own_cpu(self) -> float:
        """CPU seconds so far of the JVM thread that serves the calling Python thread."""
        return float(self._call("ownCpu")) / 1e9

    def memory(self) -> Memory:
        """Memory now, after a full collection."""
        heap, beside = self._call("memory")
        return Memory(heap / 2**20, beside / 2**20, self._python.memory_info().rss / 2**20)

    def bindings(self) -> int:
        """Java objects that py4j keeps for what Python still refers to; -1 where this Java does not let one look."""
        gc.collect()
        time.sleep(_RELEASE_SECONDS)
        return int(self._call("bindings"))

    def _call(self, name: str) -> Any:
        gateway = self._gateway
        method = self._java.getMethod(name, gateway.new_array(gateway.jvm.java.lang.Class, 0))
        return method.invoke(None, gateway.new_array(gateway.jvm.java.lang.Object, 0))


def _spent(before: Mapping[str, float], after: Mapping[str, float]) -> float:
    return sum(after.values()) - sum(before.values())


def _compiled(gateway: Any) -> Any:
    compiler = gateway.jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(_SOURCE.read_text(encoding="utf-8"))
    return compiler.getClassLoader().loadClass("bench.Probe")


def _thread(line: str) -> JavaThread:
    id, nanoseconds, headwaters, name = line.split("\t")
    return JavaThread(int(id), int(nanoseconds) / 1e9, headwaters == "1", name)


def _python_thread(name: str) -> float:
    """The kernel's clock of the thread, that of /proc/self/task; nothing when there is no such thread."""
    found = [thread.ident for thread in threading.enumerate() if thread.name == name]
    return sum(time.clock_gettime(time.pthread_getcpuclockid(ident)) for ident in found if ident)
