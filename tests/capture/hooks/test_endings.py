"""How a program ends is how its application's run ends, whichever way headwater came in."""

import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Jobs, gaps, short_name

ROOT = Path(__file__).resolve().parents[3]
WRITE = SPARK + "import os, signal, sys, time, threading\nitems.write.parquet('out')\n"
SLOW = """\
def slow(number):
    time.sleep(60)
    return number
sleeping = items.select(sf.udf(slow, "long")("price").alias("slept"))
threading.Thread(target=lambda: sleeping.write.parquet("slept"), daemon=True).start()
while not spark.sparkContext.statusTracker().getActiveJobsIds():
    time.sleep(0.1)
time.sleep(2)
"""
KILL_JVM = """\
from pyspark import SparkContext
import subprocess
process = SparkContext._gateway.proc
children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], capture_output=True, text=True).stdout
for pid in [process.pid, *map(int, children.split())]:
    os.kill(pid, signal.SIGKILL)
time.sleep(2)
"""

FAILS = {
    "try:\n    sys.exit('password=hunter2 was wrong')\nfinally:\n    spark.stop()": (1, "was wrong"),
    "def main():\n    return 3\nwith spark:\n    raise SystemExit(main())": (3, "status 3"),
    KILL_JVM: (0, "JVM was gone"),
}
ENDING = """\
import atexit, sys
from headwater.capture.hooks.endings import Ending
ending = Ending()
atexit.register(lambda: print(repr(ending.error)))
"""
MONITORED = "The program exited with status 3." if sys.version_info >= (3, 12) else ""
ERRORS = {
    "": "",
    "sys.exit(0)": "",
    "sys.exit()": "",
    "exec('sys.exit(0)')": "",
    "try:\n    sys.exit(3)\nexcept SystemExit:\n    pass": "",
    "try:\n    1 / 0\nexcept ArithmeticError:\n    pass": "",
    "import threading\none = threading.Thread(target=sys.exit, args=[3])\none.start()\none.join()": "",
    "sys.exit(3)": "The program exited with status 3.",
    "sys.exit('no more')": "SystemExit: no more",
    "raise KeyError('x')": "KeyError: 'x'",
    "try:\n    sys.exit(3)\nexcept SystemExit:\n    sys.exit(4)": "The program exited with status 4.",
    "import argparse\nargparse.ArgumentParser().error('how?')": "The program exited with status 2.",
    "raise KeyboardInterrupt": "KeyboardInterrupt: ",
    "raise GeneratorExit('no more')": "GeneratorExit: no more",
    "raise SystemExit(3)": "The program exited with status 3.",
    "raise SystemExit('no more')": "SystemExit: no more",
    "if __name__ == '__main__':\n    raise SystemExit(3)": "The program exited with status 3.",
    "raise SystemExit": "",
    "raise SystemExit()": "",
    "raise SystemExit(0)": "",
    "raise SystemExit(None)": "",
    "try:\n    raise SystemExit(3)\nexcept SystemExit:\n    pass": "",
    "try:\n    raise SystemExit(3)\nexcept SystemExit:\n    raise SystemExit(4)": "The program exited with status 4.",
    "try:\n    sys.exit(3)\nexcept SystemExit:\n    raise SystemExit(0)": "",
    "try:\n    raise SystemExit(3)\nfinally:\n    ending.passing(sys.exc_info()[1])": (
        "The program exited with status 3."
    ),
    "exit(3)": "The program exited with status 3.",
    "def main():\n    quit('no more')\nmain()": "SystemExit: no more",
    "try:\n    exit(3)\nexcept SystemExit:\n    pass": "",
    "code = 3\nraise SystemExit(code)": "The program exited with status 3.",
    "code = 0\nraise SystemExit(code)": "",
    "class Stop(SystemExit): pass\nraise Stop(3) from None": "The program exited with status 3.",
    "class Stop(SystemExit):\n    def __init__(self, number): super().__init__(0)\nraise Stop(3)": "",
    # Before Python 3.12 nothing shows the status of these:
    "def main():\n    return 3\nraise SystemExit(main())": MONITORED,
    "def main():\n    raise SystemExit(3)\nmain()": MONITORED,
    "def main():\n    raise SystemExit(3)\ntry:\n    main()\nexcept SystemExit:\n    pass": "",
}
NOTHING = "class ending:\n    passing = id\n"


@pytest.mark.parametrize("ending", ERRORS)
def test_the_end_of_a_program_is_seen(jobs: Jobs, ending: str) -> None:
    jobs.write(f"{ENDING}{ending}\n")
    jobs.write(f"import sys\n{NOTHING}{ending}\n", "plain.py")
    plain, ended = jobs.plain("plain.py"), jobs.plain("job.py")
    assert ended.out == f"{ERRORS[ending]!r}\n"
    assert ended.code == plain.code
    assert len(ended.err.splitlines()) == len(plain.err.splitlines())
    assert jobs.plain("-m", "job").out == ended.out


def test_the_hook_of_exceptions_is_only_used_for_one_that_passed_a_wrapper(jobs: Jobs) -> None:
    jobs.write(
        f"{ENDING}before = sys.excepthook\nending.let_go()\nprint(sys.excepthook is before, sys.exit)\n"
        "print(type(exit).__call__.__name__, hasattr(type(exit).__call__, '__wrapped__'))\n"
    )
    assert jobs.plain("job.py").out.splitlines()[:2] == ["True <built-in function exit>", "__call__ False"]


def ends(jobs: Jobs) -> list[dict[str, Any]]:
    """The events of the application's end."""
    return [one for one in jobs.events() if one["job"]["name"] == "shop" and one["eventType"] != "START"]


def last(jobs: Jobs) -> dict[str, Any]:
    """The event of the application's end; there is one."""
    [end] = ends(jobs)
    return end


def reason(event: dict[str, Any]) -> str:
    return str(event["run"]["facets"]["errorMessage"]["message"])


@pytest.mark.spark
@pytest.mark.parametrize("ending", FAILS)
def test_a_program_that_fails_is_an_application_that_fails(jobs: Jobs, ending: str) -> None:
    code, why = FAILS[ending]
    jobs.write(WRITE + SLOW + ending + "\n")
    ended = jobs.watched("job.py")
    assert (ended.code, "headwater/capture" in ended.err) == (code, False)
    assert (last(jobs)["eventType"], why in reason(last(jobs))) == ("FAIL", True)
    assert "hunter2" not in (jobs.folder / "events.ndjson").read_text()
    slept = [one for one in jobs.events() if short_name(one) == "shop.slept"]
    assert [one["eventType"] for one in slept][-1] in {"FAIL", "ABORT"}
    if ending == KILL_JVM:
        assert [one["eventType"] for one in slept] == ["START", "FAIL"]
        assert "JVM was gone" in reason(slept[-1])  # how it was noticed may differ
        assert gaps(last(jobs)) == [("dropped", "what was not read yet")]


@pytest.mark.spark
@pytest.mark.parametrize("status", [0, 3])
def test_a_status_that_nothing_shows_is_known_when_the_process_has_exited(jobs: Jobs, status: int) -> None:
    """On Python 3.11 libc has it, after the end of Python; a success is reported once."""
    jobs.write(f"{WRITE}def main():\n    return {status}\nraise SystemExit(main())\n")
    assert jobs.watched("job.py").code == status
    deadline = time.monotonic() + (60 if status else 3)
    while time.monotonic() < deadline and ends(jobs)[-1]["eventType"] != "FAIL":
        time.sleep(0.2)
    found = ends(jobs)
    if not status:
        assert [one["eventType"] for one in found] == ["COMPLETE"]
    else:
        assert (found[-1]["eventType"], reason(found[-1])) == ("FAIL", "The program exited with status 3.")


@pytest.mark.spark
def test_a_process_that_ends_without_a_word_fails(jobs: Jobs) -> None:
    """The JVM outlives it, and has the last events delivered; for SIGTERM see ``test_a_killed_job_keeps…``."""
    jobs.write(WRITE + SLOW + "time.sleep(4)\nos._exit(0)\n")
    assert jobs.watched("job.py").code == 0
    until = time.monotonic() + 120
    while len([one for one in jobs.events() if one["eventType"] == "FAIL"]) < 2 and time.monotonic() < until:
        time.sleep(0.5)
    assert (last(jobs)["eventType"], "without a word" in reason(last(jobs))) == ("FAIL", True)
    slept = [one for one in jobs.events() if short_name(one) == "shop.slept"]
    assert [one["eventType"] for one in slept] == ["START", "FAIL"]


@pytest.mark.spark
def test_a_process_that_is_killed_together_with_its_jvm_has_begun_only(jobs: Jobs) -> None:
    both = KILL_JVM.replace("time.sleep(2)", "os.kill(os.getpid(), signal.SIGKILL)")
    jobs.write(WRITE + SLOW + "time.sleep(2)\n" + both)
    assert jobs.watched("job.py").code == -9
    time.sleep(5)
    found = [(short_name(one).rpartition(".")[2], one["eventType"]) for one in jobs.events()]
    assert found == [("shop", "START"), ("out", "START"), ("out", "COMPLETE"), ("slept", "START")]


@pytest.mark.spark
def test_an_exit_after_the_end_of_the_application_is_not_its_own(jobs: Jobs) -> None:
    jobs.write(WRITE + "spark.stop()\nsys.exit(3)\n")
    assert jobs.watched("job.py").code == 3
    assert last(jobs)["eventType"] == "COMPLETE"


@pytest.mark.spark
def test_an_exception_that_is_handled_is_no_failure(jobs: Jobs) -> None:
    jobs.write(WRITE + "try:\n    raise ValueError\nexcept ValueError:\n    spark.stop()\n")
    assert jobs.watched("job.py").code == 0
    assert last(jobs)["eventType"] == "COMPLETE"


ATTACHED = "import headwater, os\nheadwater.attach(events='events.ndjson')\n"
NOTEBOOK = """\
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.run_cell('%load_ext headwater')
shell.run_cell({job!r})
import sys
sys.exit(3)
"""


@pytest.mark.spark
@pytest.mark.parametrize("how", ["attach", "pth", "notebook"])
def test_each_entrance_sees_the_exit_status(jobs: Jobs, how: str) -> None:
    job = WRITE + "sys.exit(3)\n"
    jobs.write({"attach": ATTACHED + job, "pth": WRITE + "exit(3)\n", "notebook": NOTEBOOK.format(job=WRITE)}[how])
    jobs.write(f"import site\nsite.addsitedir({str(ROOT / 'src')!r})\n", "site/sitecustomize.py")
    path = os.pathsep.join([str(jobs.folder / "site"), jobs.environment.get("PYTHONPATH", "")])
    environment = {"PYTHONPATH": path, "HEADWATER": "1"} if how == "pth" else {}
    ended = jobs.plain("job.py", environment=environment)
    assert ended.code == 3
    assert (last(jobs)["eventType"], "status 3" in reason(last(jobs))) == ("FAIL", True)
