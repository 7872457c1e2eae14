"""The world outside of Spark: a job may read it in a dry run, and change nothing of it.

Python reports what a program is about to do by audit events (PEP 578); a hook that raises prevents it.
"""

import contextlib
import functools
import os
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Any

from headwater.dryrun.places import is_line_of_job, place, place_of_thread
from headwater.dryrun.report import Findings
from headwater.errors import DryRunError

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_DEVICES = ("/dev/null", "/dev/tty", "/dev/pts/", "/dev/fd/", "/dev/stdout", "/dev/stderr", "/proc/self/")
_OF_SPARK = ("py4j.", "pyspark.")

_CHANGES = (
    "os.chmod",
    "os.chown",
    "os.link",
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.truncate",
    "os.utime",
    "shutil.move",
    "shutil.rmtree",
    "sqlite3.connect",
)
"""Events whose texts are paths that change."""

_CONNECTIONS = ("socket.connect", "socket.sendto", "socket.sendmsg")
_PROGRAMS = ("subprocess.Popen", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system")
_OF_JVM = ("socket.connect", "subprocess.Popen")
"""Events by which PySpark itself starts its JVM and speaks with it."""

_SIGNALS = ("os.kill", "os.killpg")


class Audit:
    """Refuses what would change files outside of ``folder``, start programs, or reach another machine."""

    def __init__(self, folder: str, findings: Findings) -> None:
        self._folder = os.path.realpath(folder) + os.sep
        self._findings = findings
        self._checks = _checks()
        self._inside = False

    def start(self) -> None:
        """Begin; an audit hook stays until the process ends. A job goes on without a folder that it may not make."""
        # Both start a program, the former the first time alone; libraries ask for them while they are imported
        platform.processor()
        platform.architecture = functools.cache(platform.architecture)
        platform.architecture()
        os.mkdir = _refused_quietly(os.mkdir)
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: tuple[Any, ...]) -> None:
        check = self._checks.get(event)
        if check is None or self._inside:
            return
        self._inside = True
        try:
            reason = check(arguments, self._folder)
            ours = reason is None or (event in _OF_JVM and _is_of_spark())
            site = "" if ours else place() or place_of_thread()
        finally:
            self._inside = False
        if reason is not None and site:
            self._findings.refuse(site, event, reason)
            raise DryRunError(f"{event} is refused in a dry run: {reason} (at {site}).")


def _refused_quietly(make: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(make)
    def mkdir(*arguments: Any, **more: Any) -> None:
        with contextlib.suppress(DryRunError):  # it is in the findings, and so is each file that would be in it
            make(*arguments, **more)

    return mkdir


_Check = Callable[[Sequence[Any], str], str | None]


def _checks() -> Mapping[str, _Check]:
    return {
        "open": _opened,
        **dict.fromkeys(_CONNECTIONS, _connected),
        **dict.fromkeys(_SIGNALS, _signalled),
        **dict.fromkeys(_CHANGES, _changed),
        **dict.fromkeys(_PROGRAMS, _started),
    }


def _is_of_spark() -> bool:
    """Whether PySpark itself does it, for its JVM: code of it or of py4j comes before any of the job."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and not is_line_of_job(frame):
        if str(frame.f_globals.get("__name__")).startswith(_OF_SPARK):
            return True
        frame = frame.f_back
    return False


def _opened(arguments: Sequence[Any], folder: str) -> str | None:
    path, _, flags = arguments
    return _changed((path,), folder) if isinstance(flags, int) and flags & _WRITES else None


def _changed(arguments: Sequence[Any], folder: str) -> str | None:
    directory = arguments[-1] if isinstance(arguments[-1], int) and arguments[-1] >= 0 else None
    for path in arguments:
        if isinstance(path, str | bytes | os.PathLike):
            # A name below an open directory, as `shutil.rmtree` has them.
            name = os.path.join("" if directory is None else f"/proc/self/fd/{directory}", os.fsdecode(path))
            device = directory is None and os.path.normpath(name).startswith(_DEVICES)
            if name != ":memory:" and not device and not os.path.realpath(name).startswith(folder):
                return f"it would change {name}"
    return None


def _connected(arguments: Sequence[Any], _: str) -> str | None:
    address = arguments[1]
    return f"it would reach {address[0] if isinstance(address, tuple) else address}" if address else None


def _started(arguments: Sequence[Any], _: str) -> str | None:
    words = arguments[1] if len(arguments) > 1 and isinstance(arguments[1], list | tuple) else arguments[:1]
    return f"it would start {' '.join(os.fsdecode(word) for word in words) or 'another process'}"


def _signalled(arguments: Sequence[Any], _: str) -> str | None:
    return f"it would send signal {arguments[1]:d} to process {arguments[0]}" if arguments[1] else None
