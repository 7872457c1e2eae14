"""Files of compiled classes: Janino takes a second of CPU or more in a JVM that begins, for the same result each time.

They are in ``headwater/classes`` of the user's cache, or in the folders of ``HEADWATER_CLASSES``, of which the first is
for new ones; without any, each JVM compiles. Only a file and a folder that the user alone can change are used.
"""

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from headwater.capture.java import cache_folder

FOLDERS = "HEADWATER_CLASSES"
_OF_SPARK = "org.apache.spark.sql.catalyst.plans.logical.LogicalPlan"


def folders() -> list[Path]:
    """The folders of such files, the one for new files first."""
    chosen = os.environ.get(FOLDERS)
    if chosen is not None:
        return [Path(one) for one in chosen.split(os.pathsep) if one]
    return [cache_folder() / "classes"]


def found(java: Any, source: str) -> Path | None:
    """The file with the classes of a source for the Spark of a JVM, None where there is none to be trusted."""
    name = _name(java, source)
    return next((one / name for one in folders() if _is_own(one) and _is_own(one / name)), None)


def keep(java: Any, source: str, classes: Mapping[str, bytes]) -> None:
    """Write classes by their names to the file of a source.

    Raises:
        OSError: there is no folder for it that the user alone can change, or it cannot be written.
    """
    folder = next(iter(folders()), None)
    if folder is None:
        raise FileNotFoundError(f"{FOLDERS} names no folder")
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if not _is_own(folder):  # a link could lead to a file of the user's
        raise PermissionError(f"Others than this user can change {folder}")
    put(classes, folder / _name(java, source))


def put(classes: Mapping[str, bytes], file: Path) -> None:
    """Write classes to a jar, which appears at once: a JVM that starts meanwhile must not see half of it."""
    unfinished = file.with_suffix(f".{os.getpid()}")
    unfinished.touch(0o600)
    with ZipFile(unfinished, "w") as jar:
        for name, code in classes.items():
            jar.writestr(name.replace(".", "/") + ".class", code)
    unfinished.replace(file)


def bytecodes(compiler: Any) -> dict[str, bytes]:
    """The classes that a Janino compiler has made, by their names."""
    return {entry.getKey(): bytes(entry.getValue()) for entry in compiler.getBytecodes().entrySet()}


def _name(java: Any, source: str) -> str:
    """Another one for another source, Java, or file of Spark: builds of one version differ in what they have.

    Raises:
        OSError: Spark's classes are not in a file here.
    """
    spark = java.java.lang.Thread.currentThread().getContextClassLoader().loadClass(_OF_SPARK)
    jar = spark.getProtectionDomain().getCodeSource().getLocation().getPath()
    at = os.stat(jar)
    of_java = java.java.lang.System.getProperty("java.vm.version")
    key = "\n".join((source, jar, str(at.st_size), str(at.st_mtime_ns), of_java))
    return f"{hashlib.sha256(key.encode()).hexdigest()[:32]}.jar"


def _is_own(path: Path) -> bool:
    """Whether a file or a folder is there and only this user, or root, can change it."""
    try:
        at = path.stat()
    except OSError:
        return False
    return os.name == "posix" and at.st_uid in (os.getuid(), 0) and not at.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
