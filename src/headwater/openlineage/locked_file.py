"""A file of lines that one process at a time may hold, whole lines or none."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

_BLOCK = 1024 * 1024


class LockedFile:
    """An open file that no other process may read from or append to; usable in ``with``. Methods raise OSError."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

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
        with LockedFile.waiting_for(rest) as shorter:
            os.ftruncate(shorter._descriptor, 0)
            while block := os.pread(self._descriptor, _BLOCK, size):
                shorter.append(block)
                size += len(block)
            os.replace(rest, self.path)
            self._descriptor, shorter._descriptor = shorter._descriptor, self._descriptor

    def remove(self) -> None:
        """Take the file out of its folder; the lock stays until ``close``."""
        self.path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the file and its lock."""
        os.close(self._descriptor)
