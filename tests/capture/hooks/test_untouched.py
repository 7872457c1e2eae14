"""Log lines, output and settings of Spark: headwater leaves them as they are in the job's own process."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import PYTHON, SPARK, WATCHED, Jobs, gaps

LOUD = """\
import logging, sys
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(name)s %(levelname)s")
"""


@pytest.mark.spark
def test_a_job_that_logs_everything_has_no_line_more(jobs: Jobs) -> None:
    jobs.environment |= {"HEADWATER_QUIET": "1", "HEADWATER_STORE": "store.db", "OPENLINEAGE_URL": "http://127.0.0.1:9"}
    jobs.write(
        LOUD + SPARK + "items.write.parquet('out')\nlogging.getLogger('urllib3.pool').debug('mine')\nspark.stop()\n"
    )
    lines = set(jobs.watched("job.py").out.splitlines())
    assert "urllib3.pool DEBUG" in lines
    foreign = {line.split(".")[0].split(" ")[0] for line in lines} - {"py4j"}
    assert foreign == {"urllib3"}


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_job_whose_output_is_closed_starts(jobs: Jobs, closed: str) -> None:
    jobs.write("open('done', 'w').write('yes')\n")
    for command in (*((*WATCHED, "job.py"),), (PYTHON, "-m", "headwater", "run", "job.py")):
        (jobs.folder / "done").unlink(missing_ok=True)
        words = " ".join(map(str, command))
        ended = subprocess.run(["sh", "-c", f"{words} {closed}"], cwd=jobs.folder, env=jobs.environment, check=False)
        assert (ended.returncode, (jobs.folder / "done").exists()) == (0, True)


FULL = """\
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder.master("local[1]").appName("shop").config("spark.ui.enabled", "false")
    .config("spark.scheduler.listenerbus.eventqueue.capacity", "1"){more}.getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
for number in range(30):
    spark.range(1).write.mode("overwrite").parquet("out")
spark.stop()
"""


@pytest.mark.spark
def test_small_queues_of_spark_cost_no_lineage(jobs: Jobs) -> None:
    jobs.write(FULL.format(more=""))
    assert jobs.watched("job.py").code == 0
    events = jobs.events()
    ends = [one for one in events if one["eventType"] == "COMPLETE" and one["outputs"]]
    assert len(ends) == 30
    assert gaps(events[-1]) == []


@pytest.mark.spark
def test_events_that_sparks_queue_drops_are_a_gap(jobs: Jobs) -> None:
    more = '.config("spark.scheduler.listenerbus.eventqueue.headwater.capacity", "1")'
    # Several threads end their statements at once, so that one event at least meets a full queue.
    burst = (
        "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(16) as pool:\n"
        "    list(pool.map(lambda n: spark.sql(f'CREATE OR REPLACE TEMP VIEW v{n} AS SELECT {n}'), range(800)))\n"
    )
    jobs.write(FULL.format(more=more).replace("spark.stop()", burst + "spark.stop()"))
    assert jobs.watched("job.py").code == 0
    ((kind, what),) = [gap for gap in gaps(jobs.events()[-1]) if "SQL executions" in gap[1]]
    assert kind == "dropped"
    assert int(what.split()[0]) > 0


NOT_ANALYZED = """\
import time
from pyspark.errors import AnalysisException

def frames(error):
    return {line.split("(")[0] for line in str(spark._jvm.org.apache.spark.util.Utils.exceptionString(error)).split()}

for query in ("SELECT * FROM nowhere", "INSERT INTO nowhere SELECT 1", "CREATE TABLE t AS SELECT * FROM nowhere"):
    try:
        spark.sql(query)
    except AnalysisException as error:
        time.sleep(1)
        print(sorted(one for one in frames(error._origin) if "headwater" in one))
spark.stop()
"""


@pytest.mark.spark
def test_the_error_of_a_query_that_cannot_be_analyzed_has_frames_of_spark_only(jobs: Jobs) -> None:
    jobs.write(SPARK + NOT_ANALYZED)
    assert jobs.watched("job.py").out.splitlines() == ["[]"] * 3
    assert gaps(jobs.events()[-1]) == []


def test_the_collector_is_never_switched() -> None:
    import headwater.capture as package

    found: list[Any] = []
    for folder in package.__path__:
        found += [path for path in Path(folder).rglob("*.py") if re.search(r"\bgc\b", path.read_text())]
    assert found == []
