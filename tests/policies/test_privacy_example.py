"""``examples/privacy``: the planted leak is found with its path, and the masked flow is not reported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from headwater.capture.java import java_home

ROOT = Path(__file__).resolve().parents[2]
# Four Spark applications on a machine that may have other work.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """The output and the exit code of the example."""
    folder = tmp_path_factory.mktemp("privacy")
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "JAVA_HOME": java_home() or "",
        "HEADWATER_STORE": str(folder / "lineage.db"),
    }
    command = [ROOT / "examples" / "privacy" / "run.sh", folder / "lake"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_the_leak_is_found_with_each_step_of_its_path(result: subprocess.CompletedProcess[str]) -> None:
    assert result.returncode == 1, result.stdout + result.stderr
    lines = result.stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "pii.email arrives here" in line]
    assert "reports/customers.customer" in lines[place]
    steps = [line.split("  by ")[1].partition(".")[0] for line in lines[place + 1 : place + 4]]
    assert steps == ["privacy_prepare", "privacy_enrich", "privacy_report"]


def test_the_masked_flow_and_other_columns_are_not_reported(result: subprocess.CompletedProcess[str]) -> None:
    reported = {line.split()[2] for line in result.stdout.splitlines() if line.startswith(("error", "warning"))}
    assert {one.rpartition(".")[2].rstrip(":") for one in reported} == {"customer"}
