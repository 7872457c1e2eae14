"""The globals of a job's process are as they are without headwater: before, while and after Spark runs.

docs/running.md names the differences that stay, each with its reason.
"""

import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.capture.conftest import SPARK, Jobs

import headwater

SNAPSHOT = """\
import asyncio, atexit, copyreg, decimal, faulthandler, gc, json, locale, logging, multiprocessing, os, random
import resource, signal, socket, sqlite3, subprocess, sys, tempfile, threading, time, warnings
import builtins, codecs, http.client, importlib, io, ssl, weakref
try: import numpy
except ImportError: numpy = None
IMPORTED = ("requests", "urllib3")  # these set filters for their own warnings, as in any program that imports them
IN_CHILD = '''
import os, sys
kept = [line for line in open("/proc/self/status") if line.startswith(("SigBlk", "SigIgn", "SigCgt", "Umask"))]
print(sys.path, sorted(os.environ), os.getcwd(), kept, os.listdir("/proc/self/fd"), sorted(sys.modules))'''

def named(one):
    return getattr(one, "__qualname__", str(one))

def named_class(one):
    return named(one if isinstance(one, type) else type(one))

def inheritable(number):
    try:
        return os.get_inheritable(int(number))
    except OSError:  # it has been closed since it was listed, as that of the list is
        return False

def stream(one):
    return one and (type(one).__name__, one.encoding, one.errors, one.line_buffering, one.write_through)

def loggers(look):
    known = {name: one for name, one in logging.root.manager.loggerDict.items() if isinstance(one, logging.Logger)}
    return {name: look(one) for name, one in known.items() if name.split(".")[0] in ("mine", "py4j")}

PLACES = (builtins, codecs, http.client, importlib, io, json, locale, logging, multiprocessing, os, random, signal,
          socket, ssl, subprocess, sys, tempfile, threading, time, warnings, weakref, http.client.HTTPConnection,
          json.JSONEncoder, logging.Handler, logging.Logger, socket.socket, subprocess.Popen, threading.Thread)

def functions():  # a function of the library that is replaced is from elsewhere
    found = {f"{place.__name__}.{key}": one for place in PLACES for key, one in vars(place).items() if callable(one)}
    return {key: (named(one), str(getattr(one, "__module__", ""))) for key, one in found.items() if key != "sys.exit"}

def light():
    import __main__
    status = [line for line in open("/proc/self/status") if line.startswith(("Umask", "SigIgn", "SigCgt"))]
    return {
        "collector": (gc.isenabled(), gc.get_threshold(), gc.get_freeze_count(), gc.get_debug(), len(gc.callbacks)),
        "signals": [named(signal.getsignal(one)) for one in sorted(signal.valid_signals())],
        "status": status, "timers": [signal.getitimer(one)[1] for one in range(3)],
        "hooks": [sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__,
                  sys.unraisablehook is sys.__unraisablehook__, threading.excepthook is threading.__excepthook__,
                  sys.breakpointhook is sys.__breakpointhook__, sys.gettrace(), sys.getprofile(),
                  threading.gettrace(), threading.getprofile(), sys.get_asyncgen_hooks()],
        "exit": named(sys.exit),
        "streams": [stream(one) for one in (sys.stdin, sys.stdout, sys.stderr)],
        "original streams": [sys.stdin is sys.__stdin__, sys.stdout is sys.__stdout__, sys.stderr is sys.__stderr__],
        "locale": [locale.setlocale(getattr(locale, one)) for one in ("LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME")],
        "warnings": [str(one) for one in warnings.filters if one[2].__module__.split(".")[0] not in IMPORTED],
        "showwarning": (warnings.showwarning.__module__, warnings.formatwarning.__module__),
        "path": [one for one in sys.path if "/spark-" not in one],
        "finders": [named_class(one) for one in sys.meta_path],
        "path hooks": [named(one) for one in sys.path_hooks], "argv": (sys.argv, sys.orig_argv[1:]),
        "main": (__main__.__name__, str(__main__.__spec__), __main__.__file__),
        "environment": dict(os.environ),
        "limits": (sys.getrecursionlimit(), sys.getswitchinterval(), threading.stack_size(),
                   sys.get_int_max_str_digits(), sys.getdlopenflags(), sys.dont_write_bytecode, os.nice(0)),
        "resources": [resource.getrlimit(one) for one in range(10)],
        "sockets": (socket.getdefaulttimeout(), socket.getaddrinfo.__module__, socket.socket.__module__),
        "decimal": (str(decimal.getcontext()), str(decimal.DefaultContext)),
        "random": sum(random.getstate()[1]), "numpy": numpy and int(sum(numpy.random.get_state()[1])),
        "start": multiprocessing.get_start_method(allow_none=True),
        "asyncio": str(asyncio.events._event_loop_policy), "copyreg": len(copyreg.dispatch_table),
        "sqlite": (sorted(map(str, sqlite3.adapters)), sorted(sqlite3.converters)),
        "folder": os.getcwd(), "time zone": time.tzname, "faulthandler": faulthandler.is_enabled(),
        "logging": (logging.root.level, [str(one) for one in logging.root.handlers], logging.root.manager.disable,
                    logging.getLoggerClass().__name__, logging.getLogRecordFactory().__name__, logging.raiseExceptions),
        "loggers": loggers(lambda one: (one.level, [str(each) for each in one.handlers], one.propagate, one.disabled)),
        "classes of loggers": loggers(named_class),
        "calls at exit": atexit._ncallbacks(),
    }

def seen():
    child = subprocess.run([sys.executable, "-c", IN_CHILD], capture_output=True, text=True, close_fds=False)
    return light() | {
        "functions": functions(),
        "mask": sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))),
        "wakeup": signal.set_wakeup_fd(-1),
        "in a child": child.stdout, "files": sorted(os.listdir(".")),
        "temporary": sorted(one for one in os.listdir(tempfile.gettempdir()) if "headwater" in one),
        "inherited": sorted(filter(inheritable, os.listdir("/proc/self/fd"))),
        "threads": sorted({one.name for one in threading.enumerate()} - {"watching"}),
    }

random.seed(7)
if numpy: numpy.random.seed(7)
logging.getLogger("mine")
watched, attached = os.environ.pop("WATCHED", ""), os.environ.pop("ATTACHED", "")
steps = {"begun": seen()}
"""
STEPS = """\
running, changed = True, set()

def watch():
    first = json.dumps(light(), default=str)
    while running:
        now = json.dumps(light(), default=str)
        if now != first:
            before, after = json.loads(first), json.loads(now)
            changed.update(name for name in before if before[name] != after[name])
        first = now

def written(state):
    return os.path.exists("events.ndjson") and f'"{state}"' in open("events.ndjson").read()

steps["session"] = seen()
watching = threading.Thread(target=watch, name="watching")
watching.start()
if attached:
    exec("import headwater; headwater.attach(spark, events='events.ndjson', store='store.db', quiet=True)")
items.write.parquet("out")
steps["in a worker"] = spark.sparkContext.range(1).map(lambda _: (sorted(os.environ), random.seed(1))).collect()
while watched and not written("COMPLETE"):
    time.sleep(0.1)
time.sleep(1)
steps["written"] = seen()
if attached:
    exec("headwater.detach()")
    steps["detached"] = seen()
else:
    steps["detached"] = steps["written"]
spark.stop()
running = False
watching.join()
steps["stopped"] = seen()
steps["drawn"] = [random.random(), tempfile._RandomNameSequence is not None, numpy and numpy.random.rand()]
steps["changed"] = dict.fromkeys(changed)
"""
PRINTED = "print(json.dumps(steps, default=str))\n"
# Where `headwater.redaction` uses the library `regex`, which registers its patterns with pickle.
LIBRARIES: set[str] = {"copyreg"} if sys.version_info < (3, 11, 5) else set()
ALWAYS = {"exit", "classes of loggers", "calls at exit", *LIBRARIES}
BACK_AGAIN = {"classes of loggers", "calls at exit", "files", *LIBRARIES}
WHILE_IT_RUNS = {*ALWAYS, "files", "finders", "threads"}
FILES = {"events.ndjson", "spool", "store.db", "store.db-shm", "store.db-wal"}
DIFFERENCES: dict[str, dict[str, set[str]]] = {
    "run": {
        "begun": {"finders"},
        "session": WHILE_IT_RUNS,
        "written": WHILE_IT_RUNS,
        "detached": WHILE_IT_RUNS,
        "stopped": {"finders", *ALWAYS, "files"},
        "changed": set(),
    },
    "attach": {
        "written": WHILE_IT_RUNS,
        "detached": BACK_AGAIN,
        "stopped": BACK_AGAIN,
        "changed": {*ALWAYS, "finders"} - LIBRARIES,
    },
}


def compared(plain: dict[str, Any], watched: dict[str, Any]) -> dict[str, set[str]]:
    """The names of what differs at each step, where something does."""
    names = {step: found.keys() | plain[step].keys() for step, found in watched.items() if isinstance(found, dict)}
    differing = {
        step: {one for one in them if plain[step].get(one, "none") != watched[step].get(one, "none")}
        for step, them in names.items()
    }
    return {step: them for step, them in differing.items() if them}


def steps(jobs: Jobs, text: str, how: str = "") -> dict[str, Any]:
    """The steps that a job prints, under headwater as ``how`` has it, or without."""
    temporary = jobs.folder / "temporary"  # other programs of this machine leave theirs in the usual one
    temporary.mkdir(exist_ok=True)
    jobs.environment |= {"HEADWATER_QUIET": "1", "HEADWATER_STORE": "store.db", "TMPDIR": str(temporary)}
    jobs.write(text)
    for name in ("out", "spool"):
        shutil.rmtree(jobs.folder / name, ignore_errors=True)
    for path in [*jobs.folder.glob("store.db*"), *jobs.folder.glob("*.ndjson")]:
        path.unlink()
    more = {**({"WATCHED": "1"} if how else {}), **({"ATTACHED": "1"} if how == "attach" else {})}
    ended = (jobs.watched if how == "run" else jobs.plain)("job.py", environment=more)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


@pytest.fixture(scope="module")
def one_folder(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    return Jobs(tmp_path_factory.mktemp("globals"))


@pytest.fixture(scope="module")
def plain(one_folder: Jobs) -> dict[str, Any]:
    """The steps of a job with Spark, without headwater."""
    return steps(one_folder, SNAPSHOT + SPARK + STEPS + PRINTED)


def test_the_globals_of_a_job_without_spark_are_as_before(jobs: Jobs) -> None:
    without, watched = (steps(jobs, SNAPSHOT + PRINTED, how) for how in ("", "run"))
    assert compared(without, watched) == {"begun": {"finders"}}


@pytest.mark.spark
@pytest.mark.parametrize("how", DIFFERENCES)
def test_the_globals_of_a_job_with_spark_are_as_without(one_folder: Jobs, plain: dict[str, Any], how: str) -> None:
    watched = steps(one_folder, SNAPSHOT + SPARK + STEPS + PRINTED, how)
    if how == "attach":  # while the OpenLineage client and `regex` are imported, which may go unseen
        watched["changed"].pop("warnings", None)
    found = compared(plain, watched)
    if how == "attach":
        found["changed"] -= LIBRARIES
    assert found == {step: them for step, them in DIFFERENCES[how].items() if them}
    assert watched["drawn"] == plain["drawn"]
    more = set(watched["written"]["threads"]) - set(plain["written"]["threads"])
    assert {one.split("-")[0] for one in more} == {"headwater"}
    assert set(watched["stopped"]["files"]) - set(plain["stopped"]["files"]) <= FILES


def test_no_module_draws_from_the_random_numbers_of_the_process() -> None:
    """A generator of its own (``from random import Random``) is another thing."""
    package = Path(headwater.__file__).parent
    shared = re.compile(r"^\s*(?:import random\b|from random import (?!Random$))", re.MULTILINE)
    assert [path for path in package.rglob("*.py") if shared.search(path.read_text())] == []
