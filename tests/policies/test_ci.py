"""The workflow and the hooks of deploy/ci: their steps are run as scripts."""

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from tests.policies.conftest import EVENTS

from headwater.store import open_store

ROOT = Path(__file__).resolve().parents[2]
TAGS = "version: 1\ntags:\n  pii.email: {columns: [landing/people.mail]}\n"
POLICY = """\
version: 1
tags: tags.yml
rules:
  no-addresses: {forbid: {tags: [pii.*], reach: [reports/daily.who]}}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with tags and a policy, and the store of production beside it."""
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "tags.yml").write_text(TAGS)
    (folder / "policy.yml").write_text(POLICY)
    (folder / "jobs").mkdir()
    (folder / "jobs" / "clean.py").write_text(JOB.format("sha2(email, 256) AS who"))
    with open_store(str(tmp_path / "production.db")) as store:
        store.ingest(EVENTS)
    for command in ("git init -q", "git add .", "git -c user.name=a -c user.email=a@b.c commit -qm base"):
        subprocess.run(command, shell=True, cwd=folder, check=True)
    return folder


def run(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a script as a runner of GitHub does."""
    environment = os.environ | {"COLUMNS": "200", "GITHUB_STEP_SUMMARY": "summary.md"} | variables
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    return subprocess.run(shell, cwd=folder, env=environment, capture_output=True, text=True, check=False)


JOB = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("clean").getOrCreate()
people = spark.read.parquet("/lake/customers")
people.selectExpr("{}", "email AS domain").write.mode("overwrite").parquet("/lake/contacts")
"""
# Of two runs one plans a job at two revisions.
planned = pytest.param("email AS who", 1, marks=[pytest.mark.spark, pytest.mark.timeout(900)])


@pytest.mark.parametrize(("column", "code"), [("sha2(email, 256) AS who", 0), planned])
def test_the_workflow_fails_for_a_pull_request_that_loses_a_mask(checkout: Path, column: str, code: int) -> None:
    (checkout / "jobs" / "clean.py").write_text(JOB.format(column))
    git = "git -c user.name=a -c user.email=a@b.c commit -qam change --allow-empty"
    subprocess.run(git, shell=True, cwd=checkout, check=True)
    workflow = yaml.safe_load((ROOT / "deploy/ci/lineage.yml").read_text())
    steps = {step["name"]: step["run"] for step in workflow["jobs"]["lineage"]["steps"] if "run" in step}
    variables = {"LINEAGE_STORE": str(checkout.parent / "production.db"), "BASE": "HEAD~1"}
    assert list(steps) == [
        "Install", "Copy the store", "Plan the jobs that changed, before and after", "Check the policy",
    ]  # fmt: skip
    for name in list(steps)[1:3]:
        done = run(steps[name], checkout, **variables)
        assert done.returncode == 0, done.stderr
    summary = checkout / "summary.md"
    assert ("**mask lost**" in summary.read_text() if summary.exists() else False) is (code == 1)
    checked = run(steps["Check the policy"], checkout, **variables)
    assert checked.returncode == code, checked.stdout + checked.stderr
    assert checked.stdout.count("::error file=policy.yml,line=4,col=3") == code
    assert '"ruleId": "no-addresses"' in (checkout / "lineage.sarif").read_text() or code == 0


def test_the_hooks_pass_for_files_that_fit_and_fail_for_others(checkout: Path) -> None:
    hooks = yaml.safe_load((ROOT / "deploy/ci/pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    store = {"HEADWATER_STORE": str(checkout.parent / "production.db")}
    assert {hook["id"]: run(hook["entry"], checkout, **store).returncode for hook in hooks} == {
        "headwater-tags": 0,
        "headwater-check": 0,
    }
    (checkout / "tags.yml").write_text(TAGS.replace("mail]", "mial]"))
    assert {hook["id"]: run(hook["entry"], checkout, **store).returncode for hook in hooks} == {
        "headwater-tags": 1,
        "headwater-check": 1,
    }
