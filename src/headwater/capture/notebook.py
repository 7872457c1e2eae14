"""headwater in IPython and Jupyter."""

from typing import Any

from headwater.capture.attach import attach


def load(shell: Any) -> None:
    """Watch every session to come, and the one that runs already."""
    attach(_running())


def _running() -> Any:
    from pyspark import SparkContext

    return SparkContext._active_spark_context
