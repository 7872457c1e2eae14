"""Work on another thread: its result, its error, or the end of it when its time is over."""

import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from headwater.errors import ExtensionError
from headwater.ext.watchdog import package_of, within

OWN = (package_of(__name__),)
SLOW = """
import time
until = time.monotonic() + 0.3
while time.monotonic() < until:
    pass
whole = True
"""

PROFILED = """
import sys, threading, time
from headwater.errors import ExtensionError
from headwater.ext.watchdog import within

def loops():
    while True:
        pass

def waits():
    time.sleep(60)

def ends_in_time():
    until = time.perf_counter() + 0.002
    while time.perf_counter() < until:
        time.sleep(0.0001)

if sys.argv[2] == "traced":
    sys.settrace(lambda *step: None)
    threading.settrace(lambda *step: None)
for place in range(200 if sys.argv[1] == "ends_in_time" else 1):
    try:
        within(0.0018 + place % 9 * 0.0001, globals()[sys.argv[1]], ("__main__",))
    except ExtensionError:
        pass
loops = lambda: "entered"
sys.setprofile(lambda *call: None)
print(loops())
"""

COLLECTS = """
import gc, sys, threading, time
from headwater.errors import ExtensionError
from headwater.ext.watchdog import within

def loops():
    while True:
        pass

def waits(*call):
    if "_current_frames" in sys._getframe(1).f_code.co_names:
        time.sleep(0.02)

if sys.argv[1] == "collects":
    gc.callbacks.append(waits)
    gc.set_threshold(1)
else:
    gc.disable()
for _ in range(3):
    try:
        within(0.005, loops, ("__main__",))
    except ExtensionError:
        pass
    for _ in range(20):
        threading.Thread(target=int).start()
print(gc.isenabled())
"""


@pytest.mark.parametrize(("job", "still"), [("collects", "True"), ("collects none", "False")])
def test_a_job_that_starts_threads_goes_on_while_work_is_ended(job: str, still: str) -> None:
    """Python 3.11 may collect garbage while it holds the lock that every start of a thread takes."""
    command = [sys.executable, "-c", COLLECTS, job]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout == f"{still}\n"


@pytest.mark.parametrize("job", ["traced", "profiled afterwards"])
@pytest.mark.parametrize("work", ["loops", "waits", "ends_in_time"])
def test_a_job_under_a_profiler_goes_on_after_work_was_ended(work: str, job: str) -> None:
    """Python 3.11 enters no function there while it takes it that something is still to be raised in a thread."""
    command = [sys.executable, "-c", PROFILED, work, job]
    assert subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout == "entered\n"


@pytest.mark.filterwarnings("error")
def test_work_that_ends_just_as_its_time_does_leaves_nothing_behind() -> None:
    """An exception that came too late would be raised in what Python does when a thread ends."""

    def about_two_milliseconds() -> int:
        until = time.perf_counter() + 0.002
        while time.perf_counter() < until:
            time.sleep(0.0001)
        return 7

    found: list[int | str] = []
    for place in range(200):
        try:
            found.append(within(0.0018 + place % 9 * 0.0001, about_two_milliseconds, OWN))
        except ExtensionError as error:
            found.append(str(error)[:17])
    assert set(found) <= {7, "it took more than"}


def test_it_may_raise_one_of_our_own() -> None:
    def refuse() -> None:
        raise ExtensionError("it gave nothing")

    with pytest.raises(ExtensionError, match=r"^it gave nothing$"):
        within(1.0, refuse)


def test_without_a_thread_an_extension_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    with pytest.raises(ExtensionError, match=r"^it could not be asked: can't start new thread$"):
        within(1.0, lambda: 7)


def test_a_loop_of_its_own_is_ended() -> None:
    def without_end() -> None:
        while True:
            pass

    with pytest.raises(ExtensionError, match="more than"):
        within(0.05, without_end, OWN)


def test_no_lock_of_the_job_stays_held() -> None:
    """Ended within ``put`` between taking the lock and the block that gives it back, it would be held for ever."""
    shared: queue.Queue[int] = queue.Queue()
    stop = threading.Event()

    def answers() -> None:
        while not stop.is_set():
            shared.put(1)

    for place in range(30):
        with pytest.raises(ExtensionError):
            within(0.002 + place % 10 * 0.0003, answers, OWN)
        assert shared.mutex.acquire(timeout=60)
        shared.mutex.release()
    stop.set()


def test_an_import_is_never_ended_in_its_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text(SLOW)
    monkeypatch.syspath_prepend(tmp_path)

    def loads() -> None:
        __import__("slow_to_import")

    with pytest.raises(ExtensionError, match="more than"):
        within(0.05, loads, (*OWN, "slow_to_import"))
    until = time.monotonic() + 60
    while not sys.modules["slow_to_import"].__dict__.get("whole") and time.monotonic() < until:
        time.sleep(0.01)
    assert sys.modules["slow_to_import"].__dict__["whole"] is True
