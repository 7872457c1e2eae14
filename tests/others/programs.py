"""Programs of others, each in a process of its own, under ``headwater run`` or without it."""

import os
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from tests.class_archive import QUICK, ROOT

LIMIT = 3 * 3600  # seconds for one program, on a busy machine too
DEFAULTS = Path(__file__).with_name("conf")

SILENT = {
    "DO_NOT_TRACK": "1",
    "GX_ANALYTICS_ENABLED": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "SQLMESH__DISABLE_ANONYMIZED_ANALYTICS": "true",
}
"""Programs that would report their use to who made them do not."""

REPEATABLE = {"PYTHONHASHSEED": "0"}
"""MLlib seeds its estimators by Python's hash of their names."""


def run(
    arguments: Sequence[str],
    place: Path,
    log: Path,
    events: Path | None,
    *,
    good: Collection[int] = (0,),
    environment: str = "",
) -> float:
    """Run Python in a place, watched when there is a file for ``events``; its output goes to the end of ``log``.

    The Python is that of an ``environment``, a folder of the checkout, or this one. An error inside headwater fails the
    program: nothing is swallowed. The result is the seconds that it took.

    Raises:
        SystemExit: its exit code is not a good one; the message has the end of its output.
        subprocess.TimeoutExpired: it took longer than ``LIMIT``, and was ended.
    """
    python = str(ROOT / environment / "bin" / "python") if environment else sys.executable
    before = ("-m", "headwater", "run", "--events", str(events)) if events else ()
    command = [python, *before, *arguments]
    quick = {"SPARK_SUBMIT_OPTS": QUICK, "SPARK_LAUNCHER_OPTS": QUICK, "SPARK_CONF_DIR": str(DEFAULTS)}
    variables = {**os.environ, **quick, **SILENT, **REPEATABLE, "PYSPARK_PYTHON": python, "HEADWATER_STRICT": "1"}
    started = time.monotonic()
    with log.open("a") as output:
        done = subprocess.run(
            command, cwd=place, env=variables, stdout=output, stderr=output, timeout=LIMIT, check=False
        )
    if done.returncode not in good:
        end = log.read_text(errors="replace")[-3000:]
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}; its log ends:\n{end}")
    return time.monotonic() - started
