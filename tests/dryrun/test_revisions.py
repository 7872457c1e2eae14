"""Revisions of a repository: which a range means, what is refused, and that no worktree stays; without Spark."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from headwater.dryrun.dry_run import Checkout
from headwater.dryrun.revisions import job_calls, revisions, uncommitted, worktree
from headwater.dryrun.schemas import Schema
from headwater.errors import SettingError


def git(folder: Path, *words: str) -> str:
    own = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    return subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose branch ``change`` has another job than ``main``, which went on."""
    folder = tmp_path / "shop"
    (folder / "jobs").mkdir(parents=True)
    (folder / "jobs" / "daily.py").write_text("print(1)\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "base")
    git(folder, "checkout", "-qb", "change")
    (folder / "jobs" / "weekly.py").write_text("print(2)\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "weekly")
    git(folder, "checkout", "-q", "main")
    (folder / "jobs" / "daily.py").write_text("print(3)\n")
    git(folder, "commit", "-qam", "more")
    git(folder, "checkout", "-q", "change")
    return folder


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [("main..HEAD", "main", "change"), ("main..", "main", "change"), ("main...change", "main~1", "change")],
)
def test_a_range_means_what_it_does_to_git(repository: Path, text: str, before: str, after: str) -> None:
    sides = revisions(text, repository / "jobs")
    assert [one.commit for one in sides] == [git(repository, "rev-parse", one) for one in (before, after)]
    assert {one.root for one in sides} == {repository}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nosuch..HEAD", "There is no commit 'nosuch'"),
        ("main..--help", "is no range"),
        ("main", "is no range"),
        ("main..HEAD:jobs", "There is no commit 'HEAD:jobs'"),
    ],
)
def test_what_is_no_commit_is_refused_by_its_name(repository: Path, text: str, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        revisions(text, repository)


def test_a_folder_outside_of_repositories_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="is in no git repository"):
        revisions("main..HEAD", tmp_path)


def test_jobs_have_arguments_and_need_one_side_only(repository: Path) -> None:
    sides = revisions("main..HEAD", repository)
    daily, weekly = job_calls(["daily.py --day '1 May'", "weekly.py"], sides, repository / "jobs")
    assert (str(daily.path), daily.arguments, str(daily.folder)) == ("jobs/daily.py", ("--day", "1 May"), "jobs")
    assert str(weekly.path) == "jobs/weekly.py"


@pytest.mark.parametrize(
    ("job", "message"),
    [
        ("jobs/dayly.py", "no job 'jobs/dayly.py' in main and not in HEAD. Did you mean 'jobs/daily.py'?"),
        ("../other.py", "is not below"),
        ("jobs/daily.py 'x", "No closing quotation"),
        ("", "it is empty"),
    ],
)
def test_a_job_that_no_side_has_is_refused(repository: Path, job: str, message: str) -> None:
    with pytest.raises(SettingError) as refused:
        job_calls([job], revisions("main..HEAD", repository), repository)
    assert message in str(refused.value)


def test_files_that_are_not_committed_are_counted(repository: Path) -> None:
    assert uncommitted(repository) == 0
    (repository / "jobs" / "daily.py").write_text("print(4)\n")
    (repository / "new.py").write_text("")
    assert uncommitted(repository) == 2


def test_a_worktree_has_the_files_of_its_side_and_is_gone_after_an_error(repository: Path) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {repository}/hooked\n")
    hook.chmod(0o755)
    before, after = revisions("main..HEAD", repository)
    with worktree(before) as first, worktree(after) as second:
        assert (first / "jobs" / "daily.py").read_text() == "print(3)\n"
        assert (second / "jobs" / "weekly.py").exists()
    with pytest.raises(FileNotFoundError), worktree(after) as third:
        (third / "jobs" / "daily.py").rename(third / "none" / "daily.py")
    assert not any(one.parent.exists() for one in (first, second, third))
    assert len(git(repository, "worktree", "list").splitlines()) == 1
    assert not (repository / "hooked").exists()


def test_paths_of_a_checkout_are_called_as_in_the_repository(tmp_path: Path) -> None:
    checkout = Checkout(tmp_path / "tree", tmp_path / 'the "shop"', tmp_path / "tree")
    assert checkout.named(f'["{tmp_path}/tree/lake"]') == f'["{tmp_path}/the \\"shop\\"/lake"]'
    orders, other = Schema({"id": "int"}), Schema({"x": "int"})
    known = {f'{tmp_path}/the "shop"/lake': orders, "/elsewhere": other}
    assert checkout.moved(known) == known | {f"{tmp_path}/tree/lake": orders}


def test_a_worktree_is_gone_after_a_runner_cancels(repository: Path, tmp_path: Path) -> None:
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\ntouch {tmp_path}/started\nexec sleep 60\n")
    java.chmod(0o755)
    environment = os.environ | {"JAVA_HOME": str(tmp_path / "jdk"), "HEADWATER_STORE": str(tmp_path / "none.db")}
    (repository / "jobs" / "daily.py").write_text(
        "from pyspark.sql import SparkSession\nSparkSession.builder.getOrCreate()\n"
    )
    git(repository, "commit", "-qam", "Start Spark")
    command = [sys.executable, "-m", "headwater", "diff", "HEAD..HEAD", "--job", "jobs/daily.py"]
    with subprocess.Popen(command, cwd=repository, env=environment, stderr=subprocess.DEVNULL) as process:
        while not (tmp_path / "started").exists() and process.poll() is None:
            time.sleep(0.1)
        assert len(git(repository, "worktree", "list").splitlines()) == 2
        process.terminate()
        assert process.wait(120) != 0
    assert len(git(repository, "worktree", "list").splitlines()) == 1
