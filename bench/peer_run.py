"""One Spark application of ``make bench-peers``: ``python -m bench.peer_run AGENT FOLDER [FAMILY[/NAME] ...]``.

It runs the project's cases one after the other under AGENT, ``headwater`` or ``jar``; into ``FOLDER/ran.json`` go, for
each case, the seconds when it began and ended and why it could not run, into ``FOLDER/events.ndjson`` its events.
"""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyspark
from tests.extract.case_file import Case, cases
from tests.extract.case_run import run
from tests.extract.case_tables import SETTINGS, TABLES, session_of_its_own

import headwater
from bench.session import jar_settings

PAUSE = 0.01  # seconds; event times are in milliseconds, and tell which case an event belongs to


def main(arguments: Sequence[str]) -> None:
    """Run the cases asked for, or all."""
    agent, folder, *chosen = arguments
    wanted = [case for case in cases() if not chosen or case.family in chosen or str(case) in chosen]
    run_all([case for case in wanted if case.is_for(pyspark.__version__)], agent, Path(folder))


def run_all(wanted: Sequence[Case], agent: str, folder: Path) -> None:
    """Run them; the file is there when all have run and their events are told."""
    spark = _session(agent, folder)
    for name, query in TABLES.items():
        spark.sql(f"CREATE TABLE {name} USING parquet AS {query}")
    ran = {}
    for number, case in enumerate(wanted, start=1):
        time.sleep(PAUSE)
        ran[str(case)] = _ran(case, spark, folder)
        print(f"{agent} {number}/{len(wanted)} {case} {ran[str(case)]['error'][:150]}", flush=True)
    headwater.detach(spark)
    spark.stop()
    (folder / "ran.json").write_text(json.dumps(ran), encoding="utf-8")


def _session(agent: str, folder: Path) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("peers")
    settings = {**SETTINGS, "spark.sql.warehouse.dir": f"{folder}/warehouse"}
    for key, value in (settings | (jar_settings(folder) if agent == "jar" else {})).items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    if agent == "headwater":
        headwater.attach(spark, events=str(folder / "events.ndjson"), quiet=True)
    return spark


def _ran(case: Case, spark: Any, folder: Path) -> dict[str, Any]:
    own = folder / "cases" / case.family / case.name
    own.mkdir(parents=True)
    began, error = time.time(), ""
    try:
        with session_of_its_own(spark) as session:
            frame = run(case, session, own)
            if frame is not None:
                frame.write.parquet(str(own / case.output))
            time.sleep(PAUSE)
            ended = time.time()
    except Exception as fault:
        ended, error = time.time(), f"{type(fault).__name__}: {str(fault)[:300]}"
    return {"began": began, "ended": ended, "error": error}


if __name__ == "__main__":
    main(sys.argv[1:])
