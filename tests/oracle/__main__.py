"""The long run: every case, then pipelines seed by seed, and docs/oracle.md from what was seen (``make oracle``).

``python -m tests.oracle [--pipelines 2000] [--seed 1000] [--no-cases]``
"""

import argparse
import sys

import pyspark
from rich.progress import Progress
from tests.oracle.casework import experiment, runnable
from tests.oracle.document import DOCUMENT, Seen, document
from tests.oracle.hunt import MissingEdge, Oracle, hunt, oracle, told
from tests.oracle.judging import examine
from tests.oracle.tally import Tally

CHUNK = 50
TIGHTNESS_OF = 5


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
            tally.missing.append(told(case, looked_at.lineage, verdict))
    return tally


def look_at_pipelines(live: Oracle, progress: Progress, count: int, seed: int) -> Tally:
    """Generated pipelines, ``CHUNK`` for each seed; an interrupt (Ctrl-C) ends with what was seen so far."""
    tally, bar = Tally(), progress.add_task("pipelines", total=count)
    while tally.looked_at < count:
        try:
            hunt(live, tally, CHUNK, seed, TIGHTNESS_OF)
        except MissingEdge as found:
            progress.console.print(f"seed {seed}:\n{found}", markup=False)
        except KeyboardInterrupt:
            break
        seed += 1
        progress.update(bar, completed=tally.looked_at)
        tell(progress, f"pipelines: {tally.count}")
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
    asked = parser.parse_args()
    with oracle() as live, Progress() as progress:
        cases = Tally() if asked.no_cases else look_at_cases(live, progress)
        generated = look_at_pipelines(live, progress, asked.pipelines, asked.seed)
    DOCUMENT.write_text(document(Seen(pyspark.__version__, asked.seed, CHUNK, cases, generated)))
    found = cases.missing + generated.missing
    print("\n\n".join(found) or f"No missing edge. {DOCUMENT} is written.")
    return min(len(found), 100)


if __name__ == "__main__":
    sys.exit(main())
