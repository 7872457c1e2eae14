"""Compile headwater's Java source in the driver's JVM, once per JVM."""

import contextlib
import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

from headwater.capture import jvm
from headwater.errors import CaptureError

# py4j caches reflection by class name: a second class of the same name in one JVM breaks its calls.
_classes: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
_compiling = threading.Lock()


def prepare(gateway: Any) -> None:
    """Begin to compile on a thread of its own, beside the caller's other work; new_tap() waits for it."""
    if gateway in _classes:
        return

    def compile_quietly() -> None:
        with contextlib.suppress(Exception):
            _loaded(gateway)

    threading.Thread(target=compile_quietly, name="headwater-compiler", daemon=True).start()


def new_tap(gateway: Any) -> Any:
    """A new instance of the tap in the JVM behind a py4j gateway.

    Raises:
        CaptureError: Janino is missing or refuses the source.
    """
    try:
        loaded = _loaded(gateway)
        none = gateway.new_array(gateway.jvm.java.lang.Object, 0)
        return loaded.getDeclaredConstructor(gateway.new_array(gateway.jvm.java.lang.Class, 0)).newInstance(none)
    except Exception as error:
        raise CaptureError(
            f"The tap could not be compiled in Spark's JVM ({str(error).splitlines()[0][:300]}); "
            "headwater needs the Janino that Spark ships."
        ) from error


def _loaded(gateway: Any) -> Any:
    if os.environ.get("HEADWATER_NO_JANINO") == "1":
        raise CaptureError("HEADWATER_NO_JANINO is set")
    with _compiling:
        return _classes.get(gateway) or _load(gateway)


def _load(gateway: Any) -> Any:
    java = gateway.jvm
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(java.java.lang.Thread.currentThread().getContextClassLoader())
    compiler.cook(jvm.source())
    _classes[gateway] = compiler.getClassLoader().loadClass("headwater.Tap")
    return _classes[gateway]
