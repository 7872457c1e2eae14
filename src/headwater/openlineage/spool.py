"""Events that could not be delivered, kept on disk in the order they came.

One NDJSON file for each process that spools, locked by it while it lives; a file whose process is gone
belongs to whoever locks it first. A line is written by one append and counts once it ends in a newline,
so that a crash at any moment costs at most the line being written.
"""

import contextlib
import fcntl
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

_log = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024 * 1024
_BLOCK = 1024 * 1024


class Fate(Enum):
    """What became of an event that was handed to its back end."""

    DELIVERED = "delivered"
    UNAVAILABLE = "unavailable"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class Sent:
    """The fate of one event, and the reason when it is not DELIVERED: never with a secret in it."""

    fate: Fate
    reason: str = ""


class Spool:
    """The undelivered events of one back end, in ``folder``, at most ``max_bytes`` of them.

    Nothing here raises: an event that cannot be kept is counted in ``lost``, and the first one is logged.
    """

    def __init__(self, folder: Path, name: str, max_bytes: int = MAX_BYTES) -> None:
        self._folder = folder
        self._name = name
        self._max_bytes = max_bytes
        self._own: _LockedFile | None = None
        self._process = os.getpid()
        self._complained = False
        self.lost = 0

    @property
    def waiting(self) -> int:
        """How many events are kept for this back end, those of other processes among them."""
        return sum(_lines_in(path) for path in self._files())

    def keep(self, line: str) -> None:
        """Keep one event, as a line of JSON without its newline."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        try:
            if self._size() + len(data) > self._max_bytes:
                raise OSError(f"the folder holds its {self._max_bytes} bytes")
            self._own_file().append(data)
        except OSError as error:
            self._lose(error)

    def drain(self, send: Callable[[str], Sent], deadline: float = float("inf")) -> bool:
        """Send what is kept, oldest first, until one is UNAVAILABLE or it is ``deadline`` (``time.monotonic``).

        True when nothing is left. What was sent is never sent again, unless the process dies in between.
        """
        return all(self._drain_file(path, send, deadline) for path in list(self._files()))

    def reject(self, line: str, reason: str) -> None:
        """Keep an event that its back end refuses, with the reason, apart from those to send again."""
        data = json.dumps({"reason": reason, "event": line}).encode() + b"\n"
        try:
            if self._size() + len(data) > self._max_bytes:
                raise OSError(f"the folder holds its {self._max_bytes} bytes")
            self._folder.mkdir(parents=True, exist_ok=True)
            with _LockedFile.waiting_for(self._folder / "rejected.ndjson") as rejected:
                rejected.append(data)
        except OSError as error:
            self._lose(error)

    def close(self) -> None:
        """Leave what is kept to the next process."""
        if self._own:
            self._own.close()
            self._own = None

    def _files(self) -> Iterator[Path]:
        """The files to send, in the order they were begun: their names start with the time."""
        try:
            return iter(sorted(self._folder.glob(f"{self._name}.*.ndjson")))
        except OSError:
            return iter(())

    def _size(self) -> int:
        total = 0
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat().st_size
        return total

    def _own_file(self) -> "_LockedFile":
        if self._own is None or self._process != os.getpid():
            self._process = os.getpid()
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{self._name}.{time.time_ns():020d}-{os.getpid()}.ndjson"
            self._own = _LockedFile.waiting_for(path)
        return self._own

    def _drain_file(self, path: Path, send: Callable[[str], Sent], deadline: float) -> bool:
        if self._own and self._own.path == path:
            done = self._emptied(self._own, send, deadline)
            if done:
                self.close()
            return done
        file = _LockedFile.if_free(path)
        if file is None:
            return True
        with file:
            return self._emptied(file, send, deadline)

    def _emptied(self, file: "_LockedFile", send: Callable[[str], Sent], deadline: float) -> bool:
        try:
            unsent = self._first_unsent(file, send, deadline)
            if unsent is None:
                file.remove()
            else:
                file.drop_first(unsent)
            return unsent is None
        except OSError as error:
            _log.warning("Undelivered events in %s cannot be read (%s); they stay there.", file.path, error.strerror)
            return True

    def _first_unsent(self, file: "_LockedFile", send: Callable[[str], Sent], deadline: float) -> int | None:
        """Where the first event begins that could not be sent; None when all were."""
        start = 0
        for line in file.lines():
            if time.monotonic() > deadline or self._send(send, line).fate is Fate.UNAVAILABLE:
                return start
            start += len(line)
        return None

    def _send(self, send: Callable[[str], Sent], data: bytes) -> Sent:
        line = data.decode("utf-8", "replace").strip()
        sent = send(line) if line else Sent(Fate.DELIVERED)
        if sent.fate is Fate.REJECTED:
            self.reject(line, sent.reason)
        return sent

    def _lose(self, error: OSError) -> None:
        self.lost += 1
        level = logging.DEBUG if self._complained else logging.WARNING
        self._complained = True
        _log.log(
            level,
            "Undelivered lineage events are lost: %s cannot take them (%s); make room there or name another folder.",
            self._folder,
            error.strerror or error,
        )


def _lines_in(path: Path) -> int:
    try:
        with path.open("rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0


class _LockedFile:
    """An open file that no other process may send from or append to."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    @classmethod
    def waiting_for(cls, path: Path) -> "_LockedFile":
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return cls(path, descriptor)

    @classmethod
    def if_free(cls, path: Path) -> "_LockedFile | None":
        """The file, unless its process lives or another one has just finished it."""
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_APPEND)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.stat(path).st_ino == os.fstat(descriptor).st_ino:
                return cls(path, descriptor)
        except OSError:
            pass
        os.close(descriptor)
        return None

    def __enter__(self) -> "_LockedFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, data: bytes) -> None:
        """All of the data, or none: what a full disk cut short is taken back."""
        size = os.fstat(self._descriptor).st_size
        written = 0
        try:
            while written < len(data):
                written += os.write(self._descriptor, data[written:])
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, size)
            raise

    def lines(self) -> Iterator[bytes]:
        """The whole lines; one without its newline was being written when its process died."""
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            for line in file:
                if line.endswith(b"\n"):
                    yield line

    def drop_first(self, size: int) -> None:
        """Forget the first bytes, which were sent: a new file takes the place of this one."""
        if not size:
            return
        rest = self.path.with_suffix(".rest")
        with _LockedFile.waiting_for(rest) as shorter:
            os.ftruncate(shorter._descriptor, 0)
            while block := os.pread(self._descriptor, _BLOCK, size):
                shorter.append(block)
                size += len(block)
            os.replace(rest, self.path)
            self._descriptor, shorter._descriptor = shorter._descriptor, self._descriptor

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        os.close(self._descriptor)
