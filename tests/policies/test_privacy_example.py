"""``examples/privacy``: the leak is found with its path, in runs, in plans and between revisions; the hash is not.

With ``EVERY_CASE`` in the environment the jobs are run, too (``make test-every``).
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest
from pyspark.java_gateway import launch_gateway

from headwater.capture.java import java_home

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "privacy"
CONFIGURATION = {"JAVA_HOME": java_home() or "", "SPARK_CONF_DIR": str(EXAMPLE.parent / "flights" / "conf")}
# Spark applications on a machine that may have other work: four that run, four that are planned, two at both revisions.
pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]
Ended = subprocess.CompletedProcess[str]


def ended(folder: Path, *command: object, code: int = 0) -> Ended:
    """The end of a command in a folder, with the store and the environment that all of them have."""
    environment = os.environ | CONFIGURATION
    environment |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "HEADWATER_STORE": str(folder / "lineage.db"),
    }
    words = [str(one) for one in command]
    result = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == code, result.stdout + result.stderr
    return result


@contextmanager
def one_jvm() -> Iterator[None]:
    """Have the jobs that are run one after the other find a JVM, of whose start each would else take the seconds."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in CONFIGURATION.items():
            patch.setenv(name, value)
        gateway = launch_gateway()
        patch.setenv("PYSPARK_GATEWAY_PORT", str(gateway.gateway_parameters.port))
        patch.setenv("PYSPARK_GATEWAY_SECRET", gateway.gateway_parameters.auth_token)
        try:
            yield
        finally:
            gateway.shutdown()
            gateway.proc.stdin.close()
            gateway.proc.wait()


SCRIPTS = ["run.sh", "plan.sh"] if "EVERY_CASE" in os.environ else ["plan.sh"]


@pytest.fixture(scope="module", params=SCRIPTS)
def script(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended]:
    """The folder and the end of a script, whose check fails."""
    folder = tmp_path_factory.mktemp("privacy")
    with one_jvm() if request.param == "run.sh" else nullcontext():
        return folder, ended(folder, EXAMPLE / request.param, folder / "lake", code=1)


def test_the_leak_is_found_with_each_step_of_its_path_and_the_hash_is_not(script: tuple[Path, Ended]) -> None:
    lines = script[1].stdout.splitlines()
    (place,) = [number for number, line in enumerate(lines) if "pii.email arrives here" in line]
    assert "reports/customers.customer" in lines[place]
    steps = [line.split("  by ")[1].partition(".")[0] for line in lines[place + 1 : place + 4]]
    assert steps == ["privacy_prepare", "privacy_enrich", "privacy_report"]
    reported = {line.split()[2] for line in lines if line.startswith(("error", "warning"))}
    assert {one.rpartition(".")[2].rstrip(":") for one in reported} == {"customer"}
    assert not [line for line in lines if "pii.phone arrives here" in line]


def test_a_plan_leaves_no_lake(script: tuple[Path, Ended], request: pytest.FixtureRequest) -> None:
    ran = request.node.callspec.params["script"] == "run.sh"
    assert (script[0] / "lake").exists() is ran


@pytest.mark.parametrize("script", ["plan.sh"], indirect=True)
def test_a_pull_request_that_brings_the_leak_has_it_in_its_comment(script: tuple[Path, Ended]) -> None:
    folder = script[0]
    jobs = shutil.copytree(EXAMPLE, folder / "shop" / "jobs")
    leaking = (jobs / "03_enrich.py").read_text()
    safe = leaking.replace("silver/support", "silver/people").replace('.selectExpr("id", "contact.*")', "")
    (jobs / "03_enrich.py").write_text(safe.replace('label("email"', 'label("person"'))
    own = ("git", "-C", folder / "shop", "-c", "user.name=a", "-c", "user.email=a@b.c")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "safe"), ("checkout", "-qb", "labels")):
        ended(folder, *own, *words)
    (jobs / "03_enrich.py").write_text(leaking)
    ended(folder, *own, "commit", "-qam", "Show who ordered")
    # Without the report it would be, on both sides, what was planned of the leak before.
    jobs_of = [word for job in ("03_enrich", "04_report") for word in ("--job", f"jobs/{job}.py {folder}/lake")]
    call = (*jobs_of, "--tags", EXAMPLE / "tags.yml", "--exit-code")
    comment = ended(folder, "env", "-C", folder / "shop", "headwater", "diff", "main...labels", *call, code=1).stdout
    lines = comment.replace(f"{folder}/", "/").splitlines()
    place = lines.index("- **pii.email** (value) at `file:/lake/reports/customers.customer`")
    assert [line.split("  by ")[1].partition(".")[0] for line in lines[place + 1 : place + 4]] == [
        "privacy_prepare", "privacy_enrich", "privacy_report",
    ]  # fmt: skip
    assert not [line for line in lines if "**pii." in line and "customer`" not in line and "orders.label`" not in line]
    assert len(ended(folder, *own, "worktree", "list").stdout.splitlines()) == 1
