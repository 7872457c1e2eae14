"""The long run: every case, packings place by place, pipelines seed by seed; docs/oracle.md from what was seen.

``python -m tests.oracle [--pipelines 2000] [--placed 300] [--seed 1000] [--no-cases] [--log FILE]`` (``make oracle``);
with the same file it goes on where it was broken off, and ``--logged`` writes what is in it and runs nothing. Packings
have the seeds of pipelines, or those from ``--placed-seed`` on. ``--histories FILE`` is the log of a run of
``python -m tests.oracle.histories``.
"""

import argparse
import os
import sys
from argparse import Namespace
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path

import pyspark
from rich.progress import Progress
from tests.extract.case_file import Case
from tests.oracle.casework import experiment, runnable
from tests.oracle.document import DOCUMENT, Seen, document
from tests.oracle.hunt import PLACED, MissingEdge, Oracle, hunt, oracle, shown
from tests.oracle.judging import examine
from tests.oracle.logbook import Key, append, read
from tests.oracle.tally import Tally

CHUNK = 50


@dataclass(frozen=True, slots=True)
class Run:
    """A run that goes on: what the log has is not looked at again."""

    live: Oracle
    progress: Progress
    log: Path

    def cases(self) -> Tally:
        """Every case that can be run on other data."""
        tally, known = Tally(), dict(read(self.log))
        for at, case in enumerate(self.progress.track(runnable(), description="cases")):
            self._line(f"cases: {at}", at % CHUNK == 0)
            key = f"case {case}"
            tally.take(known.get(key) or self._logged(key, _case(case, self.live)))
        return tally

    def placed(self, start: int, wanted: int) -> Tally:
        """Packings in each place of a query."""

        def look(seed: int, tally: Tally) -> None:
            hunt(self.live, tally, CHUNK, seed, generated=PLACED, tightness=True)

        return self._seeds("placed", start, wanted, look)

    def pipelines(self, start: int, wanted: int) -> Tally:
        """Generated pipelines."""
        return self._seeds("", start, wanted, lambda seed, tally: hunt(self.live, tally, CHUNK, seed))

    def _seeds(self, what: str, start: int, wanted: int, look: Callable[[int, Tally], None]) -> Tally:
        """``CHUNK`` queries for each seed; an interrupt (Ctrl-C) ends with what was seen so far."""
        tally, known = Tally(), dict(read(self.log))
        bar = self.progress.add_task(what or "pipelines", total=wanted)
        for seed in count(start):
            if tally.count >= wanted:
                break
            key = f"{what} {seed}" if what else seed
            try:
                tally.take(known.get(key) or self._logged(key, self._seed(seed, tally.seen, look)))
            except KeyboardInterrupt:
                break
            self.progress.update(bar, completed=tally.count)
            self._line(f"{what or 'pipelines'}: {tally.count}")
        return tally

    def _seed(self, seed: int, seen: set[str], look: Callable[[int, Tally], None]) -> Tally:
        tally = Tally(seen=seen)
        try:
            look(seed, tally)
        except MissingEdge as found:
            self.progress.console.print(f"seed {seed}:\n{found}", markup=False)
        return tally

    def _logged(self, key: Key, tally: Tally) -> Tally:
        append(self.log, key, tally)
        return tally

    def _line(self, text: str, now: bool = True) -> None:
        """A line where no bar can be drawn, as in a file."""
        if now and not self.progress.console.is_terminal:
            self.progress.console.print(text)


def _case(case: Case, live: Oracle) -> Tally:
    tally = Tally()
    try:
        looked_at = experiment(case, live)
        verdict = examine(looked_at, tightness=True)
    except Exception as reason:
        tally.refused(f"{case}: ", reason)
        return tally
    tally.add(verdict, (str(case),))
    if verdict.missing:
        tally.missing.append(shown(f"{case}\n{case.code}", looked_at.lineage, verdict))
    return tally


def logged(path: Path, kind: str = "") -> Tally:
    """All that a log has of ``case``, of ``placed``, or of seeds alone."""
    tally = Tally()
    for key, one in dict(read(path)).items():
        if str(key).rpartition(" ")[0] == kind:
            tally.take(one)
    return tally


def looked_at(options: Namespace) -> tuple[Tally, Tally, Tally]:
    """Cases, placed packings and pipelines; what the log has is not looked at again."""
    with oracle() as live, Progress() as progress:
        run = Run(live, progress, options.log)
        cases = Tally() if options.no_cases else run.cases()
        return cases, run.placed(options.placed_seed, options.placed), run.pipelines(options.seed, options.pipelines)


def main() -> int:
    """Run, write the document; the number of missing edges is what the process ends with."""
    parser = argparse.ArgumentParser(prog="make oracle")
    parser.add_argument("--pipelines", type=int, default=2000)
    parser.add_argument("--placed", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--placed-seed", type=int)
    parser.add_argument("--no-cases", action="store_true")
    parser.add_argument("--logged", action="store_true")
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    parser.add_argument("--histories", type=Path, default=Path(os.devnull))
    options = parser.parse_args()
    options.placed_seed = options.seed if options.placed_seed is None else options.placed_seed
    of_log = (logged(options.log, kind) for kind in ("case", "placed", ""))
    tallies = *(of_log if options.logged else looked_at(options)), logged(options.histories)
    histories = tuple(sorted(seed for seed in dict(read(options.histories)) if isinstance(seed, int)))
    seeds = options.seed, options.placed_seed, histories
    DOCUMENT.write_text(document(Seen(pyspark.__version__, f"{date.today()}", *seeds, CHUNK, *tallies)))
    missing = [missing for tally in tallies for missing in tally.missing]
    print("\n\n".join(missing) or f"No missing edge. {DOCUMENT} is written.")
    return min(len(missing), 100)


if __name__ == "__main__":
    sys.exit(main())
