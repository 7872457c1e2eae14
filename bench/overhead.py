"""``make bench``: what headwater costs beside the openlineage-spark jar, both measured in this one run.

Four Spark applications run side by side and do the same statements in turn, never two at once: one without an
agent, one with the jar, one with headwater writing a file as the jar does, one with headwater writing its store.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

from bench import drawing
from bench.figures import quantile, table
from bench.workloads import Workload, workloads

AGENTS = ("none", "jar", "headwater", "headwater-store")
OURS = ("queue", "py4j", "python")
GOAL = 0.25
PLOT = Path(__file__).parents[1] / "docs" / "img" / "overhead.svg"

Measured = dict[str, list[dict[str, float]]]


class Application:
    """One arm in a process of its own, to be used as a context manager."""

    def __init__(self, agent: str, folder: Path) -> None:
        self._folder = folder / agent
        self._folder.mkdir()
        self._log = (self._folder / "log.txt").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "bench.arm", agent, str(self._folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(sys.path[:1] + _path())},
        )
        self._answer()

    def __enter__(self) -> "Application":
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self.order("stop")
            self._process.communicate(timeout=60)
        self._log.close()

    def order(self, text: str) -> Any:
        """The application's answer to an order."""
        assert self._process.stdin
        print(text, file=self._process.stdin, flush=True)
        return self._answer()

    def _answer(self) -> Any:
        """The next line of JSON; what Spark's launcher prints between is passed over."""
        assert self._process.stdout
        for text in self._process.stdout:
            if text.startswith("{"):
                return json.loads(text)
        log = (self._folder / "log.txt").read_text()[-3000:]
        raise SystemExit(
            f"The application {self._folder.name} ended where an answer was expected; its log ends:\n{log}"
        )


def measured(applications: dict[str, Application], work: Workload, share: float) -> Measured:
    """Every repetition of a workload by every application; who is first changes from round to round."""
    found: Measured = {agent: [] for agent in applications}
    rounds = max(1, round(work.rounds * share))
    for number in range(max(1, round(work.warm_up * share)) + rounds):
        order = list(applications)[number % len(applications) :] + list(applications)[: number % len(applications)]
        for agent in order:
            found[agent].append(applications[agent].order(f"run {work.name}"))
        print(f"{work.name} {number + 1}", file=sys.stderr, flush=True)
    return {agent: repetitions[-rounds:] for agent, repetitions in found.items()}


def cost_row(work: Workload, found: Measured) -> list[str]:
    """CPU per query of the jar, of headwater with a file, its parts, and with the store; medians, in milliseconds."""
    jar = jar_cost(found)
    ours, store = our_cost(found["headwater"]), our_cost(found["headwater-store"])
    numbers = [jar, ours, *parts(found).values(), store]
    return [work.title, *(f"{number:.1f}" for number in numbers), f"{ours / jar:.2f}"]


def our_cost(repetitions: Sequence[dict[str, float]]) -> float:
    """Milliseconds of CPU of the three threads that are headwater's."""
    return 1000 * median(sum(one[kind] for kind in OURS) for one in repetitions)


def parts(found: Measured) -> dict[str, float]:
    """Milliseconds of CPU of each of headwater's threads, with a file."""
    return {kind: 1000 * median(one[kind] for one in found["headwater"]) for kind in OURS}


def jar_cost(found: Measured) -> float:
    """Milliseconds of CPU of the jar's listener thread, less what Spark's own listeners take on it without the jar."""
    return 1000 * (median(one["shared"] for one in found["jar"]) - median(one["shared"] for one in found["none"]))


def action_row(work: Workload, found: Measured) -> list[str]:
    """Wall time of the action against the application without an agent, round by round: median of the ratios."""
    bare = found["none"]
    ratios = [_ratio(found[agent], bare, "wall") for agent in AGENTS[1:]]
    whole = [_ratio(found[agent], bare, "process") for agent in AGENTS[1:]]
    return [work.title, *(f"{number:.2f}" for number in (*ratios, *whole))]


def _ratio(ones: Sequence[dict[str, float]], others: Sequence[dict[str, float]], kind: str) -> float:
    return median(one[kind] / max(other[kind], 1e-9) for one, other in zip(ones, others, strict=True))


def latency(application: Application, pairs: int) -> str:
    """Attached against detached in one JVM, small query: the median of the paired ratios and their middle half."""
    found = [application.order(f"pair small{number % 2}") for number in range(pairs)]
    ratios = [pair["with"] / pair["without"] for pair in found]
    low, middle, high = (quantile(ratios, part) for part in (0.25, 0.5, 0.75))
    return (
        f"Latency of the small query, attached / detached in the same JVM, {pairs} pairs in changing order: "
        f"median {middle:.3f} (middle half {low:.3f} to {high:.3f})"
    )


def steps_table(found: dict[str, list[float]]) -> str:
    """p50 and p95 of each step for ordinary statements."""
    capture = [read + decode for read, decode in zip(found["read"], found["decode"], strict=True)]
    steps = {
        "capture (read in the JVM, py4j, decode)": capture,
        "  of which read and py4j": found["read"],
        "  of which decode": found["decode"],
        "extraction": found["extract"],
        "event and JSON": found["event"],
    }
    rows = [[name, *(f"{1000 * quantile(times, part):.2f}" for part in (0.5, 0.95))] for name, times in steps.items()]
    return table(["step, ordinary statements", "p50 ms", "p95 ms"], rows)


def report(found: dict[str, Measured], works: Sequence[Workload]) -> str:
    """Both tables."""
    columns = ["CPU ms per query", "jar", "headwater", "queue", "py4j", "python", "with store", "headwater / jar"]
    costs = table(columns, [cost_row(work, found[work.name]) for work in works])
    ratios = [f"{what} {agent}" for what in ("action", "CPU") for agent in ("jar", "headwater", "store")]
    actions = table(["ratio to no agent", *ratios], [action_row(work, found[work.name]) for work in works])
    return f"{costs}\n\n{actions}"


def main() -> int:
    """Measure, print, and fail when headwater takes more than a quarter of the jar's CPU."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", type=float, default=1.0, help="part of the repetitions to do, such as 0.1")
    parser.add_argument("--only", nargs="+", help="the workloads to do: small, wide, chain, tasks")
    parser.add_argument("--pairs", type=int, default=60, help="pairs of the latency measurement")
    parser.add_argument("--json", type=Path, help="also write every single measurement to this file")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        works = [work for work in workloads(Path(folder)) if not options.only or work.name in options.only]
        applications = {agent: stack.enter_context(Application(agent, Path(folder))) for agent in AGENTS}
        found: dict[str, Measured] = {}
        for work in works:
            found[work.name] = measured(applications, work, options.share)
            keep(options.json, {"workloads": found})
        steps = applications["headwater"].order("ordinary")
        pairs = latency(applications["headwater"], options.pairs)
    print(report(found, works), steps_table(steps), pairs, sep="\n\n")
    keep(options.json, {"workloads": found, "ordinary": steps})
    drawing.costs({work.title: (jar_cost(found[work.name]), parts(found[work.name])) for work in works}, GOAL, PLOT)
    return verdict(found, works)


def keep(path: Path | None, found: dict[str, Any]) -> None:
    """Every single measurement so far, in a file, where one was asked for."""
    if path:
        path.write_text(json.dumps(found), encoding="utf-8")


def verdict(found: dict[str, Measured], works: Sequence[Workload]) -> int:
    """Say whether the goal is met: 0 if so, else 1."""
    ratios = {work.title: our_cost(found[work.name]["headwater"]) / jar_cost(found[work.name]) for work in works}
    over = [title for title, ratio in ratios.items() if ratio > GOAL]
    print(f"\nGoal, at most {GOAL} of the jar's CPU: " + (f"missed for {', '.join(over)}" if over else "met for all"))
    return 1 if over else 0


def _path() -> list[str]:
    inherited = os.environ.get("PYTHONPATH", "")
    return [os.path.abspath(part) for part in inherited.split(os.pathsep) if part]


if __name__ == "__main__":
    sys.exit(main())
