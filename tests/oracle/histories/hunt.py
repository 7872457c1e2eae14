"""Histories of a seed: run once under ``headwater run``, then again on changed tables."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import HealthCheck, Phase, given, seed, settings
from tests.connectors import DELTA, packages
from tests.oracle.histories import application, merges, rdds, scripts, sinks, variables
from tests.oracle.histories.experiment import HistoryExperiment
from tests.oracle.histories.history import History, Link, histories
from tests.oracle.histories.store import lineage_in
from tests.oracle.hunt import Oracle, oracle, shown
from tests.oracle.judging import examine
from tests.oracle.tally import Tally

from headwater.store import Store, open_store

LINKS: Mapping[str, Link] = {
    **sinks.LINKS,
    **variables.LINKS,
    **scripts.LINKS,
    **(merges.LINKS if DELTA else {}),
    **rdds.LINKS,
}
SETTINGS = {
    "spark.jars.packages": packages(DELTA),
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.databricks.delta.schema.autoMerge.enabled": "false",
    "spark.sql.scripting.enabled": "true",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}
ROOT = Path(__file__).resolve().parents[3]
EVENTS = "events.ndjson"


def generated(start: int, count: int) -> tuple[History, ...]:
    """The first ``count`` histories of a seed."""
    found: list[History] = []

    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(histories(LINKS))
    def take(history: History) -> None:
        found.append(history)

    take()
    return tuple(dict.fromkeys(found))


def watched(drawn: tuple[History, ...], folder: Path) -> dict[str, str]:
    """Run histories under ``headwater run``; by tag the error of each."""
    jobs = {f"h{number}": history.jobs for number, history in enumerate(drawn)}
    (folder / "plan.json").write_text(json.dumps({"folder": str(folder), "conf": SETTINGS, "jobs": jobs}))
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    environment = {**os.environ, "PYTHONPATH": paths, "PYSPARK_PYTHON": sys.executable}
    command = [sys.executable, "-m", "headwater", "run", "--events", EVENTS, application.__file__, "plan.json"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the application of histories ended with {done.returncode}:\n{done.stderr[-2000:]}")
    found: dict[str, str] = json.loads((folder / "ran.json").read_text())
    return found


def hunt(live: Oracle, start: int, count: int) -> Tally:
    """Examine ``count`` histories of a seed."""
    tally, drawn = Tally(), generated(start, count)
    with TemporaryDirectory() as name, open_store(f"sqlite:///{name}/store.db") as store:
        folder = Path(name)
        errors = watched(drawn, folder)
        store.ingest((folder / EVENTS).read_text().splitlines())
        for history, (tag, error) in zip(drawn, errors.items(), strict=True):
            if error:
                tally.refused("", RuntimeError(error))
            else:
                _examine(live, history, store, folder / tag, tally)
    return tally


def _examine(live: Oracle, history: History, store: Store, folder: Path, tally: Tally) -> None:
    try:
        names = tuple(live.files.spark.read.parquet(f"{folder}/out").columns)
        experiment = HistoryExperiment(live.files, history, lineage_in(store, folder, names))
        verdict = examine(experiment)
    except Exception as error:
        tally.refused("", error)
        return
    tally.add(verdict, history.used)
    if verdict.missing:
        tally.missing.append(shown(str(history), experiment.lineage, verdict))


def with_delta() -> AbstractContextManager[Oracle]:
    """An oracle whose Spark has Delta."""
    return oracle(SETTINGS)
