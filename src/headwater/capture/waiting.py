"""Hook pyspark when, and only when, the program imports it.

Every start of an interpreter waits for this module: it imports next to nothing (``importlib.abc`` alone would cost
more than all the rest), and its classes are finder and loader by what they do.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

# Where SparkContext lives: 4.x, and 3.5; and the client of Spark Connect.
_MODULES = ("pyspark.core.context", "pyspark.context", "pyspark.sql.connect.client.core")


def wait_for_pyspark() -> None:
    """Attach to every SparkContext, once the program imports pyspark; a Spark worker is left alone."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    if not any("pyspark.daemon" in word or "pyspark.worker" in word for word in sys.orig_argv):
        sys.meta_path.insert(0, cast(Any, _Finder()))


class _Finder:
    """Finds the module of SparkContext like everybody else, and has a word with its loader."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _MODULES:
            return None
        others = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(fullname, path, target) for finder in others if hasattr(finder, "find_spec"))
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and spec.loader is not None:
            # A loader may serve many modules (a zip of pyspark): wrap it, never change it.
            spec.loader = cast(Any, _Loader(spec.loader))
        return spec


class _Loader:
    """Loads as the loader it wraps does, and hooks SparkContext when it is there."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        create = getattr(self._inner, "create_module", None)
        made: ModuleType | None = create(spec) if create else None
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        if "SparkContext" in vars(module) or "SparkConnectClient" in vars(module):
            _hook(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


def _hook(module: ModuleType) -> None:
    try:
        from headwater.capture.attach import hook, hook_connect
        from headwater.capture.guard import tell_once
        from headwater.capture.settings import environment_settings

        settings, problems = environment_settings()
        for problem in problems:
            tell_once(problem, f"headwater: {problem}")
        if hasattr(module, "SparkConnectClient"):
            hook(settings)
            hook_connect(module.SparkConnectClient)
        else:
            hook(settings, module.SparkContext)
    except Exception as error:
        from headwater.redaction import redact

        if sys.stderr is not None:  # print() would take standard output then
            print(f"headwater is off: {redact(str(error))}", file=sys.stderr)
