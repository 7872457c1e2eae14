"""One Spark application of the comparison: ``python -m bench.arm AGENT FOLDER``, told what to do on standard input.

Each line that comes in is one of the orders below, each line that goes out the answer as JSON. AGENT is ``none``,
``headwater`` (events into a file), ``headwater-store`` (into its own store) or ``jar`` (openlineage-spark, a file).
"""

import json
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import headwater
from bench.ordinary import ordinary
from bench.probe import Probe
from bench.session import session
from bench.workloads import make_inputs, workloads


class Arm:
    """A running application with one agent, or none."""

    def __init__(self, agent: str, folder: Path) -> None:
        self._agent, self._folder = agent, folder
        self._spark = session(folder, agent)
        self._probe = Probe(self._spark)
        self._workloads = {work.name: work for work in workloads(folder)}
        make_inputs(self._spark, folder)
        self.attach()
        self._probe.when_idle()

    def attach(self) -> None:
        """Begin to watch, where that is done by a call."""
        if self._agent == "headwater":
            headwater.attach(self._spark, events=str(self._folder / "events.ndjson"), quiet=True)
        elif self._agent == "headwater-store":
            headwater.attach(self._spark, store=str(self._folder / "lineage.db"), quiet=True)

    def run(self, name: str) -> dict[str, float]:
        """One repetition of a workload: its wall time, and what CPU each kind of thread took for it."""
        work = self._workloads[name]
        prepared = work.prepare(self._spark)
        before, process = self._probe.when_idle(), self._probe.process()
        begun = time.perf_counter()
        work.act(self._spark, prepared)
        wall = time.perf_counter() - begun
        after = self._probe.when_idle()
        return {
            "wall": wall,
            "process": self._probe.process() - process,
            **{kind: after[kind] - before[kind] for kind in after},
        }

    def pair(self, name: str) -> dict[str, float]:
        """A workload without and with the agent, in this same JVM; who is first changes from pair to pair."""
        watched_first = bool(int(name[-1]))
        walls = {}
        for watched in (watched_first, not watched_first):
            self.attach() if watched else headwater.detach(self._spark)
            walls["with" if watched else "without"] = self.run(name[:-1])["wall"]
        return walls

    def ordinary(self, _: str) -> dict[str, list[float]]:
        """Seconds of each step for ordinary statements."""
        return ordinary(self._spark)

    def threads(self, _: str) -> dict[str, float]:
        """CPU of every thread so far, by name: to see that none is left out."""
        return {f"{one.name}#{one.id}": one.cpu for one in self._probe.threads()}

    def stop(self, _: str) -> dict[str, int]:
        """End the application."""
        headwater.detach(self._spark)
        self._spark.stop()
        return {"stopped": 1}


def main(arguments: list[str]) -> None:
    """Obey until the input ends."""
    arm = Arm(arguments[0], Path(arguments[1]))
    orders: Mapping[str, Callable[[str], Any]] = {
        "run": arm.run,
        "pair": arm.pair,
        "ordinary": arm.ordinary,
        "threads": arm.threads,
        "stop": arm.stop,
    }
    _answer({"ready": 1})
    for line in sys.stdin:
        order, _, what = line.strip().partition(" ")
        _answer(orders[order](what))


def _answer(found: Any) -> None:
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
