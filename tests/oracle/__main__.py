"""The long run: every case, then pipelines seed by seed, and docs/oracle.md from what was seen (``make oracle``).

``python -m tests.oracle [--pipelines 2000] [--seed 1000] [--no-cases] [--log FILE]``; with the same file it goes on
where it was broken off. ``--histories FILE`` is the log of a run of ``python -m tests.oracle.histories``.
"""

import argparse
import os
import sys
from argparse import Namespace
from itertools import count
from pathlib import Path

import pyspark
from rich.progress import Progress
from tests.oracle.casework import experiment, runnable
from tests.oracle.document import DOCUMENT, Seen, document
from tests.oracle.hunt import MissingEdge, Oracle, hunt, oracle, told
from tests.oracle.judging import examine
from tests.oracle.logbook import append, read
from tests.oracle.tally import Tally

CHUNK = 50
TIGHTNESS_OF = 20


def look_at_cases(live: Oracle, progress: Progress) -> Tally:
    """Every case that can be run on other data."""
    tally = Tally()
    for at, case in enumerate(progress.track(runnable(), description="cases")):
        tell(progress, f"cases: {at}", at % CHUNK == 0)
        try:
            looked_at = experiment(case, live)
            verdict = examine(looked_at, tightness=True)
        except Exception as reason:
            tally.refused(f"{case}: ", reason)
            continue
        tally.add(verdict, (str(case),))
        if verdict.missing:
            tally.missing.append(told(f"{case}\n{case.code}", looked_at.lineage, verdict))
    return tally


def look_at_pipelines(live: Oracle, progress: Progress, asked: Namespace) -> Tally:
    """Generated pipelines, ``CHUNK`` for each seed; an interrupt (Ctrl-C) ends with what was seen so far."""
    tally, known = Tally(), dict(read(asked.log))
    bar = progress.add_task("pipelines", total=asked.pipelines)
    for seed in count(asked.seed):
        if tally.count >= asked.pipelines:
            break
        try:
            tally.take(known.get(seed) or _look_at_seed(live, progress, seed, asked.log, tally.seen))
        except KeyboardInterrupt:
            break
        progress.update(bar, completed=tally.count)
        tell(progress, f"pipelines: {tally.count}")
    return tally


def _look_at_seed(live: Oracle, progress: Progress, seed: int, log: Path, seen: set[str]) -> Tally:
    tally = Tally(seen=seen)
    try:
        hunt(live, tally, CHUNK, seed, TIGHTNESS_OF)
    except MissingEdge as found:
        progress.console.print(f"seed {seed}:\n{found}", markup=False)
    append(log, seed, tally)
    return tally


def _logged(path: Path) -> Tally:
    """All that a file of ``python -m tests.oracle.histories`` has."""
    tally = Tally()
    for _, one in read(path):
        tally.take(one)
    return tally


def tell(progress: Progress, text: str, now: bool = True) -> None:
    """A line where no bar can be drawn, as in a file."""
    if now and not progress.console.is_terminal:
        progress.console.print(text)


def main() -> int:
    """Run, write the document; the number of missing edges is what the process ends with."""
    parser = argparse.ArgumentParser(prog="make oracle")
    parser.add_argument("--pipelines", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--no-cases", action="store_true")
    parser.add_argument("--log", type=Path, default=Path(os.devnull))
    parser.add_argument("--histories", type=Path, default=Path(os.devnull))
    asked = parser.parse_args()
    with oracle() as live, Progress() as progress:
        cases = Tally() if asked.no_cases else look_at_cases(live, progress)
        generated = look_at_pipelines(live, progress, asked)
    tallies = cases, generated, _logged(asked.histories)
    DOCUMENT.write_text(document(Seen(pyspark.__version__, asked.seed, CHUNK, TIGHTNESS_OF, *tallies)))
    found = [missing for tally in tallies for missing in tally.missing]
    print("\n\n".join(found) or f"No missing edge. {DOCUMENT} is written.")
    return min(len(found), 100)


if __name__ == "__main__":
    sys.exit(main())
