"""Attach to a session that runs, or to those to come, and detach again.

Imports little: the rest of headwater is imported while Spark's JVM compiles the tap, half a second of CPU each.
"""

import sys
from typing import Any

from headwater.capture.guard import guarded
from headwater.capture.jvm.compiler import prepare


def attach(session: Any = None, **settings: Any) -> None:
    """Watch a Spark session's application from now on; without a session, every one to come.

    Args:
        session: a SparkSession (or SparkContext) that runs; None for all that will be made.
        settings: any of `CaptureSettings`, such as ``store``, ``events``, ``config``, ``reads``.

    A session of a remote Spark Connect server is watched from its next action on (docs/connect.md).

    Raises:
        SettingError: a setting that cannot be used, or a session that is none.
    """
    running = getattr(sys.modules.get("pyspark"), "SparkContext", None)
    if session is not None and running is not None and running._active_spark_context is not None:
        with guarded("compiling the tap"):
            prepare(running._gateway)
    from headwater.capture.application.contexts import watch

    watch(session, settings)


def detach(session: Any = None) -> None:
    """Stop watching, after the events of what happened are delivered; without a session, every application.

    Raises:
        SettingError: a session that is none.
    """
    from headwater.capture.application.contexts import unwatch

    unwatch(session)


def attach_notebook() -> None:
    """Watch every session to come, and the one that runs already."""
    from pyspark import SparkContext

    attach(SparkContext._active_spark_context)
