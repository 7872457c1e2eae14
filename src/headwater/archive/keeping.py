"""What Spark keeps on its disks for as long as it is in use."""

from pyspark import StorageLevel
from pyspark.sql import DataFrame


class Kept:
    """Frames that are read several times: each is made once, until `close`."""

    def __init__(self) -> None:
        self.frames: list[DataFrame] = []

    def __call__(self, frame: DataFrame) -> DataFrame:
        """Has Spark keep the rows of a frame."""
        self.frames.append(frame.persist(StorageLevel.DISK_ONLY))
        return self.frames[-1]

    def close(self) -> None:
        """Lets go of all of them."""
        for frame in self.frames:
            frame.unpersist()
