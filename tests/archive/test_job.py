"""The job of Spark that clusters run, and the files for clusters."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
import yaml
from typer.main import get_command

import headwater
from headwater.archive import build
from headwater.archive.tables import TABLES
from headwater.cli.archive_session import DEFAULTS, has_few_bytes, java_options, usual_settings
from headwater.cli.main import app
from headwater.openlineage.reading import read_event
from tests.store.conftest import run_event, written

from .conftest import SMALL, Both

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "archive"
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"


def submitted(*words: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    conf = {**SMALL, "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    options = [word for key, value in conf.items() for word in ("--conf", f"{key}={value}")]
    command = [str(SUBMIT), "--master", "local[2]", *options, str(FOLDER / "archive_job.py"), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.spark
def test_spark_submit_runs_the_job(both: Both, tmp_path: Path) -> None:
    """The job ends with 0, and what the command prints: of a question, since a build takes a minute more."""
    ended = submitted("diff", "2026-01-01T00:04:00", "--into", both.into, folder=tmp_path)
    assert ended.returncode == 0, ended.stdout
    assert "/gold/z" in ended.stdout


@pytest.mark.spark
@pytest.mark.skipif("EVERY_CASE" not in os.environ, reason="a build in a JVM of its own: half a minute")
def test_spark_submit_builds(tmp_path: Path) -> None:
    (tmp_path / "events.ndjson").write_text(json.dumps(run_event("j", written("out", {"x": ["raw.x"]}), run="1")))
    ended = submitted("build", "events.ndjson", "--into", "lineage", folder=tmp_path)
    assert ended.returncode == 0, ended.stdout
    assert "column_edges   1" in ended.stdout
    assert json.loads((tmp_path / "lineage" / "headwater.json").read_text())["format"] == "parquet"


def test_java_does_not_optimize_itself_for_little(tmp_path: Path) -> None:
    """Of a packed file each byte counts for twenty; what is not on this machine may be large."""
    for name, size, few in (("a.ndjson", 1, True), ("b.gz", 40 << 20, True), ("c.gz", 40 << 20, False)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)
        assert has_few_bytes(str(tmp_path)) is few
    assert not has_few_bytes("s3a://lake/events")


@pytest.mark.parametrize(
    "place", ["--conf", "JAVA_TOOL_OPTIONS", "PYSPARK_SUBMIT_ARGS", "spark-defaults.conf", "spark-env.sh", "nowhere"]
)
def test_java_has_one_collector(place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It does not start with two; ``-XX:+UseGCOverheadLimit`` names none."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    for name in ("SPARK_SUBMIT_OPTS", "JAVA_TOOL_OPTIONS", "PYSPARK_SUBMIT_ARGS"):
        monkeypatch.delenv(name, raising=False)
    conf, option = ["spark.driver.memory=1g"], "-XX:+UseG1GC -XX:+UseGCOverheadLimit"
    if place == "--conf":
        conf.append(f"spark.driver.extraJavaOptions={option}")
    elif place == "spark-defaults.conf":
        (tmp_path / place).write_text(f"spark.driver.defaultJavaOptions {option}\n")
    elif place == "spark-env.sh":
        (tmp_path / place).write_text(f'export JDK_JAVA_OPTIONS="{option}"\n')
    elif place != "nowhere":
        monkeypatch.setenv(place, option)
    mine, theirs = java_options(conf).split(), option.split() if place != "nowhere" else option.split()[1:]
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java" if "JAVA_HOME" in os.environ else "java"
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_TOOL_OPTIONS"}
    ended = subprocess.run(
        [java, *mine, *theirs, "-version"], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert ("-XX:+UseParallelGC" in mine) is (place == "nowhere")


def test_settings_of_spark_go_before_those_of_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also those of spark-submit, whose log stays as it is."""
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    (tmp_path / "spark-defaults.conf").write_text("spark.rdd.compress false\n")
    assert usual_settings() == {key: one for key, one in DEFAULTS.items() if key != "spark.rdd.compress"} | {
        "spark.log.level": "ERROR"
    }
    (tmp_path / "log4j2.properties").write_text("rootLogger.level = info\n")
    assert "spark.log.level" not in usual_settings()
    (tmp_path / "log4j2.properties").unlink()
    (tmp_path / "job.py").write_text(
        "from headwater.cli.archive_session import session\n"
        "conf = session(['spark.task.maxFailures=3']).sparkContext.getConf()\n"
        "print(*(conf.get(one) for one in ('spark.rdd.compress', 'spark.scheduler.mode', 'spark.task.maxFailures')))\n"
    )
    command = [str(SUBMIT), "--master", "local[1]", "--conf", "spark.scheduler.mode=FIFO", str(tmp_path / "job.py")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.stdout.splitlines()[-1:] == ["false FIFO 3"], ended.stdout + ended.stderr


def test_it_fails_with_a_reason(tmp_path: Path) -> None:
    """Of a command that needs no Spark, which takes seconds to start."""
    command = [sys.executable, str(FOLDER / "archive_job.py"), "export", "out", "--store", "missing.db"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.startswith("Error: No store at ")
    assert "Traceback" not in ended.stderr


@pytest.mark.spark
def test_workers_run_the_python_of_the_command(tmp_path: Path) -> None:
    """Also where that is not the one of the path; and one that is not there is named, before anything is read."""
    (tmp_path / "events.ndjson").write_text(json.dumps(run_event("j", written("a", {"x": ["b.y"]}), run="1")))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").write_text("#!/bin/sh\necho not this one >&2; exit 3\n")
    (tmp_path / "bin" / "python3").chmod(0o755)
    environment = {key: value for key, value in os.environ.items() if key != "PYSPARK_PYTHON"}
    environment["PATH"] = f"{tmp_path / 'bin'}:/usr/bin:/bin"
    command = [sys.executable, "-m", "headwater", "archive", "build", "events.ndjson", "--into", "tables"]
    for more, code in (({}, 0), ({"PYSPARK_PYTHON": "no-python"}, 1)):
        ended = subprocess.run(
            command, cwd=tmp_path, env=environment | more, capture_output=True, text=True, timeout=300, check=False
        )
        assert ended.returncode == code, ended.stderr
    assert ended.stderr.splitlines()[-1].startswith(
        "Error: PYSPARK_PYTHON is 'no-python', and there is no such program"
    )


@pytest.mark.spark
def test_no_edge_of_a_build_is_opaque_with_the_extension(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every column of every table comes from the lines of the source, but ``runs``, a count, and ``begun``.

    That is NULL in all rows where no name has ever changed; of an event with all that plans leave out where it is not.
    """
    events, seen = tmp_path / "events.ndjson", tmp_path / "seen.ndjson"
    parent = {"run": {"runId": "2"}, "job": {"namespace": "demo", "name": "application"}}
    output = written("out", {"X": ["raw.x"]}, (), "ALL_ROWS")
    events.write_text(json.dumps(run_event("j", output, run="1", run_facets={"parent": parent})))
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("HEADWATER_EXTENSIONS", "archive_lineage:archive")
    headwater.attach(spark, events=str(seen), quiet=True)
    build(spark, str(events), str(tmp_path / "tables"), format="parquet")
    headwater.detach()
    outputs = [output for line in seen.read_bytes().splitlines() for output in read_event(line).outputs]
    found = {Path(one.description.dataset.name).name: one.lineage for one in outputs if one.lineage is not None}
    assert set(found) == set(TABLES)
    for name, lineage in found.items():
        edges = list(lineage.named())
        assert not [edge for edge in edges if edge[2].opaque], name
        assert {source.name for _, source, _ in edges} == {"value"}, name
        assert {*TABLES[name].columns} - {column for column, *_ in edges} <= {"runs", "begun"}, name


def arguments() -> Iterator[Any]:
    """The arguments of the job in each file."""
    bundle = yaml.safe_load((FOLDER / "databricks.yml").read_text())
    (task,) = bundle["resources"]["jobs"]["headwater_archive"]["tasks"]
    yield pytest.param(task["spark_python_task"]["parameters"], id="databricks")
    driver = json.loads((FOLDER / "emr-serverless.json").read_text())["jobDriver"]["sparkSubmit"]
    assert driver["entryPoint"].endswith("/archive_job.py")
    yield pytest.param(driver["entryPointArguments"], id="emr-serverless")
    (step,) = json.loads((FOLDER / "emr-steps.json").read_text())
    words = step["HadoopJarStep"]["Args"]
    (place,) = (at for at, word in enumerate(words) if word.endswith("/archive_job.py"))
    yield pytest.param(words[place + 1 :], id="emr-steps")


@pytest.mark.parametrize("words", list(arguments()))
def test_the_arguments_in_the_files_are_those_of_the_command(words: list[str]) -> None:
    """The vendors' names of settings were checked by hand: see docs/archive-clusters.md."""
    group: Any = get_command(app)
    command = group.get_command(None, "archive").commands[words[0]]
    context = command.make_context("archive", list(words[1:]), resilient_parsing=False)
    assert set(context.params) >= {"source", "into"}


def test_the_bundle_has_what_it_names() -> None:
    bundle = yaml.safe_load((FOLDER / "databricks.yml").read_text())
    job = bundle["resources"]["jobs"]["headwater_archive"]
    (task,) = job["tasks"]
    assert (FOLDER / task["spark_python_task"]["python_file"]).is_file()
    assert task["job_cluster_key"] in {one["job_cluster_key"] for one in job["job_clusters"]}
    used = " ".join(task["spark_python_task"]["parameters"])
    assert {f"${{var.{name}}}" in used for name in bundle["variables"]} == {True}
