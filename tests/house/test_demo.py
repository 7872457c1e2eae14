"""``make demo`` is the first thing a stranger sees: it works, and prints what the README says it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.capture.java import java_home

ROOT = Path(__file__).resolve().parents[2]
# Three Spark applications on a machine that may have other work.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
README_LAKE = "/home/you/headwater/examples/flights/data"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The output of the demo, with its lake where the README has it."""
    folder = tmp_path_factory.mktemp("demo")
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "JAVA_HOME": java_home() or "",
        "HEADWATER_STORE": str(folder / "lineage.db"),
    }
    script = ROOT / "examples" / "flights" / "run.sh"
    result = subprocess.run(
        [script, folder / "lake"], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.replace(str(folder / "lake"), README_LAKE)


def words(line: str) -> str:
    """A line without its alignment, which depends on the length of the lake's path."""
    return re.sub(r"\s+", " ", line).strip()


def test_the_readme_shows_what_the_demo_prints(printed: str) -> None:
    readme = (ROOT / "README.md").read_text()
    shown = re.search(r"^    \$ headwater roots.*?(?=^\S)", readme, re.MULTILINE | re.DOTALL)
    assert shown, "the README has no block that starts with `$ headwater roots`"
    lines = [words(line) for line in shown.group().splitlines() if line.strip() and "…" not in line]
    assert [line for line in lines if line not in map(words, printed.splitlines())] == []


def test_the_demo_leads_back_to_the_raw_files(printed: str) -> None:
    for source in ("flights.csv.arr_delay", "planes.csv.seats", "airports.csv.lat"):
        assert source in printed


def test_the_demo_ends_with_the_command_that_opens_the_page_at_a_gold_column(printed: str) -> None:
    assert printed.rstrip().splitlines()[-1].endswith("headwater ui gold/scorecard.seat_hours_lost")
