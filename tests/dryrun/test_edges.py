"""The edges of cases in a dry run beside those of a run: a sample, or all with ``EVERY_CASE`` (``make bench-plan``).

The machine is sealed meanwhile, so that a case which changes anything outside of the dry run's folder fails.
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark
import pytest
from tests.dryrun.sealed import can_seal, sealed, temporary
from tests.extract.case_file import Case, cases, some
from tests.formats.formats import BUILDS, FAMILIES, cases_of

DIFFERENCES = {
    f"{family}/{name}": why
    for family, names in tomllib.loads(Path(__file__).with_name("differences.toml").read_text("utf-8")).items()
    for name, why in names.items()
}
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "plan.md"
LAKE = Path(__file__).resolve().parents[1] / "formats" / "cases"
SAMPLE = 30


def faults(folder: Path, words: Sequence[object]) -> dict[str, str]:
    """The difference of each case, empty where there is none, from a process; of the lake on a machine not sealed."""
    command: list[object] = [sys.executable, "-m", "tests.dryrun.case_process", folder, *words]
    if words[0] != "lake" and can_seal(folder):
        command = list(sealed(folder, command))
    environment = {**os.environ, **temporary(folder), "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(map(json.loads, done.stdout.splitlines()))


def unexplained(found: Mapping[str, str], chosen: Sequence[Case]) -> dict[str, str]:
    """The faults that no line of the differences explains, and the lines without a fault."""
    assert list(found) == [str(case) for case in chosen]
    print(f"{sum(not fault for fault in found.values())} of {len(found)} cases have equal edges")
    return {name: fault for name, fault in found.items() if not _as_listed(DIFFERENCES.get(name, ""), fault)}


def _as_listed(why: str, fault: str) -> bool:
    """Whether a fault is listed; one that comes by chance may be missing."""
    return bool(why) == bool(fault) or why.startswith("by chance: ")


@pytest.mark.spark
def test_edges_are_those_of_a_run_but_for_explained_differences(tmp_path: Path) -> None:
    chosen = some([case for case in cases() if case.is_for(pyspark.__version__)], SAMPLE)
    assert unexplained(faults(tmp_path, chosen), chosen) == {}
    assert not (tmp_path / "data" / "warehouse").exists()


@pytest.mark.spark
@pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a Spark with the connectors and 81 cases: a minute")
@pytest.mark.skipif(not BUILDS["lake"], reason="there is no build of Delta and Iceberg for this Spark")
def test_edges_of_table_formats_are_those_of_a_run(tmp_path: Path) -> None:
    chosen = cases_of("lake")
    assert unexplained(faults(tmp_path, ["lake", *chosen]), chosen) == {}


@pytest.mark.parametrize(
    "every",
    [
        [case for case in cases() if case.is_for("4.1")],
        [case for case in cases(LAKE) if case.family in FAMILIES["lake"]],
    ],
)
def test_the_figures_of_the_documentation_are_those_of_the_differences(every: Sequence[Case]) -> None:
    equal = [case for case in every if str(case) not in DIFFERENCES]
    assert f"{len(equal)} of {len(every)} cases" in DOCUMENT.read_text("utf-8")


def test_each_difference_is_of_a_case() -> None:
    assert {str(case) for case in (*cases(), *cases(LAKE))} >= DIFFERENCES.keys()
