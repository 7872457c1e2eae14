"""Programs of others, each in a process of its own, under ``headwater run`` or without it."""

import os
import subprocess
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from tests.class_archive import QUICK

LIMIT = 3600  # seconds for one program, on a busy machine too
DEFAULTS = Path(__file__).with_name("conf")

SILENT = {
    "DO_NOT_TRACK": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true",
}
"""Programs that would report their use to who made them do not."""


def run(arguments: Sequence[str], place: Path, log: Path, events: Path | None, good: Collection[int] = (0,)) -> None:
    """Run Python in a place, watched when there is a file for ``events``; what it says goes to the end of ``log``.

    An error inside headwater fails the program: nothing is swallowed.

    Raises:
        SystemExit: its exit code is not a good one; the message has the end of what it said.
        subprocess.TimeoutExpired: it took longer than ``LIMIT``, and was ended.
    """
    before = ("-m", "headwater", "run", "--events", str(events)) if events else ()
    command = [sys.executable, *before, *arguments]
    quick = {"SPARK_SUBMIT_OPTS": QUICK, "SPARK_LAUNCHER_OPTS": QUICK, "SPARK_CONF_DIR": str(DEFAULTS)}
    environment = {**os.environ, **quick, **SILENT, "PYSPARK_PYTHON": sys.executable, "HEADWATER_STRICT": "1"}
    with log.open("a") as said:
        done = subprocess.run(command, cwd=place, env=environment, stdout=said, stderr=said, timeout=LIMIT, check=False)
    if done.returncode not in good:
        end = log.read_text(errors="replace")[-3000:]
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}; its log ends:\n{end}")
