"""The suites that depend on Spark, on every version of Spark: ``make test-matrix``.

``python -m tests.matrix FOLDER VERSION...`` runs each suite in the environment FOLDER-VERSION of each version, one
after the other, and prints a table of what passed. The output of a suite is in FOLDER-VERSION/SUITE.log, what it left
in the folder SUITE beside it. Ends with 1 when anything failed. SUITES in the environment names those to run.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITES: Mapping[str, tuple[str, ...]] = {
    "contract": ("tests/contract",),
    "cases": ("tests/extract/test_live.py",),
    "capture": ("tests/capture", "--ignore=tests/capture/connect"),
    "sources": ("tests/sources",),
    "formats": ("tests/formats",),
    "chains": ("tests/chains",),
    "connect": ("tests/capture/connect",),
    "streams": ("tests/streaming",),
    "odd": ("tests/odd",),
    "connectors": ("tests/interfaces",),
    "archives": ("tests/archive",),
}
COUNT = re.compile(r"(\d+) (passed|failed|skipped|error)")
MOST_SECONDS = 3600


def result(python: Path, suite: str) -> str:
    """Run a suite in the environment of an interpreter; the counts of pytest, as ``361 passed, 2 failed``."""
    path = os.pathsep.join([str(python.parent), os.environ.get("PATH", "")])
    log = python.parents[1] / f"{suite}.log"
    options = ["-q", "-p", "no:cacheprovider", "--basetemp", log.with_suffix("")]
    command = [python, "-m", "pytest", *options, *SUITES[suite]]
    with log.open("w") as out:
        try:
            environment = {**os.environ, "PATH": path, "PYSPARK_PYTHON": str(python), "EVERY_CASE": "1"}
            subprocess.run(
                command, cwd=ROOT, env=environment, stdout=out, stderr=out, timeout=MOST_SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return f"error: no end after {MOST_SECONDS} seconds"
    last = next((line for line in reversed(log.read_text().splitlines()) if " in " in line and COUNT.search(line)), "")
    return ", ".join(f"{number} {what}" for number, what in COUNT.findall(last)) or f"error: see {log}"


def main(arguments: Sequence[str]) -> int:
    """Run all, print the table; 1 when something failed."""
    folder, *versions = arguments
    wanted = os.environ.get("SUITES", "").split() or list(SUITES)
    found: dict[str, list[str]] = {}
    for version in versions:
        found[version] = []
        for suite in wanted:
            counts = result(Path(f"{folder}-{version}").absolute() / "bin" / "python", suite)
            found[version].append(counts)
            print(f"Spark {version}, {suite}: {counts}", flush=True)
    print("\n| Spark | " + " | ".join(wanted) + " |\n|" + "---|" * (len(wanted) + 1))
    for version, cells in found.items():
        print(f"| {version} | " + " | ".join(cells) + " |")
    return int(any("failed" in cell or "error" in cell for cells in found.values() for cell in cells))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
