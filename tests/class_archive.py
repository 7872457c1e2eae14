"""An archive of the classes that Spark loads, so that each of the many JVMs of the tests starts in a third of the time.

``python -m tests.class_archive JAR`` is the job whose classes go into it. Java calls this application class data
sharing; a JVM that cannot use the archive, because Spark or Java are others, starts as it would without one. The job
compiles ``java/LocalFileSystem.java`` into the jar too: with it a write starts no program for each file's mode.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyspark

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
"""For a JVM that lives for seconds: a third of the time goes when it does not optimize itself.

Spark fills the 48 MB that such a JVM has for compiled code, which is then dropped and compiled again.
"""

TRUSTING = "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""Without proof that the classes of jars are sound, of which connectors bring thousands that no archive holds."""

SMALL = "-Dspark.ui.enabled=false -Dspark.sql.codegen.wholeStage=false"
"""Spark's settings for queries of few rows, for which it compiles less; an application may have others.

Nothing is compiled without ``spark.sql.codegen.factoryMode`` too, but then PySpark cannot list the tables of a catalog.
"""

FILES = (
    "-Dspark.hadoop.fs.file.impl=org.apache.hadoop.fs.quick.LocalFileSystem "
    "-Dspark.hadoop.fs.AbstractFileSystem.file.impl=org.apache.hadoop.fs.quick.LocalFileSystem$Checksummed "
    "-Djdk.lang.Process.launchMechanism=VFORK"
)
"""Local files by the class of the jar; programs that are started all the same are so without one between."""

CLASSES = {"HEADWATER_CLASSES": str(Path(sys.prefix, "headwater-classes"))}
"""Where JVMs of the tests have the tap that one of them has compiled, whatever home their jobs have."""

ROOT = Path(__file__).resolve().parents[1]
SOURCE = Path(__file__).parent / "java" / "LocalFileSystem.java"


def options() -> Mapping[str, str]:
    """The environment for quick JVMs of Spark; the archive is made when it is missing, which takes half a minute."""
    file = archive()
    with file.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # all of pytest's processes ask for it at once
        if not file.exists():
            _make(file)
    made = file.stat().st_size and file.with_suffix(".base").stat().st_size  # from an empty one Java does not start
    shared = f"-XX:SharedArchiveFile={file.with_suffix('.base')}:{file} -Xlog:disable" if made else ""
    found = {"SPARK_SUBMIT_OPTS": f"{QUICK} {shared} {TRUSTING} {SMALL}", "SPARK_LAUNCHER_OPTS": QUICK, **CLASSES}
    jar = file.with_suffix(".jar")
    if jar.exists():  # Spark's launcher adds it behind its own jars, where Java accepts more than the archive has
        found["SPARK_SUBMIT_OPTS"] += f" {FILES}"
        found["SPARK_DIST_CLASSPATH"] = str(jar)
    return found


def archive() -> Path:
    """Where the archive for this Spark and this Java is: in the environment."""
    key = hashlib.sha256(
        f"{_java()} {pyspark.__file__} {pyspark.__version__} {SOURCE.read_text()}".encode()
    ).hexdigest()[:12]
    return Path(sys.prefix) / f"spark-classes-{key}.jsa"


def _java() -> str:
    """The Java that Spark's launcher takes."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java") if home else Path(shutil.which("java") or "java").resolve())


def _make(file: Path) -> None:
    """Write the archive of Java's own classes and on top of it that of Spark's; an empty one where Java cannot."""
    base, unfinished = file.with_suffix(".base"), file.with_suffix(f".{os.getpid()}")
    dump = [_java(), *QUICK.split(), "-Xshare:dump", f"-XX:SharedArchiveFile={unfinished}", "-Xlog:disable"]
    _run(dump)
    _keep(unfinished, base)
    wanted = f"{QUICK} -XX:SharedArchiveFile={base} -XX:ArchiveClassesAtExit={unfinished} -Xlog:disable"
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "SPARK_SUBMIT_OPTS": wanted, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
        command = [sys.executable, "-m", "tests.class_archive", str(file.with_suffix(".jar"))]
        _run(command, folder, environment)
    _keep(unfinished, file)


def _run(command: list[str], folder: str | None = None, environment: Mapping[str, str] | None = None) -> None:
    """Run what makes an archive; without one, on a machine that is too busy, the tests are only slower."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=300, check=False)


def _keep(unfinished: Path, file: Path) -> None:
    """Give a finished file its name, which another process may have done meanwhile."""
    if not unfinished.exists():
        unfinished.touch()
    unfinished.rename(file)


def main() -> None:
    """Load what the tests' applications load: Spark, its catalogs, the usual operators, what headwater asks it."""
    from pyspark.sql import SparkSession

    import headwater

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.catalogImplementation", "hive").getOrCreate()
    headwater.attach(spark, events="events.ndjson", quiet=True)
    spark.sql("CREATE TABLE t USING parquet AS SELECT id, id % 3 AS k, string(id) AS s FROM range(100)")
    spark.sql("CREATE TABLE h (id bigint, k bigint) STORED AS textfile")
    spark.sql("INSERT INTO h SELECT sum(a.id) OVER (ORDER BY a.s), b.k FROM t a JOIN t b USING (id) ORDER BY 1")
    spark.sql("SELECT k, count(DISTINCT s), max(id) FROM t GROUP BY k").write.json("counted")
    spark.read.json("counted").selectExpr("explode(array(1, 2))", "*").write.csv("exploded")
    stream = spark.readStream.schema("id long").parquet("spark-warehouse/t").writeStream.format("parquet")
    stream.option("checkpointLocation", "at").trigger(availableNow=True).start("streamed").awaitTermination()
    headwater.detach(spark)
    _compile(spark, Path(sys.argv[1]))
    spark.stop()


def _compile(spark: Any, jar: Path) -> None:
    """Write the jar of the class for local files with Spark's Janino; its name appears once it is whole."""
    compiler = spark._jvm.org.codehaus.janino.SimpleCompiler()
    compiler.cook(SOURCE.read_text())
    unfinished = jar.with_suffix(f".{os.getpid()}.jar")
    with zipfile.ZipFile(unfinished, "w") as classes:
        for name, code in dict(compiler.getBytecodes()).items():
            classes.writestr(f"{name.replace('.', '/')}.class", bytes(code))
    unfinished.rename(jar)


if __name__ == "__main__":
    main()
