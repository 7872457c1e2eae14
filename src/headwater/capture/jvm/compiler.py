"""Compile headwater's Java source in the driver's JVM, once per JVM; or load what was compiled for its Spark before."""

import contextlib
import os
import threading
from typing import Any
from weakref import WeakKeyDictionary

from headwater.capture import jvm
from headwater.capture.jvm import class_files
from headwater.errors import CaptureError

# py4j caches reflection by class name: a second class of the same name in one JVM breaks its calls.
_classes: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()
_compiling = threading.Lock()
_TAP = "headwater.Tap"


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
    text, parent = jvm.source(), gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    _classes[gateway] = _of_before(gateway, text, parent) or _compiled(gateway, text, parent)
    return _classes[gateway]


def _of_before(gateway: Any, text: str, parent: Any) -> Any:
    """The tap from the file of a JVM before; None without one, or where it cannot be loaded."""
    with contextlib.suppress(Exception):
        if file := class_files.found(gateway.jvm, text):
            url = gateway.jvm.java.io.File(str(file)).toURI().toURL()
            place = gateway.new_array(gateway.jvm.java.net.URL, 1)
            place[0] = url
            return gateway.jvm.java.net.URLClassLoader(place, parent).loadClass(_TAP)
    return None


def _compiled(gateway: Any, text: str, parent: Any) -> Any:
    compiler = cook(gateway.jvm, text, parent)
    tap = compiler.getClassLoader().loadClass(_TAP)
    with contextlib.suppress(Exception):  # a machine that has no place for it compiles again
        class_files.keep(gateway.jvm, text, class_files.bytecodes(compiler))
    return tap


def cook(java: Any, text: str, parent: Any) -> Any:
    """The Janino compiler that has compiled a source, whose classes refer to those of a class loader."""
    compiler = java.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(parent)
    compiler.cook(text)
    return compiler
