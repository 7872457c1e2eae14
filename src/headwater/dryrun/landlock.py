"""Files that a process can change, limited by Linux itself (Landlock, from Linux 5.19 on) to those of one folder.

An audit hook of Python sees what Python opens. A library in C (a database within the process, say) opens its files by
itself, and a thread of a library has no line of the job to name. The kernel refuses both, for all threads and programs
that are started after it was asked to: ``landlock(7)``, ``linux/landlock.h``.
"""

import contextlib
import ctypes
import functools
import os
import struct
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
"""Numbers of system calls, which are alike on x86-64 and arm64."""

_VERSION, _PATH_BENEATH = 1, 1
_NO_NEW_PRIVILEGES = 38

_WRITE_FILE, _TRUNCATE = 1 << 1, 1 << 14
_IN_FOLDERS = sum(1 << bit for bit in range(4, 14))
"""To make, remove, rename and link whatever is in a folder."""

_RENAMES, _TRUNCATES = 2, 3
"""The versions of Landlock that let files move between folders at all, and that know of cut files."""

UNCONFINED = (
    "Files that libraries in C open by themselves were not watched: this system has no Landlock (Linux 5.19 or later)."
)
"""The sentence of a report for a system on which `confine` could not limit the process."""

_DEVICES = ("/dev/full", "/dev/null", "/dev/pts", "/dev/shm", "/dev/tty", "/dev/zero")


def confine(folder: str) -> bool:
    """Let this thread, and whatever it starts from now on, change files below ``folder`` alone, for good.

    Return whether the kernel does so. Threads that are there already stay as they are, and so do open files.
    """
    version = _call(_CREATE_RULESET, None, 0, _VERSION) if sys.platform == "linux" else -1
    if version < _RENAMES:
        return False
    of_files = _WRITE_FILE | (_TRUNCATE if version >= _TRUNCATES else 0)
    rules = _call(_CREATE_RULESET, struct.pack("=Q", of_files | _IN_FOLDERS), 8, 0)
    if rules < 0:
        return False
    try:
        return all(_allow(rules, path, of_files) for path in (folder, *_DEVICES)) and _restrict(rules)
    finally:
        os.close(rules)


def start_programs_unconfined() -> None:
    """Have PySpark start its JVM from a thread of now: its files are behind an overlay, not behind `confine`."""
    from pyspark import java_gateway

    thread = ThreadPoolExecutor(1, "headwater-launcher")
    thread.submit(int).result()  # it is started by the first call
    java_gateway.Popen = _from_thread(thread, java_gateway.Popen)


def _from_thread(thread: ThreadPoolExecutor, start: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(start, updated=())
    def started(*command: Any, **options: Any) -> Any:
        return thread.submit(lambda: start(*command, **options)).result()

    return started


def _allow(rules: int, path: str, of_files: int) -> bool:
    """Allow changes below a path; one that is not there needs no rule."""
    with contextlib.suppress(FileNotFoundError):
        below = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            access = of_files | (_IN_FOLDERS if os.path.isdir(path) else 0)
            return _call(_ADD_RULE, rules, _PATH_BENEATH, struct.pack("=Qi", access, below), 0) == 0
        finally:
            os.close(below)
    return True


def _restrict(rules: int) -> bool:
    return _library().prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and _call(_RESTRICT_SELF, rules, 0) == 0


def _call(number: int, *arguments: int | bytes | None) -> int:
    """Make a system call; its result, -1 where it failed."""
    words = (ctypes.c_long(one) if isinstance(one, int) else one for one in arguments)
    return int(_library().syscall(ctypes.c_long(number), *words))


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
