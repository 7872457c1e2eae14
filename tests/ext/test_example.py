"""The package in ``examples/headwater-tempo``, installed as a stranger's is: it is listed, and its own tests pass."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "headwater-tempo"


class Installed:
    """A folder with what pip made of the package, and programs that have it on their path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._program("pip", "install", "--quiet", "--no-deps", "--target", folder / "site", EXAMPLE)

    def headwater(self, *words: str) -> str:
        """The output of a command."""
        return self._program("headwater", *words)

    def tests(self) -> str:
        """The output of pytest for a copy of the package's tests, away from this repository's settings."""
        shutil.copytree(EXAMPLE / "tests", self.folder / "tests")
        return self._program("pytest", "-q", "-p", "no:cacheprovider", "--basetemp", self.folder / "run", "tests")

    def _program(self, module: str, *words: object) -> str:
        own = map(os.path.abspath, filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)))
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("HEADWATER", "PYTEST"))}
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, words)],
            cwd=self.folder,
            env={
                **inherited,
                "PYTHONPATH": os.pathsep.join([str(self.folder / "site"), *own]),
                "PYSPARK_PYTHON": sys.executable,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("tempo"))


def test_it_is_listed_with_where_it_comes_from(installed: Installed) -> None:
    (found,) = json.loads(installed.headwater("extensions", "--json"))["extensions"]
    assert {name: found[name] for name in ("state", "name", "distribution", "target", "hooks")} == {
        "state": "loaded",
        "name": "tempo",
        "distribution": "headwater-tempo",
        "target": "headwater_tempo:tempo",
        "hooks": {"operators": 1},
    }
    assert found["version"] == found["distributionVersion"] == version()


def version() -> str:
    found: str = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["version"]
    return found


def test_what_is_installed_is_one_short_module(installed: Installed) -> None:
    (module,) = (installed.folder / "site").glob("*.py")
    assert module.read_text() == (EXAMPLE / module.name).read_text()
    assert len(module.read_text().splitlines()) <= 60


@pytest.mark.spark
def test_its_own_tests_pass_with_the_real_library(installed: Installed) -> None:
    """Among them: opaque, with a gap, where the extension is switched off, and exact where it is not."""
    assert re.search(r"^(?!0)\d+ passed in ", installed.tests(), re.MULTILINE)
