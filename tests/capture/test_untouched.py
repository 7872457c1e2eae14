"""What headwater leaves as it is in the job's own process: globals, log lines, output, settings of Spark."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import PYTHON, SPARK, WATCHED, Jobs, gaps

SNAPSHOT = """\
import asyncio, decimal, gc, json, locale, logging, multiprocessing, os, random, signal, socket, sys, threading
import warnings

IMPORTED = ("requests", "urllib3")  # these set filters for their own warnings, as in any program that imports them
OURS = ("HEADWATER", "PYSPARK_GATEWAY")

def named(one):
    return getattr(one, "__qualname__", str(one))

def seen():
    import __main__
    previous = os.umask(0o22); os.umask(previous)
    return {
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.get_debug(), len(gc.callbacks)),
        "signals": [named(signal.getsignal(one)) for one in sorted(signal.valid_signals())],
        "mask": sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))),
        "wakeup": signal.set_wakeup_fd(-1),
        "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__,
                  sys.unraisablehook is sys.__unraisablehook__, threading.excepthook is threading.__excepthook__,
                  sys.gettrace(), sys.getprofile(), threading.gettrace(),
                  threading.getprofile(), sys.breakpointhook is sys.__breakpointhook__],
        "locale": [locale.setlocale(getattr(locale, one)) for one in ("LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME")],
        "warnings": [str(one) for one in warnings.filters if one[2].__module__.split(".")[0] not in IMPORTED],
        "showwarning": warnings.showwarning.__module__,
        "path": sys.path, "path hooks": len(sys.path_hooks), "argv": sys.argv, "orig": sys.orig_argv[1:] and True,
        "main": (sorted(name for name in vars(__main__)), __main__.__name__),
        "environment": {key: value for key, value in os.environ.items() if not key.startswith(OURS)},
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), threading.stack_size()),
        "socket": socket.getdefaulttimeout(),
        "decimal": str(decimal.getcontext()),
        "random": random.getstate()[1][:3],
        "start": multiprocessing.get_start_method(allow_none=True),
        "asyncio": type(asyncio.get_event_loop_policy()).__name__,
        "umask": previous, "folder": os.getcwd(),
        "logging": (logging.root.level, [str(one) for one in logging.root.handlers], logging.root.manager.disable,
                    logging.getLoggerClass().__name__, logging.getLogRecordFactory().__name__, logging.raiseExceptions),
        "files": sorted(os.listdir(".")),
        "temporary": sorted(one for one in os.listdir("/tmp") if "headwater" in one),
        "inherited": sorted(filter(inheritable, os.listdir("/proc/self/fd"))),
    }

def inheritable(number):
    return os.path.exists(f"/proc/self/fd/{number}") and os.get_inheritable(int(number))
random.seed(7)
"""
CHILD = """\
import subprocess
look = "import os, sys; print(sys.path, sorted(sys.modules), os.listdir('/proc/self/fd'))"
print(subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, close_fds=False).stdout)
"""


def same(jobs: Jobs, *lines: str) -> list[str]:
    """The lines that a job prints, with headwater as without."""
    jobs.write("".join(lines))
    plain, watched = jobs.plain("job.py"), jobs.watched("job.py")
    assert plain.code == watched.code == 0, plain.err + watched.err
    pairs = zip(plain.out.splitlines(), watched.out.splitlines(), strict=True)
    assert [(one, other) for one, other in pairs if one != other] == []
    return watched.out.splitlines()


def test_the_globals_of_a_job_without_spark_are_as_before(jobs: Jobs) -> None:
    jobs.environment |= {"HEADWATER_QUIET": "1"}
    same(
        jobs,
        SNAPSHOT,
        "for name, value in seen().items(): print(name, value)\n",
        CHILD,
    )


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


def test_the_collector_is_never_switched() -> None:
    import headwater.capture as package

    found: list[Any] = []
    for folder in package.__path__:
        found += [path for path in Path(folder).rglob("*.py") if re.search(r"\bgc\b", path.read_text())]
    assert found == []
