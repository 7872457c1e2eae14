"""Classes that a JVM before has compiled: loaded from a file of the user's alone, and compiled again otherwise."""

import os
import stat
import subprocess
from pathlib import Path

import pytest
from tests.capture.conftest import PYTHON

LOADER = """\
import sys
from pyspark.java_gateway import launch_gateway
from headwater.capture.jvm.compiler import new_tap

gateway = launch_gateway()
print(new_tap(gateway).getClass().getClassLoader().getClass().getName(), end="")
gateway.shutdown()
"""
FROM_FILE = "java.net.URLClassLoader"
COMPILED = "org.codehaus.commons.compiler.util.reflect.ByteArrayClassLoader"


def loader(classes: str) -> str:
    """The class of the class loader that the tap has in a new JVM."""
    environment = {**os.environ, "HEADWATER_CLASSES": classes}
    command = [PYTHON, "-c", LOADER]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=300).stdout


@pytest.mark.spark
def test_the_second_jvm_loads_what_the_first_has_compiled(tmp_path: Path) -> None:
    folder = tmp_path / "classes"
    assert loader(str(folder)) == COMPILED
    (file,) = folder.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert loader(f"{tmp_path / 'new'}{os.pathsep}{folder}") == FROM_FILE
    file.write_bytes(b"no jar")
    assert loader(str(folder)) == COMPILED
    assert loader(str(folder)) == FROM_FILE
    assert not (tmp_path / "new").exists()


@pytest.mark.spark
@pytest.mark.parametrize("changed", ["folder", "file"])
def test_classes_that_others_can_change_are_not_loaded(tmp_path: Path, changed: str) -> None:
    folder = tmp_path / "classes"
    loader(str(folder))
    (file,) = folder.iterdir()
    (folder if changed == "folder" else file).chmod(0o777)
    file.write_bytes(file.read_bytes())
    assert loader(f"{tmp_path / 'new'}{os.pathsep}{folder}") == COMPILED


@pytest.mark.spark
def test_nothing_is_written_where_others_can_plant_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o777)
    assert loader(str(folder)) == COMPILED
    assert not list(folder.iterdir())


@pytest.mark.spark
def test_without_a_place_for_classes_each_jvm_compiles(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert {loader(place) for place in ("", str(tmp_path / "file" / "below"))} == {COMPILED}
