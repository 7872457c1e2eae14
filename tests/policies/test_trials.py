"""Forty planted leaks and forty look-alikes on a running Spark: no leak is missed, false alarms are those explained."""

import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
from tests.policies import job_trials, trials

from headwater.capture.java import java_home
from headwater.policies.assignments import add_tag
from headwater.policies.check import check
from headwater.policies.flows import Flows
from headwater.policies.policy_file import read_policy
from headwater.policies.tag_file import tag_name
from headwater.store import open_store
from headwater.store.questions.walk.tag_walk import Arriving

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]


def tables_reached(store: Path) -> set[str]:
    """The names of the tables at which the value of the address arrives."""
    with open_store(str(store)) as opened:
        add_tag(opened, "people.email", tag_name("pii.email"))
        with opened.read() as connection:
            paths = Flows(connection).paths(tag_name("pii.email"), (Arriving.VALUE,))
            return {str(one.column.dataset).rpartition("/")[2] for one in paths}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store after all statements ran under headwater."""
    folder = tmp_path_factory.mktemp("trials")
    environment = os.environ | {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "JAVA_HOME": java_home() or "",
        "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]),
    }
    command = ["headwater", "run", "--store", str(folder / "lineage.db"), "-m", trials.__name__]
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return folder / "lineage.db"


@pytest.fixture(scope="module")
def reached(store: Path) -> set[str]:
    """The tables that the address reaches."""
    return tables_reached(store)


def test_no_planted_leak_is_missed(reached: set[str]) -> None:
    assert len(trials.leaks()) == 40
    assert [name for name in trials.leaks() if f"out_{name}" not in reached] == []


def test_no_leak_of_a_job_is_missed(reached: set[str], store: Path, tmp_path: Path) -> None:
    unseen = [one.__name__ for one in job_trials.UNSEEN]
    assert len(job_trials.names()) + len(unseen) == 40
    assert [name for name in job_trials.names() if f"out_{name}" not in reached] == []
    policy = tmp_path / "policy.yml"
    policy.write_text("version: 1\nrules: {whole: {require_coverage: {datasets: [out_*], opaque: true}}}\n")
    with open_store(str(store)) as opened:
        found = {
            one.subject.rpartition("/")[2] for one in check(opened, read_policy(policy), date(2026, 6, 1)).findings
        }
    assert {f"out_{name}" for name in unseen} <= found


def test_false_alarms_are_those_that_are_explained(reached: set[str]) -> None:
    assert len(trials.lookalikes()) == 40
    assert {name for name in trials.lookalikes() if f"ok_{name}" in reached} == trials.FALSE_ALARMS.keys()
