"""A task that a second one overtakes, on a cluster of two hosts: one write, in one event."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pyspark
import pytest
from tests.capture.conftest import Jobs, statements
from tests.ports import free_port

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a cluster of four JVMs: half a minute"),
]

HOSTS = ("127.0.0.1", "127.0.0.2")  # Spark never starts the second attempt on the host of the first
JOB = """\
import sys, time
from pyspark import TaskContext
from pyspark.sql import SparkSession, functions as sf

spark = (
    SparkSession.builder.master(sys.argv[1]).appName("shop").config("spark.ui.enabled", "false")
    .config("spark.executor.memory", "512m").config("spark.executor.cores", "1")
    .config("spark.speculation", "true").config("spark.speculation.interval", "100ms")
    .config("spark.speculation.quantile", "0.1").config("spark.speculation.multiplier", "1.0")
    .config("spark.speculation.minTaskRuntime", "100ms").getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() < 3:
    time.sleep(0.1)

def slow(number):
    context = TaskContext.get()
    time.sleep(100 if context.partitionId() == 0 and context.attemptNumber() == 0 else 0.1)
    return number + 1
begun = time.time()
spark.range(0, 4, 1, 4).select("id", sf.udf(slow, "long")("id").alias("next")).write.parquet("out")
print("overtaken" if time.time() - begun < 100 else "waited")
print(spark.read.parquet("out").count())
spark.stop()
"""


@pytest.fixture
def jobs(tmp_path: Path) -> Jobs:
    return Jobs(tmp_path)


@pytest.fixture
def cluster(jobs: Jobs) -> Iterator[str]:
    """The URL of a Spark cluster with a worker on each host."""
    start, port = Path(pyspark.__file__).parent / "bin" / "spark-class", free_port()
    url = f"spark://{HOSTS[0]}:{port}"
    master = ["master.Master", "--host", HOSTS[0], "--port", str(port), "--webui-port", "0"]
    worker = ["worker.Worker", "--cores", "1", "--memory", "600m", "--webui-port", "0", "--work-dir", "workers"]
    with ExitStack() as running:
        for program, *options in (master, *([*worker, "--host", host, url] for host in HOSTS)):
            command = [str(start), f"org.apache.spark.deploy.{program}", *options]
            log = running.enter_context((jobs.folder / "cluster.log").open("a"))
            process = subprocess.Popen(command, cwd=jobs.folder, env=jobs.environment, stdout=log, stderr=log)
            running.callback(process.wait, 60)
            running.callback(process.terminate)
        yield url


def test_a_write_with_speculative_tasks_has_one_run(jobs: Jobs, cluster: str) -> None:
    jobs.write(JOB)
    ended = jobs.watched("job.py", cluster)
    assert ended.code == 0, ended.err
    assert ended.out.split() == ["overtaken", "4"]
    assert list(statements(jobs.events()).values()) == [["START", "COMPLETE"]]
