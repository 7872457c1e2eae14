"""Places in the job: the file and line that a call comes from."""

import os
import sys
import sysconfig
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import FrameType, TracebackType

_OWN = str(Path(__file__).resolve().parents[1]) + os.sep
_LIBRARIES = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {_OWN}
)
_OF_RUN = ("openlineage.", "py4j.", "pyspark.")
"""Packages whose threads are those of a dry run itself."""

_AUDIT = "headwater.dryrun.audit"
"""The module of the hook by which a place is asked for."""


@lru_cache(maxsize=4096)
def is_of_job(file: str) -> bool:
    """Whether a file of code is the job's own: neither Python's, nor headwater's, nor of an installed package."""
    return not file.startswith("<") and not os.path.realpath(file).startswith(_LIBRARIES)


def is_line_of_job(frame: FrameType) -> bool:
    """Whether a frame is of the job's own code, which may be a program that a package brings."""
    file = frame.f_code.co_filename
    is_program = frame.f_globals.get("__name__") == "__main__" and not file.startswith(("<", _OWN))
    return is_program or is_of_job(file)


def place(frame: FrameType | None = None) -> str:
    """The innermost line of the job that a frame, by default the caller's, was called from; empty without one."""
    one = frame or sys._getframe(1)
    return next((name_of(each.f_code.co_filename, each.f_lineno) for each in _frames(one) if is_line_of_job(each)), "")


def place_of_thread() -> str:
    """The name of a thread in which a library works by itself, no line of the job; empty of those of a dry run."""
    ours = (str(one.f_globals.get("__name__")).startswith(_OF_RUN) or _is_own(one) for one in _frames(sys._getframe(1)))
    return "" if any(ours) else f"thread {threading.current_thread().name}"


def _is_own(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_OWN) and frame.f_globals.get("__name__") != _AUDIT


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame and all that it was called from."""
    while frame is not None:
        yield frame
        frame = frame.f_back


def place_of_error(traceback: TracebackType | None) -> str:
    """The innermost line of the job in a traceback; empty without one."""
    found = ""
    while traceback is not None:
        if is_line_of_job(traceback.tb_frame):
            found = name_of(traceback.tb_frame.f_code.co_filename, traceback.tb_lineno)
        traceback = traceback.tb_next
    return found


def name_of(file: str, line: int) -> str:
    """A place as a text, its file relative to the working folder where it is below that."""
    return f"{shown(file)}:{line}"


@lru_cache(maxsize=4096)
def shown(file: str) -> str:
    """A file relative to the working folder where it is below that."""
    whole, folder = os.path.realpath(file), os.path.realpath(os.curdir) + os.sep
    return whole.removeprefix(folder)
