"""Spark in a dry run: files that nothing changes, relations without rows, a catalog of its own.

All of it is in place before the first SparkContext of the process is made, by the settings with which Spark names
classes: those here are compiled in its JVM, into a file that the JVM's class loader reads.
"""

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from headwater.capture import jvm
from headwater.capture.jvm import class_files
from headwater.capture.jvm.compiler import cook
from headwater.dryrun.databases import CATALOG, catalog
from headwater.dryrun.schemas import Schemas
from headwater.dryrun.shared_jvm import JvmOffer
from headwater.errors import DryRunError

_PACKAGE = "headwater.dryrun.jvm"
_OVERLAY, _LOCAL = "headwater.dryrun.Overlay", "headwater.dryrun.LocalOverlay"
_SCHEMES = ("abfs", "abfss", "gs", "hdfs", "oss", "s3", "s3a", "s3n", "viewfs", "wasb", "wasbs")
_EXTENSIONS = "spark.sql.extensions"
_NONE: Mapping[str, Any] = MappingProxyType({})

_SETTINGS: Mapping[str, str] = {
    "spark.master": "local[1]",
    "spark.submit.deployMode": "client",
    "spark.ui.enabled": "false",
    "spark.eventLog.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.dynamicAllocation.enabled": "false",
    "spark.hadoop.fs.file.impl": _LOCAL,
}
"""Settings that override the job's own: nothing is started elsewhere."""


def sandbox(folder: Path, schemas: Schemas = MappingProxyType({})) -> Callable[[], None]:
    """Make every SparkContext of this process one of a dry run, whose files are in ``folder``.

    Tables that its catalog lacks have the columns that ``schemas`` say, and no rows.
    What is returned puts PySpark's classes back as they were; a Spark that runs stays what it is.
    """
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    folder.mkdir(parents=True, exist_ok=True)
    offer = JvmOffer(folder)
    ensure, initialize = SparkContext.__dict__["_ensure_initialized"], SparkContext._initialize_context
    begin, own = SparkSession.__init__, dict[str, str]()

    def ensure_initialized(cls: Any, instance: Any = None, gateway: Any = None, conf: Any = None) -> None:
        if conf is not None and cls._gateway is None:
            conf.set("spark.master", _SETTINGS["spark.master"])  # a cluster's would be looked for by spark-submit
        if gateway is None and cls._gateway is None:
            gateway = offer.gateway(conf)
        ensure.__get__(None, cls)(instance, gateway, conf)

    @functools.wraps(initialize)
    def initialize_context(self: Any, conf: Any) -> Any:
        own.update(_install(self._gateway, conf, folder))
        offer.leave(self._jvm, reusable=conf.get(CATALOG) != "hive")
        for name, one in schemas.items():
            self._jvm.headwater.dryrun.MissingTables.add(name, one.lines, one.location or None)
        return initialize(self, conf)

    @functools.wraps(begin)
    def begin_session(self: Any, context: Any, java: Any = None, options: Mapping[str, Any] = _NONE) -> None:
        begin(self, context, java, _overruled(options, own))

    SparkSession.__init__ = begin_session
    SparkContext._ensure_initialized = classmethod(ensure_initialized)
    SparkContext._initialize_context = initialize_context

    def undo() -> None:
        SparkContext._ensure_initialized, SparkContext._initialize_context = ensure, initialize
        SparkSession.__init__ = begin

    return undo


def _overruled(options: Mapping[str, Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Options of a session with the settings of a dry run: Spark takes them before those of its SparkContext."""
    return {name: settings.get(name, settings.get(f"spark.hadoop.{name}", value)) for name, value in options.items()}


def _install(gateway: Any, conf: Any, folder: Path) -> Mapping[str, str]:
    """Compile the classes, and name them in a Spark conf that is about to be used; the settings that this makes."""
    java = gateway.jvm
    loader = java.java.lang.Thread.currentThread().getContextClassLoader()
    if loader.getResource(f"{_OVERLAY.replace('.', '/')}.class") is None:
        loader.addURL(java.java.io.File(str(_compile(java, loader, folder))).toURI().toURL())
        loader.loadClass(_OVERLAY)  # so that the file is open, which may be gone when another job uses this JVM
    own = {**_settings(conf), **catalog(java, conf, folder), **_of_folder(folder)}
    for name, value in own.items():
        conf.set(name, value)
        if conf.contains(name.removeprefix("spark.hadoop.")):
            conf.set(name.removeprefix("spark.hadoop."), value)
    java.org.apache.hadoop.fs.FileSystem.closeAll()  # those of before are cached, and would be used
    return own


def _compile(java: Any, loader: Any, folder: Path) -> Path:
    try:
        compiler = cook(java, jvm.source(_PACKAGE), loader)
    except Exception as error:
        raise DryRunError(f"A dry run is not possible with this Spark: {str(error).splitlines()[0][:300]}.") from error
    file = folder / "classes.jar"
    class_files.put(class_files.bytecodes(compiler), file)
    return file


def _settings(conf: Any) -> dict[str, str]:
    """The settings of Spark that make a dry run of an application with this conf."""
    found = dict(_SETTINGS)
    others = conf.get(_EXTENSIONS, "")
    found[_EXTENSIONS] = ",".join(filter(None, ["headwater.dryrun.Extensions", others]))
    for scheme in (*_SCHEMES, "file"):
        found[f"spark.hadoop.fs.AbstractFileSystem.{scheme}.impl"] = "headwater.dryrun.OverlayContext"
    for scheme in _SCHEMES:
        own = conf.get(f"spark.hadoop.fs.{scheme}.impl", "")
        if own and own != _OVERLAY:
            found[f"spark.hadoop.headwater.dryrun.base.{scheme}"] = own
        found[f"spark.hadoop.fs.{scheme}.impl"] = _OVERLAY
    return found


def _of_folder(folder: Path) -> dict[str, str]:
    return {"spark.hadoop.headwater.dryrun.folder": str(folder / "files"), "spark.local.dir": str(folder / "local")}
