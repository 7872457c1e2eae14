"""Small files on any file system of Spark's Hadoop."""

import os
from typing import Any

from pyspark.sql import SparkSession

from headwater.errors import ArchiveError

_LOCAL = "LocalFileSystem"  # with checksums in files beside


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
        if not files.exists(path):
            return ""
        stream = files.open(path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def replace(self, name: str, text: str) -> None:
        """Write a file in one step: readers see the whole text before, or the whole new one."""
        path, files = self._at(name)
        begun, _ = self._at(f".{name}.new")
        stream = files.create(begun, True)
        stream.write(text.encode())
        stream.close()
        if files.getUri().getScheme() == "file":
            # FileContext removes the old file first: a process that is killed in between would leave none.
            os.replace(*(files.pathToFile(one).getAbsolutePath() for one in (begun, path)))
            return
        rename = self._hadoop.Options.Rename
        options = self._gateway.new_array(rename, 1)
        options[0] = rename.OVERWRITE
        context = self._hadoop.FileContext.getFileContext(path.toUri(), self._conf)
        context.rename(context.makeQualified(begun), context.makeQualified(path), options)

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
