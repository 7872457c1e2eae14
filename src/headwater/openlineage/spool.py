"""Events that could not be delivered, kept on disk in the order they came.

One NDJSON file for each process that spools, locked by it while it lives; a file whose process is gone
belongs to whoever locks it first. A line is written by one append and counts once it ends in a newline,
so that a crash at any moment costs at most the line being written.
"""

import contextlib
import json
import logging
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from headwater.openlineage.locked_file import LockedFile

_log = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024 * 1024


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

    What ``folder`` does not take (it is read-only, its disk is full) is kept in ``elsewhere``.
    Nothing here raises: an event that cannot be kept is counted in ``lost``, and the first one is logged.
    """

    def __init__(self, folder: Path, name: str, max_bytes: int = MAX_BYTES, elsewhere: Path | None = None) -> None:
        self._folder = folder
        self._elsewhere = elsewhere
        self._name = name
        self._max_bytes = max_bytes
        self._own: LockedFile | None = None
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
            self._append(data)
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
            with LockedFile.waiting_for(self._folder / "rejected.ndjson") as rejected:
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
        found: list[Path] = []
        for folder in filter(None, (self._folder, self._elsewhere)):
            with contextlib.suppress(OSError):
                found += folder.glob(f"{self._name}.*.ndjson")
        return iter(sorted(found, key=lambda path: path.name))

    def _size(self) -> int:
        total = 0
        with contextlib.suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    total += entry.stat().st_size
        return total

    def _append(self, data: bytes) -> None:
        """To the file of this process; where that takes no more, to one elsewhere, for good."""
        try:
            self._own_file(self._folder).append(data)
        except OSError:
            if self._elsewhere is None or (self._own and self._own.path.parent == self._elsewhere):
                raise
            self.close()
            self._own_file(self._elsewhere).append(data)

    def _own_file(self, folder: Path) -> LockedFile:
        if self._own is None or self._process != os.getpid():
            self._process = os.getpid()
            folder.mkdir(parents=True, exist_ok=True)
            path = folder / f"{self._name}.{time.time_ns():020d}-{os.getpid()}.ndjson"
            self._own = LockedFile.waiting_for(path)
        return self._own

    def _drain_file(self, path: Path, send: Callable[[str], Sent], deadline: float) -> bool:
        if self._own and self._own.path == path:
            done = self._emptied(self._own, send, deadline)
            if done:
                self.close()
            return done
        file = LockedFile.if_free(path)
        if file is None:
            return True
        with file:
            return self._emptied(file, send, deadline)

    def _emptied(self, file: LockedFile, send: Callable[[str], Sent], deadline: float) -> bool:
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

    def _first_unsent(self, file: LockedFile, send: Callable[[str], Sent], deadline: float) -> int | None:
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
