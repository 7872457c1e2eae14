"""The wheel, in an environment that has nothing else: a cluster brings its own PySpark."""

import subprocess
import sys
import venv
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(*command: object, cwd: Path) -> str:
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def clean_environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The ``bin`` folder of an environment into which only the wheel was installed."""
    folder = tmp_path_factory.mktemp("clean")
    venv.create(folder, with_pip=True)
    run(folder / "bin" / "python", "-m", "pip", "install", "-q", "-c", ROOT / "constraints.txt", wheel, cwd=folder)
    return folder / "bin"


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    tracked = run("git", "ls-files", "src/headwater", cwd=ROOT).split()
    expected = {name.removeprefix("src/") for name in tracked if (ROOT / name).exists()}
    assert expected - set(ZipFile(wheel).namelist()) == set()


def test_the_wheel_has_nothing_but_the_package(wheel: Path) -> None:
    folders = {name.split("/")[0] for name in ZipFile(wheel).namelist()}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"headwater", "headwater.pth"}


def test_it_imports_without_pyspark(clean_environment: Path, tmp_path: Path) -> None:
    program = "import importlib.util, headwater; print(headwater.__version__, importlib.util.find_spec('pyspark'))"
    version, pyspark = run(clean_environment / "python", "-c", program, cwd=tmp_path).split()
    assert version
    assert pyspark == "None"


def test_it_prints_its_version(clean_environment: Path, wheel: Path, tmp_path: Path) -> None:
    assert run(clean_environment / "headwater", "--version", cwd=tmp_path).split()[-1] == wheel.name.split("-")[1]


def test_it_answers_from_an_empty_store(clean_environment: Path, tmp_path: Path) -> None:
    (tmp_path / "events.ndjson").touch()
    run(clean_environment / "headwater", "ingest", "events.ndjson", cwd=tmp_path)
    assert (tmp_path / ".headwater" / "lineage.db").is_file()
    assert run(clean_environment / "headwater", "datasets", cwd=tmp_path) == ""
