"""A file of lines that one process at a time may hold, whole lines or none."""

import contextlib
import fcntl
import os
from pathlib import Path

_BLOCK = 1024 * 1024


class LockedFile:
    """An open file that no other process may read from or append to; usable in ``with``. Methods raise OSError."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor
        self._acknowledged = 0

    @classmethod
    def waiting_for(cls, path: Path) -> "LockedFile":
        """The file, made where it is not, as soon as no other process holds it."""
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return cls(path, descriptor)

    @classmethod
    def if_free(cls, path: Path) -> "LockedFile | None":
        """The file, unless its process lives or another one has just finished it: then None."""
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

    def __enter__(self) -> "LockedFile":
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

    def next_line(self) -> bytes | None:
        """The first line that is not acknowledged; one without its newline was being written when its process died."""
        found = bytearray()
        while block := os.pread(self._descriptor, _BLOCK, self._acknowledged + len(found)):
            end = block.find(b"\n")
            found += block if end < 0 else block[: end + 1]
            if end >= 0:
                return bytes(found)
        return None

    def acknowledge(self, line: bytes) -> None:
        """Go on after the line; half of the file goes once it is acknowledged, so that a crash repeats little."""
        self._acknowledged += len(line)
        size = os.fstat(self._descriptor).st_size
        if size / 2 <= self._acknowledged < size:
            with contextlib.suppress(OSError):
                self.drop_acknowledged()

    def drop_acknowledged(self) -> None:
        """Forget the lines that are acknowledged: a new file takes the place of this one."""
        if not self._acknowledged:
            return
        rest, place = self.path.with_suffix(".rest"), self._acknowledged
        with LockedFile.waiting_for(rest) as shorter:
            os.ftruncate(shorter._descriptor, 0)
            while block := os.pread(self._descriptor, _BLOCK, place):
                shorter.append(block)
                place += len(block)
            os.replace(rest, self.path)
            self._descriptor, shorter._descriptor = shorter._descriptor, self._descriptor
        self._acknowledged = 0

    def remove(self) -> None:
        """Take the file out of its folder; the lock stays until ``close``."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file and its lock."""
        os.close(self._descriptor)
