"""Hook pyspark when, and only when, the program imports it.

Every start of an interpreter waits for this module, which imports next to nothing.
"""

import sys
from types import ModuleType

from headwater.capture.imports import wait_for

# Where SparkContext lives: 4.x, and 3.5; and the client of Spark Connect.
_MODULES = ("pyspark.core.context", "pyspark.context", "pyspark.sql.connect.client.core")


def wait_for_pyspark() -> None:
    """Attach to every SparkContext, once the program imports pyspark; a Spark worker is left alone."""
    if not any("pyspark.daemon" in word or "pyspark.worker" in word for word in sys.orig_argv):
        wait_for(dict.fromkeys(_MODULES, _hook))


def _hook(module: ModuleType) -> None:
    if "SparkContext" not in vars(module) and "SparkConnectClient" not in vars(module):
        return
    try:
        from headwater.capture.application.contexts import hook, hook_connect
        from headwater.capture.guard import warn_once
        from headwater.capture.settings import environment_settings

        settings, problems = environment_settings()
        for problem in problems:
            warn_once(problem, f"headwater: {problem}")
        if hasattr(module, "SparkConnectClient"):
            hook(settings)
            hook_connect(module.SparkConnectClient)
        else:
            hook(settings, module.SparkContext)
    except Exception as error:
        from headwater.redaction import redact

        if sys.stderr is not None:  # print() would take standard output then
            print(f"headwater is off: {redact(str(error))}", file=sys.stderr)
