"""The short form of ``make soak``: twenty queries, no event lost, no Java object kept for Python."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.spark
@pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a Spark for twenty queries: half a minute")
def test_twenty_queries_lose_no_event_and_keep_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "bench.soak", "--queries", "20", "--every", "5", "--only-events"]
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    done = subprocess.run(
        [*command, "--plot", str(tmp_path / "soak.svg")],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths, "HEADWATER_STRICT": "1", "SPARK_LOCAL_IP": "127.0.0.1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "no event lost" in done.stdout
