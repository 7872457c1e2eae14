"""The test suites of libraries for PySpark, as their source distributions carry them, with headwater and without.

Each test must end under headwater as it ends without it.
"""

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from xml.etree import ElementTree

LIMIT = 3600  # seconds for one run of a suite

SUITES: Mapping[str, tuple[str, ...]] = {
    "datacompy": ("tests/test_spark.py",),
    "narwhals": ("tests/frame", "tests/expr_and_series", "--constructors=pyspark", "-p", "no:randomly"),
}
"""What to say to pytest in the sources of a library; its version is that in ``requirements.txt``."""


def differences(name: str, folder: Path) -> tuple[int, list[str]]:
    """How many tests ran, and those that ended in another way under headwater."""
    sources = _sources(name, folder)
    plain, watched = (_outcomes(name, sources, folder, watched=watched) for watched in (False, True))
    if not plain:
        return 0, [f"no test of {name} ran"]
    return len(plain), list(_unlike(plain, watched))


def _unlike(plain: Mapping[str, str], watched: Mapping[str, str]) -> Iterator[str]:
    for test in sorted({*plain, *watched}):
        before, after = plain.get(test, "absent"), watched.get(test, "absent")
        if before != after:
            yield f"{test}: {before} without headwater, {after} with it"


def _sources(name: str, folder: Path) -> Path:
    """The unpacked source distribution of the version that is installed."""
    version = next(line for line in _requirements() if line.startswith(f"{name}=="))
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), version]
    subprocess.run(command, check=True, timeout=LIMIT)
    (packed,) = folder.glob(f"{name}-*.tar.gz")
    with tarfile.open(packed) as files:
        files.extractall(folder, filter="data")
    return folder / packed.name.removesuffix(".tar.gz")


def _requirements() -> list[str]:
    return Path(__file__).with_name("requirements.txt").read_text(encoding="utf-8").splitlines()


def _outcomes(name: str, sources: Path, folder: Path, *, watched: bool) -> dict[str, str]:
    """How each test of a suite ended."""
    report, events = folder / f"{watched}.xml", str(folder / "events.ndjson")
    before = ("-m", "headwater", "run", "--events", events) if watched else ()
    pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}")
    command = [sys.executable, *before, *pytest, *SUITES[name]]
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable}
    with (folder / f"{watched}.log").open("w") as log:
        subprocess.run(command, cwd=sources, env=environment, stdout=log, stderr=log, timeout=LIMIT, check=False)
    return {
        f"{case.get('classname')}.{case.get('name')}": _end(case) for case in ElementTree.parse(report).iter("testcase")
    }


def _end(case: ElementTree.Element) -> str:
    """How a test ended: ``passed``, ``failure``, ``error`` or ``skipped``."""
    return next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
