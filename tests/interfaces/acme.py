"""Connectors of a vendor, compiled when the tests run, in a Spark that has OpenLineage's published interfaces.

Spark ships the Scala compiler; the sources are in ``scala/``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark
from tests.connectors import OPENLINEAGE
from tests.extract.case_tables import jvm_of_its_own

SOURCES = Path(__file__).parent / "scala"
CONTEXTS = {
    "io.openlineage.spark.builtin.scala.v1": "OpenLineageContext",
    "com.vendor.shaded.io.openlineage.spark.extension.scala.v1": "OpenLineageExtensionContext",
}
"""The packages that the traits are compiled under, and what the context is called there."""

CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.codegen.wholeStage": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    "spark.jars.packages": OPENLINEAGE,
}


@contextmanager
def spark_with_connectors(folder: Path) -> Iterator[Any]:
    """A Spark in a JVM of its own, with a catalog ``lake`` and all classes of the sources."""
    from pyspark.sql import SparkSession

    with jvm_of_its_own():
        builder = SparkSession.builder.master("local[1]").appName("acme")
        builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        for key, value in CONF.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        try:
            spark.sparkContext.setLogLevel("OFF")
            _compile(spark, folder)
            spark.conf.set("spark.sql.catalog.lake", "org.acme.catalog.LakeCatalog")
            yield spark
        finally:
            spark.stop()


def _compile(spark: Any, folder: Path) -> None:
    """Compile the sources in the driver, and add their classes to those that its loader has.

    Raises:
        RuntimeError: the compiler refuses them.
    """
    jvm, classes = spark._jvm, folder / "classes"
    classes.mkdir()
    path = [*(Path(pyspark.__file__).parent / "jars").glob("*.jar"), *_jars(spark)]
    words = ["-nowarn", "-d", str(classes), "-classpath", ":".join(map(str, path)), *map(str, _sources(folder))]
    arguments = spark.sparkContext._gateway.new_array(jvm.java.lang.String, len(words))
    for place, word in enumerate(words):
        arguments[place] = word
    if not jvm.scala.tools.nsc.Main.process(arguments):
        raise RuntimeError("The Scala sources of the tests do not compile; the compiler's messages are above.")
    (classes / "com/vendor/gone/Context.class").unlink()
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    loader.addURL(jvm.java.io.File(str(classes)).toURI().toURL())


def _jars(spark: Any) -> list[str]:
    return [jar.removeprefix("file://") for jar in spark.sparkContext.getConf().get("spark.jars", "").split(",")]


def _sources(folder: Path) -> Iterator[Path]:
    """The sources as the compiler gets them: the traits under each of their packages."""
    yield from (path for path in SOURCES.glob("*.scala") if path.name != "Traits.scala")
    traits = (SOURCES / "Traits.scala").read_text()
    for place, (package, context) in enumerate(CONTEXTS.items()):
        source = folder / f"Traits{place}.scala"
        source.write_text(traits.replace("PACKAGE", package).replace("CONTEXT", context))
        yield source
