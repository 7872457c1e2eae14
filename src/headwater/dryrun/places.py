"""Places in the job: the file and line that a call comes from."""

import os
import sys
import sysconfig
from functools import lru_cache
from pathlib import Path
from types import FrameType, TracebackType

_LIBRARIES = tuple(
    {os.path.realpath(sysconfig.get_path(name)) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    | {str(Path(__file__).resolve().parents[1]) + os.sep}
)


@lru_cache(maxsize=4096)
def is_of_job(file: str) -> bool:
    """Whether a file of code is the job's own: neither Python's, nor headwater's, nor of an installed package."""
    return not file.startswith("<") and not os.path.realpath(file).startswith(_LIBRARIES)


def place(frame: FrameType | None = None) -> str:
    """The innermost line of the job that a frame, by default the caller's, was called from; empty without one."""
    one = frame or sys._getframe(1)
    found: FrameType | None = one
    while found is not None:
        if is_of_job(found.f_code.co_filename):
            return name_of(found.f_code.co_filename, found.f_lineno)
        found = found.f_back
    return ""


def place_of_error(traceback: TracebackType | None) -> str:
    """The innermost line of the job in a traceback; empty without one."""
    found = ""
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_of_job(file):
            found = name_of(file, traceback.tb_lineno)
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
