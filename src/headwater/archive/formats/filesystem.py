"""Small files on any file system of Spark's Hadoop."""

import fcntl
import os
from collections.abc import Callable
from secrets import token_hex
from typing import Any

from pyspark.sql import SparkSession

from headwater.errors import ArchiveError

_LOCAL = "LocalFileSystem"  # with checksums in files beside
_OBJECT_STORES = frozenset({"cosn", "gs", "obs", "oss", "s3", "s3a", "s3n"})  # a put is one step, a rename is a copy

# org.apache.hadoop.fs.Options.CreateFileOptionKeys, and what S3A raises when the condition does not hold
_IF_NONE = "fs.option.create.conditional.overwrite"
_IF_ETAG = f"{_IF_NONE}.etag"
_CHANGED = "RemoteFileChangedException"


class Folder:
    """A folder; it need not be there yet.

    Raises:
        ArchiveError: the session has no JVM of its own to ask (Spark Connect).
    """

    def __init__(self, spark: SparkSession, root: str) -> None:
        if not hasattr(spark, "_jsc"):
            raise ArchiveError(
                "Tables cannot be written into a folder from a Spark Connect client: expected a classic session. "
                "Run `headwater archive build` there, or write the DataFrames yourself."
            )
        self.root = root.rstrip("/")
        self._hadoop = spark._jvm.org.apache.hadoop.fs
        self._gateway = spark.sparkContext._gateway
        self._conf = spark._jsc.hadoopConfiguration()

    def path(self, name: str) -> str:
        """The path of a file or folder in the folder; of the folder itself for an empty name."""
        return f"{self.root}/{name}" if name else self.root

    def text(self, name: str) -> str:
        """The text of a file, empty when there is none."""
        path, files = self._at(name)
        while files.exists(path):
            stream = files.open(path)
            try:
                return bytes(stream.readAllBytes()).decode()
            except Exception as fault:  # Py4J's
                if _CHANGED not in str(fault):  # replaced since it was opened
                    raise
            finally:
                stream.close()
        return ""

    def replace(self, name: str, text: str, replaces: Callable[[str], bool] = lambda before: True) -> bool:
        """Write a file in one step: readers see the whole text before, or the whole new one.

        Others write nothing between the comparison and that step on local disks, and in object stores that put on a
        condition (S3A since Hadoop 3.4.2); on other file systems they have some milliseconds.

        Args:
            name: of the file.
            text: the new one, which nobody else writes.
            replaces: whether the text that is there, empty when there is none, is the one to be replaced.

        Returns:
            False if it is not; then nothing is written.
        """
        path, files = self._at(name)
        scheme = files.getUri().getScheme()
        if scheme in _OBJECT_STORES:
            return self._put(name, text, replaces)
        begun = self._at(f".{name}.{token_hex(4)}.new")[0]
        _write(files.create(begun, True), text)
        if scheme == "file":
            local, new = (files.pathToFile(one).getAbsolutePath() for one in (path, begun))
            replaced = self._replace_local(name, local, new, replaces)
        else:
            replaced = replaces(self.text(name)) and self._rename(begun, path)
        if not replaced:
            files.delete(begun, False)
        return replaced

    def _put(self, name: str, text: str, replaces: Callable[[str], bool]) -> bool:
        """Put an object, if the store can on the condition that it is still the one that was compared."""
        path, files = self._at(name)
        conditional = files.hasPathCapability(path, _IF_ETAG)
        etag = files.getFileStatus(path).getEtag() if conditional and files.exists(path) else ""
        if not replaces(self.text(name)):
            return False
        builder = files.createFile(path).recursive().overwrite(True)
        if conditional:
            builder = builder.must(_IF_ETAG, etag) if etag else builder.must(_IF_NONE, True)
        try:
            _write(builder.build(), text)
        except Exception as fault:  # Py4J's
            if _CHANGED not in str(fault):
                raise
            return self.text(name) == text  # the first answer may have been lost, and the put tried again
        return True

    def _replace_local(self, name: str, path: str, new: str, replaces: Callable[[str], bool]) -> bool:
        folder = os.open(os.path.dirname(path), os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)  # until the descriptor is closed, or the process ends
            if not replaces(self.text(name)):
                return False
            # FileContext removes the old file first: a process that is killed in between would leave none.
            os.replace(new, path)
            return True
        finally:
            os.close(folder)

    def _rename(self, begun: Any, path: Any) -> bool:
        rename = self._hadoop.Options.Rename
        options = self._gateway.new_array(rename, 1)
        options[0] = rename.OVERWRITE
        context = self._hadoop.FileContext.getFileContext(path.toUri(), self._conf)
        context.rename(context.makeQualified(begun), context.makeQualified(path), options)
        return True

    def names(self, name: str) -> list[str]:
        """The names in a folder of the folder, none when it is not there."""
        path, files = self._at(name)
        return [one.getPath().getName() for one in files.listStatus(path)] if files.exists(path) else []

    def remove(self, name: str) -> None:
        """Remove a file or folder with all that is in it."""
        path, files = self._at(name)
        files.delete(path, True)

    def _at(self, name: str) -> tuple[Any, Any]:
        path = self._hadoop.Path(self.path(name))
        files = path.getFileSystem(self._conf)
        # A process that is killed may leave the checksum of the old text beside the new text of a local file.
        return path, files.getRawFileSystem() if files.getClass().getSimpleName() == _LOCAL else files


def _write(stream: Any, text: str) -> None:
    stream.write(text.encode())
    stream.close()
