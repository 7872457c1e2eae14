"""The few things headwater asks of a live SparkContext, and the choice of its tap."""

from typing import TYPE_CHECKING, Any

from headwater.capture.connect.client import RemoteApplication
from headwater.capture.guard import warn_once
from headwater.capture.jvm.tap import SparkTap
from headwater.capture.listener.tap import ListenerTap
from headwater.capture.settings import CaptureSettings
from headwater.errors import CaptureError

if TYPE_CHECKING:
    from headwater.capture.connect.tap import ConnectTap


def new_listener(context: Any, settings: CaptureSettings) -> "SparkTap | ListenerTap | ConnectTap":
    """The tap for a SparkContext; where it cannot be compiled, the listener that does most of it."""
    if isinstance(context, RemoteApplication):
        return context.tap
    try:
        return SparkTap(context, settings)
    except CaptureError as reason:
        warn_once("tap", f"headwater: {reason} A query execution listener takes its place.")
        return ListenerTap(context, settings, str(reason))


def spark_version(context: Any) -> str:
    """The version of the Spark behind a SparkContext."""
    return str(context.version)


def spark_conf(context: Any) -> dict[str, str]:
    """The configuration of an application, those keys that headwater may read."""
    pairs = context.getConf().getAll()
    return {key: value for key, value in pairs if key.startswith(("spark.openlineage.", "spark.headwater."))}
