"""Events that are not acknowledged yet, on disk in the order they came.

One NDJSON file for each process and address, locked by that process while it lives; a file whose process is gone
belongs to whoever locks it first. A line is written by one append and counts once it ends in a newline,
so that a crash at any moment costs at most the line being written.
"""

import contextlib
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from headwater.openlineage.delivery.locked_file import LockedFile

_log = logging.getLogger(__name__)

MAX_BYTES = 256 * 1024 * 1024


class DeliveryOutcome(Enum):
    """The outcome of an event that was handed to its back end."""

    DELIVERED = "delivered"
    UNAVAILABLE = "unavailable"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class DeliveryResult:
    """The fate of one event, and the reason when it is not DELIVERED: never with a secret in it."""

    outcome: DeliveryOutcome
    reason: str = ""


class Spool:
    """The events of one back end that it has not acknowledged, in ``folder``, at most ``max_bytes`` of them.

    They are in files ``<key>.*.ndjson``; files of ``former_key`` are sent too. ``folder`` may take nothing (it is
    read-only, its disk is full): then they are in ``elsewhere``. Nothing here raises: an event that is not kept is
    counted in ``lost``, and the first one is logged. One thread may keep events while another sends them.
    """

    def __init__(
        self,
        folder: Path,
        key: str,
        max_bytes: int = MAX_BYTES,
        elsewhere: Path | None = None,
        former_key: str = "",
    ) -> None:
        self._folder = folder
        self._elsewhere = elsewhere
        self.keys = tuple(dict.fromkeys(filter(None, (key, former_key))))
        self._max_bytes = max_bytes
        self._own: LockedFile | None = None
        self._open: LockedFile | None = None
        self._process = os.getpid()
        self._complained = False
        self._made: list[Path] = []
        self._lock = threading.Lock()
        self.lost = 0

    @property
    def waiting(self) -> int:
        """How many events are kept for this back end, those of other processes among them."""
        return sum(lines_in(path) for path in self._files())

    @property
    def folders(self) -> list[Path]:
        """The folders in which events are kept for this back end."""
        return [path.parent for path in self._files() if lines_in(path)]

    def keep(self, line: str) -> OSError | None:
        """Keep one event, as a line of JSON without its newline; the error when that is not possible."""
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        try:
            with self._lock:
                self._have_room(data)
                self._append(data)
        except OSError as error:
            return error
        return None

    def drain(self, send: Callable[[str], DeliveryResult], enough: Callable[[], bool] = lambda: False) -> bool:
        """Send what is kept, oldest first, until one is UNAVAILABLE or ``enough`` says so; True when nothing is left.

        What was sent is sent again only when the process dies in between.
        """
        return all(self._drain_file(path, send, enough) for path in list(self._files()))

    def drop_acknowledged(self) -> None:
        """Forget what was sent of a file with more in it, so that the next process does not send it again."""
        with self._lock, contextlib.suppress(OSError):
            if self._open is not None:
                self._open.drop_acknowledged()

    def reject(self, line: str, reason: str) -> None:
        """Keep an event that its back end refuses, with the reason, apart from those to send again."""
        data = json.dumps({"reason": reason, "event": line}).encode() + b"\n"
        try:
            self._have_room(data)
            self._folder.mkdir(parents=True, exist_ok=True)
            with LockedFile.waiting_for(self._folder / "rejected.ndjson") as rejected:
                rejected.append(data)
        except OSError as error:
            self.lose(error)

    def close(self) -> None:
        """Leave what is kept to the next process, and no empty folder that was not there before."""
        with self._lock:
            if self._own:
                self._own.close()
                self._own = None
        with contextlib.suppress(OSError):
            while self._made:
                self._made.pop().rmdir()

    def lose(self, error: OSError) -> None:
        """Count an event that is nowhere, and log the first."""
        self.lost += 1
        level = logging.DEBUG if self._complained else logging.WARNING
        self._complained = True
        _log.log(
            level,
            "Undelivered lineage events are lost: %s cannot take them (%s); make room there or name another folder.",
            self._folder,
            error.strerror or error,
        )

    def _files(self) -> Iterator[Path]:
        """The files to send, in the order they were begun: their names start with the time."""
        found: list[Path] = []
        for folder in filter(None, (self._folder, self._elsewhere)):
            with contextlib.suppress(OSError):
                found += (path for key in self.keys for path in folder.glob(f"{key}.*.ndjson"))
        return iter(sorted(found, key=lambda path: path.name.partition(".")[2]))

    def _have_room(self, data: bytes) -> None:
        if self._size() + len(data) > self._max_bytes:
            raise OSError(f"the folder holds its {self._max_bytes} bytes")

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
            if self._own:
                self._own.close()
                self._own = None
            self._own_file(self._elsewhere).append(data)

    def _own_file(self, folder: Path) -> LockedFile:
        if self._own is None or self._process != os.getpid():
            self._process = os.getpid()
            path = folder / f"{self.keys[0]}.{time.time_ns():020d}-{os.getpid()}.ndjson"
            try:
                self._own = LockedFile.waiting_for(path)
            except FileNotFoundError:  # none has needed the folder so far, or another process has removed it, empty
                self._made += [made for made in (folder.parent, folder) if not made.exists()]
                folder.mkdir(parents=True, exist_ok=True)
                self._own = LockedFile.waiting_for(path)
        return self._own

    def _drain_file(self, path: Path, send: Callable[[str], DeliveryResult], enough: Callable[[], bool]) -> bool:
        with self._lock:
            file = self._own if self._own and self._own.path == path else LockedFile.if_free(path)
            self._open = file
        if file is None:
            return True
        try:
            return self._emptied(file, send, enough)
        except OSError as error:
            _log.warning("Undelivered events in %s cannot be read (%s); they stay there.", file.path, error.strerror)
            return True
        finally:
            with self._lock:
                self._open = None
                if file is not self._own:
                    file.close()

    def _emptied(self, file: LockedFile, send: Callable[[str], DeliveryResult], enough: Callable[[], bool]) -> bool:
        """Send the lines of a file, and remove it after the last; the lock is free while a line is sent."""
        while True:
            with self._lock:
                line = file.next_line()
                if line is None:
                    file.remove()
                    self._own = None if file is self._own else self._own
                    return True
            if enough() or self._send(send, line).outcome is DeliveryOutcome.UNAVAILABLE:
                self.drop_acknowledged()
                return False
            with self._lock:
                file.acknowledge(line)

    def _send(self, send: Callable[[str], DeliveryResult], data: bytes) -> DeliveryResult:
        line = data.decode("utf-8", "replace").strip()
        sent = send(line) if line else DeliveryResult(DeliveryOutcome.DELIVERED)
        if sent.outcome is DeliveryOutcome.REJECTED:
            self.reject(line, sent.reason)
        return sent


def lines_in(path: Path) -> int:
    """How many events a file holds, 0 where it cannot be read."""
    try:
        with path.open("rb") as file:
            return sum(1 for _ in file)
    except OSError:
        return 0
