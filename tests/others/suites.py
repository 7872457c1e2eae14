"""The test suites of libraries for PySpark, of their source distributions or checkouts, with headwater and without.

Each test must end under headwater as it ends without it.
"""

import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

from tests.others import programs

SUITES: Mapping[str, tuple[str, ...]] = {
    "datacompy": ("tests/test_spark.py",),
    "narwhals": ("tests", "--constructors=pyspark", "-k", "pyspark"),
    "mack-tests": ("tests",),
    "pandera": ("tests/pyspark", "-k", "not on_pyspark_pandas and not pyspark_check"),
}
"""The arguments of pytest, in the sources of a library, that run the tests that start Spark."""

IN_CHECKOUTS = ("mack-tests",)
"""Suites that a source distribution leaves out: they run when a checkout of the library is named."""

TESTS_FAILED = 1  # as pytest.ExitCode has it

Outcomes = Mapping[str, str]
"""How each test of a suite ended: ``passed``, ``failure``, ``error`` or ``skipped``."""


def compared(name: str, folder: Path, checkout: Path | None) -> tuple[str, list[str]]:
    """How the tests of a suite ended, in a few words, and its faults; ``checkout`` is for those of ``IN_CHECKOUTS``.

    Raises:
        SystemExit: the suite wants a checkout, and there is none.
        subprocess.CalledProcessError: pip has no source distribution of the library.
    """
    sources = _copy(name, folder, checkout) if name in IN_CHECKOUTS else _sources(name, folder)
    plain, before = _outcomes(name, sources, folder / "without", watched=False)
    watched, after = _outcomes(name, sources, folder / "with", watched=True)
    counts = Counter(plain.values())
    outcomes = ", ".join(f"{count} {end}" for end, count in counts.most_common())
    summary = f"the same outcomes of {len(plain)} tests ({outcomes}); {before:.0f} s, with headwater {after:.0f} s"
    return summary, list(_faults(plain, watched, folder / "with"))


def _faults(plain: Outcomes, watched: Outcomes, folder: Path) -> Iterator[str]:
    if "passed" not in plain.values():
        yield "no test passed, with headwater or without"
    if not (folder / "events.ndjson").exists():
        yield "headwater saw no Spark application"
    for test in sorted({*plain, *watched}):
        before, after = plain.get(test, "absent"), watched.get(test, "absent")
        if before != after:
            yield f"{test}: {before} without headwater, {after} with it"


def _copy(name: str, folder: Path, checkout: Path | None) -> Path:
    """The tests alone, beside which the library is the one that is installed."""
    if checkout is None:
        raise SystemExit(f"{name}: no source distribution has these tests; name a checkout: --checkout FOLDER")
    for part in SUITES[name]:
        shutil.copytree(checkout / part, folder / "sources" / part)
    return folder / "sources"


def _sources(name: str, folder: Path) -> Path:
    """The unpacked source distribution of the version that is installed.

    Raises:
        subprocess.CalledProcessError: pip has no such distribution.
    """
    options = ("--quiet", "--disable-pip-version-check", "--no-deps", "--no-binary", ":all:", "--no-build-isolation")
    command = [sys.executable, "-m", "pip", "download", *options, "--dest", str(folder), f"{name}=={version(name)}"]
    subprocess.run(command, check=True, timeout=programs.LIMIT)
    (packed,) = folder.glob(f"{name}-*.tar.gz")
    with tarfile.open(packed) as files:
        files.extractall(folder, filter="data")
    return folder / packed.name.removesuffix(".tar.gz")


def _outcomes(name: str, sources: Path, folder: Path, *, watched: bool) -> tuple[Outcomes, float]:
    """How each test ended, and the seconds that all took."""
    folder.mkdir()
    report = folder / "report.xml"
    pytest = ("-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}", *SUITES[name])
    events = folder / "events.ndjson" if watched else None
    seconds = programs.run(pytest, sources, folder / "log.txt", events, good=(0, TESTS_FAILED))
    tests = ElementTree.parse(report).iter("testcase")
    return {f"{test.get('classname')}.{test.get('name')}": _outcome(test) for test in tests}, seconds


def _outcome(test: ElementTree.Element) -> str:
    return next((child.tag for child in test if child.tag in ("failure", "error", "skipped")), "passed")
